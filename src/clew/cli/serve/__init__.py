"""`clew mcp serve`: sessions and files for other agents."""
