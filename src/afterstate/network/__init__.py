"""What a position is worth: n-tuple networks, their files, and the best slide by one look ahead."""
