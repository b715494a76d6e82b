"""MCP servers that the user brought: who they are, whether they may run, and what they offer."""
