"""A connection to one server: by pipes, by HTTP, or in this process."""
