"""All sessions on disk, as sub-commands ask about them."""
