"""Text to the clipboard by way of the terminal (OSC 52)."""

import base64

MAX_BYTES = 74_000
"""Terminals take no more than 100,000 letters of base64."""


def clipboard_sequence(text: str) -> str:
    """What the terminal is sent; empty when the text is longer than terminals take."""
    data = text.encode("utf-8", "replace")
    return f"\x1b]52;c;{base64.b64encode(data).decode()}\x07" if len(data) <= MAX_BYTES else ""
