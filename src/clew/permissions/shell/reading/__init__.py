"""Shell text taken apart: words, commands, values."""
