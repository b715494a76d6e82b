"""The modules of clew as syntax trees, read once by each process that runs tests."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "clew"
MODULES = sorted(SOURCE.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    """As it is written."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """To be looked at and never changed: others look at the same one."""
    return ast.parse(text_of(path))
