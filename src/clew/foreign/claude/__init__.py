"""Claude Code's transcripts, and every program that writes their shape."""
