"""Which sessions there are, ours and other agents', which one is meant, and all of it as entries."""
