"""Text made to cost time or to break a pattern: every shape must be read in a moment. A hang here is the failure."""

import pytest

from clew.orient.dialog import dialog_of
from clew.orient.form import form_of
from clew.orient.verify import Evidence, verify
from unit.ledger.talk import Talk

SHAPES = [
    "a=" * 200_000,
    "<task>" * 100_000,
    "<system-reminder>" * 60_000,
    "<command-name>/x</command-name><command-args>" * 20_000,
    "[" * 300_000,
    "`" * 300_000,
    "*_" * 200_000,
    "# " * 200_000,
    "1. " * 200_000,
    "never " * 100_000,
    "I'll " * 100_000,
    "x" * 1_000_000,
    "❯ " * 200_000,
    "$ a b c d e f g h\n" * 50_000,
    "\n" * 500_000,
    "。" * 300_000,
    "https://" * 100_000,
    "(" * 200_000 + ")" * 200_000,
    "tests pass " * 80_000,
    "/".join(["a"] * 200_000),
    "1 failed, " * 80_000,
    "\u202e\u2066" * 100_000,
]


@pytest.mark.parametrize("text", SHAPES, ids=range(len(SHAPES)))
def test_hostile_text_is_read_in_a_moment(text: str) -> None:
    talk = Talk().user(text).agent(text).bash("pytest " + text[:3000], text).edit(text[:900], text[:5000], text[1:5000])
    ledger = talk.agent(text).user(text).agent(text).ledger()
    assert len(form_of(ledger).text) <= 4000
    assert len(verify(text[:20_000], Evidence(ledger, dialog_of(talk.entries))).text) <= 20_000
