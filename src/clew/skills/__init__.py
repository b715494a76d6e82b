"""Skills and commands that users bring as files: found, read with care, made into words."""
