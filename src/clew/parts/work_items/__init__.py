"""The one list of work of a session: its tools, TodoWrite's part in it, and what people see of it."""
