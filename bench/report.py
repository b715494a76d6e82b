"""What a bench gives back: rows with a figure, its budget and whether it holds."""

from typing import NamedTuple


class Row(NamedTuple):
    """One line of docs/benchmarks.md."""

    name: str
    value: str
    """The figure, with its unit or as a ratio to something measured in the same run."""
    budget: str
    ok: bool | None
    """None: for information only."""
