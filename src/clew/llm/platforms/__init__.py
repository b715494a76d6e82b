"""Clouds that serve other vendors' dialects, one file each."""
