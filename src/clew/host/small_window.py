"""Models with a small window: a session that starts with one gets few tools and a short prompt, and says so."""

from clew.llm.model import Model

SMALL_WINDOW = 16_000
"""Tokens. Below that all tools and the whole prompt would take too much of it."""


def is_small(window: int) -> bool:
    """Whether a session that starts with such a window needs the small set."""
    return window < SMALL_WINDOW


def small_words(model: Model, *, chosen: bool) -> str:
    """The line that tells a person. `chosen`: the tools are those that were asked for."""
    tools = "the tools you named" if chosen else "Read, Edit, Write, Bash and Grep only (--tools names others)"
    return f"{model.name} has a window of {model.window:,} tokens: a short prompt, and {tools}"
