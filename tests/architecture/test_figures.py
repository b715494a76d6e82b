"""Figures are told in the same words everywhere: money by `money` and `price` of text/figures.py alone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.sources import MODULES, SOURCE, tree_of

OWNER = SOURCE / "text" / "figures.py"
NUMBER = re.compile(r"[.,\d]*[fgeFGE%]$|,")
"""How a number is formatted."""
SUM = re.compile(r"(?:^|_)(?:usd|dollars?)(?:$|_)|^(?:cost|price)$")
"""Names that hold dollars."""
PERCENT = re.compile(r"\$%[\d.]*[fgd]|\$\{:[^}]*\}|\$\{\d*:[^}]*\}")
"""The older ways to format."""


def offences(tree: ast.AST) -> Iterator[int]:
    """The lines where dollars are formatted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and PERCENT.search(node.value):
            yield node.lineno
        if isinstance(node, ast.JoinedStr):
            for before, value in zip([None, *node.values], node.values, strict=False):
                if isinstance(value, ast.FormattedValue) and _tells_money(before, value):
                    yield value.lineno


def _tells_money(before: ast.expr | None, value: ast.FormattedValue) -> bool:
    spec = "".join(str(part.value) for part in _parts(value) if isinstance(part, ast.Constant))
    if not NUMBER.search(spec):
        return False
    signed = isinstance(before, ast.Constant) and str(before.value).endswith("$")
    return signed or bool(SUM.search(getattr(value.value, "attr", getattr(value.value, "id", ""))))


def _parts(value: ast.FormattedValue) -> list[ast.expr]:
    return value.format_spec.values if isinstance(value.format_spec, ast.JoinedStr) else []


def test_money_is_formatted_in_one_place() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}" for path in MODULES if path != OWNER for line in offences(tree_of(path))
    ]
    assert not found, "use money() or price() of text/figures.py"


@pytest.mark.parametrize(
    "text",
    ['f"${spent:.2f}"', 'f"{cost_usd:.4f} dollars"', '"$%.2f" % spent', '"${:.2f}".format(x)', 'f"{self.usd:,.2f}"'],
)
def test_other_ways_are_seen(text: str) -> None:
    assert list(offences(ast.parse(text)))


@pytest.mark.parametrize("text", ['f"${name}"', 'f"{money(usd)}"', 'f"{size:,}"', '"${HOME}"', 'f"{cost_usd}"'])
def test_what_tells_no_sum_is_let_alone(text: str) -> None:
    assert not list(offences(ast.parse(text)))


def test_the_owner_is_there() -> None:
    assert Path(OWNER).is_file()
    assert list(offences(tree_of(OWNER)))
