"""The user's MCP servers in a session."""
