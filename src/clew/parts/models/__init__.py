"""Which models a session can talk to."""
