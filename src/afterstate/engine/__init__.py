"""A game as it is played, once for all uses."""
