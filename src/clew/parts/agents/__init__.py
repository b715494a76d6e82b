"""Agents beside the main one: their kinds, their tasks, and what people ask about them."""
