"""Capabilities of a session, one folder each; every one plugs in as a `host.part.Part`."""
