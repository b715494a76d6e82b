"""Prompt texts and what is built from them."""
