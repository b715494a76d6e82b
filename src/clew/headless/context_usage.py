"""What fills the window, in the shape that programs read."""

from clew.commands.context_view import FREE
from clew.protocol.events import ContextMeasured
from clew.streaming.shapes.control_answers import ContextCategory, ContextUsage

COLORS = ("purple", "blue", "cyan", "green", "yellow", "orange", "red", "magenta", "teal", "pink")
FREE_COLOR = "gray"
FREE_NAME = "Free space"
"""As programs know what is left."""


def context_usage(measured: ContextMeasured) -> ContextUsage:
    """One answer. An unknown size is counted from its parts; without any it is 0, and `estimated`."""
    used = [share for share in measured.shares if share.name != FREE]
    tokens = measured.tokens if measured.tokens is not None else sum(share.tokens for share in used)
    categories = [
        ContextCategory(name=share.name, tokens=share.tokens, color=COLORS[at % len(COLORS)])
        for at, share in enumerate(used)
    ]
    free = sum(share.tokens for share in measured.shares if share.name == FREE)
    if free:
        categories.append(ContextCategory(name=FREE_NAME, tokens=free, color=FREE_COLOR))
    return ContextUsage(
        categories=tuple(categories),
        total_tokens=tokens,
        max_tokens=measured.window,
        raw_max_tokens=measured.window,
        percentage=round(100 * tokens / measured.window, 2) if measured.window > 0 else 0.0,
        model=measured.model,
        is_auto_compact_enabled=measured.auto_at > 0,
        auto_compact_threshold=measured.auto_at,
        estimated=measured.estimated or measured.tokens is None,
    )
