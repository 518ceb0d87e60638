"""What may happen: the rules of each game."""
