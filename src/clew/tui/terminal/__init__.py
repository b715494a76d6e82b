"""The terminal itself: bytes, keys, and whether somebody is there."""
