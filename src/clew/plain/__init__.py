"""The line-by-line front end, for screen readers, dumb terminals and pipes."""

from clew.plain.options import PlainOptions
from clew.plain.run import run_plain

__all__ = ["PlainOptions", "run_plain"]
