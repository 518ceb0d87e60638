"""How values are learned."""
