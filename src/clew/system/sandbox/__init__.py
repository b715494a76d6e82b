"""Confinement of shell commands by the kernel."""
