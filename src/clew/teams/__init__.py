"""Teams of agents: who is in one, mail between them, and the one list of work."""
