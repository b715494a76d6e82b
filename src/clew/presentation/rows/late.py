"""What is loaded when it is first needed: Markdown, code and diffs would hold up the first prompt."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.presentation.rows.batch_rows import batch_rows, next_level
    from clew.presentation.rows.block_rows import block_rows
    from clew.presentation.rows.markdown import GrowingMarkdown, markdown_rows

_HOMES = {
    "batch_rows": "clew.presentation.rows.batch_rows",
    "next_level": "clew.presentation.rows.batch_rows",
    "block_rows": "clew.presentation.rows.block_rows",
    "markdown_rows": "clew.presentation.rows.markdown",
    "GrowingMarkdown": "clew.presentation.rows.markdown",
}
__all__ = ["GrowingMarkdown", "batch_rows", "block_rows", "markdown_rows", "next_level"]


@cache
def _found(name: str) -> Callable[..., Any]:
    return getattr(import_module(_HOMES[name]), name)


def __getattr__(name: str) -> Callable[..., Any]:
    """Loads the module that holds the name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _found(name)
