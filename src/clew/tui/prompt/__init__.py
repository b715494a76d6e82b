"""The prompt and all that belongs to typing."""
