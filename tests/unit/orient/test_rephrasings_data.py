"""The set of true and false recap texts keeps its form: enough of each, short, about sessions that can be read."""

from collections import Counter

import pytest

from .rephrasings import TRANSCRIPTS, is_held_out, records, rephrasings

FALSEHOODS = {
    "wrong_name",
    "invented",
    "success_claimed",
    "failure_claimed",
    "wrong_state",
    "never_happened",
    "other_goal",
    "inverted_cause",
    "refused_told_as_done",
    "stale",
    "injection",
}


def test_there_are_enough_of_each_and_a_third_is_held_out() -> None:
    found = records()
    truths = Counter(record.truth for record in found)
    assert truths[True] >= 150
    assert truths[False] >= 150
    assert len({(record.transcript, record.session) for record in found}) >= 40
    assert len({record.language for record in found}) >= 6
    assert {record.kind for record in found if not record.truth} == FALSEHOODS
    assert all(record.held_out == is_held_out(record.id) for record in found)
    assert 0.25 < sum(record.held_out for record in found) / len(found) < 0.42


def test_each_is_a_recap_of_one_or_two_sentences_with_a_reason() -> None:
    found = records()
    assert len({record.id for record in found}) == len(found)
    assert len({record.text for record in found}) == len(found)
    for record in found:
        assert record.why, record.id
        assert 1 <= len(record.text.split()) <= 40, record.id


@pytest.mark.skipif(TRANSCRIPTS is None, reason="the shared sample sessions are not on this machine")
def test_every_text_is_about_a_session_that_the_readers_read() -> None:
    for item in rephrasings(held_out=None):
        assert item.entries, item.id
