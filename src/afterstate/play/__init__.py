"""Players, matches of many games, and files of games."""
