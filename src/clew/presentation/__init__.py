"""What people see of a session: passages folded from events, and their rows of styled text, for every front end."""
