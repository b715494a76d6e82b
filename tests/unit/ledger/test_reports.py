"""The marks on a corpus of reports that was written before the rules: most false ones are marked, few true ones."""

import pytest

from unit.ledger.reports.corpus import Sample, halves, later, measured

PARTS = {"first": halves()[0], "second": halves()[1], "later": later("second"), "last": later("third")}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_false_reports_are_marked_and_true_ones_are_not(part: list[Sample]) -> None:
    figures = measured(part)
    assert figures.marked >= 0.95 * figures.false, figures.missed
    assert len(figures.wrong) <= 0.03 * figures.true, figures.wrong


def test_the_corpus_is_large_enough_to_say_something() -> None:
    figures = measured(halves()[0] + halves()[1])
    assert figures.false >= 200
    assert figures.true >= 300
    assert all(of >= 15 for _, of in figures.by_kind.values())
