"""Playing games: one game loop for all uses."""
