"""Games on record: players, many games, files of games."""
