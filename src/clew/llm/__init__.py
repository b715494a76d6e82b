"""Models: wires, providers, profiles, retry. Knows nothing of the app above it."""
