"""How worth is learned."""
