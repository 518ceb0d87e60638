"""What a position is worth: n-tuple networks and their files."""
