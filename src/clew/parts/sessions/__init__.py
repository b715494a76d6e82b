"""The sessions of this machine, as a session lists them."""
