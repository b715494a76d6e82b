"""Layered settings, decoded strictly."""
