"""Keys and signatures: where they come from, where they are kept."""
