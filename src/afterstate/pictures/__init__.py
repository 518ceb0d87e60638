"""What things look like: pictures and tables as HTML and SVG. They know numbers and texts, not games."""
