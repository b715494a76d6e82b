"""One reader for each other agent, with the pieces that only it needs."""
