"""How much of what is true passes, and how much of what is false is caught, on sessions of our own and shared ones.

The floors are what the verifier reaches, a little below: a change that loses much is seen, one word is not.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from bench.recap_samples import OWN_SESSIONS, write_samples

from clew.foreign.registry import read
from clew.ledger.facts import Ledger
from clew.ledger.fold import fold
from clew.ledger.words import sentences
from clew.orient.dialog import Line, dialog_of
from clew.orient.verify import verify
from clew.protocol.entries import Entry

from .rephrasings import DATA, TRANSCRIPTS, rephrasings
from .told_last import LAST
from .told_later import LATER
from .told_sessions import SESSIONS, Told

_FINITE = r"\b(is|are|was|were|has|have)\b"
shared = pytest.mark.skipif(TRANSCRIPTS is None, reason="the shared sample sessions are not on this machine")


def shares(cases: Iterable[tuple[tuple[Entry, ...], str, bool]]) -> tuple[float, float]:
    """What part of the true texts is accepted whole, and of what part of the false ones something is taken out."""
    known: dict[int, tuple[Ledger, list[Line]]] = {}
    right: dict[bool, list[bool]] = {True: [], False: []}
    for entries, text, truth in cases:
        ledger, dialog = known.setdefault(id(entries), (fold(entries), dialog_of(entries)))
        right[truth].append(bool(verify(text, ledger, dialog).dropped) is not truth)
    return sum(right[True]) / len(right[True]), sum(right[False]) / len(right[False])


def retold(sessions: Iterable[Told]) -> list[tuple[tuple[Entry, ...], str, bool]]:
    """The texts of sessions written for this."""
    whole = [(tuple(told.talk.entries), told) for told in sessions]
    return [(entries, text, text in told.true) for entries, told in whole for text in (*told.true, *told.false)]


def from_file(name: str) -> list[tuple[tuple[Entry, ...], str, bool]]:
    """Texts about shared sessions."""
    assert TRANSCRIPTS is not None
    lines = DATA.with_name(name).read_text(encoding="utf-8").splitlines()
    items = [{"session": "", **json.loads(line)} for line in lines]
    places = {(item["transcript"], item["session"]) for item in items}
    entries = {place: read(TRANSCRIPTS / place[0], session_id=place[1]).entries for place in places}
    return [(entries[item["transcript"], item["session"]], item["text"], item["truth"]) for item in items]


@pytest.mark.parametrize(
    ("sessions", "accepted", "caught"),
    [(SESSIONS, 0.88, 0.86), (LATER, 0.86, 0.75), (LAST, 0.8, 0.75)],
    ids=["first", "later", "last"],
)
def test_sessions_of_our_own_keep_their_share(sessions: tuple[Told, ...], accepted: float, caught: float) -> None:
    true, false = shares(retold(sessions))
    assert true >= accepted
    assert false >= caught


@shared
def test_the_shared_sessions_keep_their_share() -> None:
    true, false = shares((item.entries, item.text, item.truth) for item in rephrasings(held_out=False))
    assert true >= 0.77
    assert false >= 0.75


@shared
@pytest.mark.parametrize(
    ("name", "accepted", "caught"), [("rewordings.jsonl", 0.75, 0.78), ("retellings.jsonl", 0.73, 0.65)]
)
def test_other_hands_texts_keep_their_share(name: str, accepted: float, caught: float) -> None:
    """Written before the verifier was run on them."""
    true, false = shares(from_file(name))
    assert true >= accepted
    assert false >= caught


@shared
def test_sessions_cut_off_on_the_way_keep_their_share(tmp_path: Path) -> None:
    """Written before the verifier's rules were last changed, run once after it; sessions of the bench, and shared
    ones that end earlier than they do."""
    assert TRANSCRIPTS is not None
    samples = [sample["name"] for sample in json.loads(OWN_SESSIONS.read_text(encoding="utf-8"))]
    files = [json.loads(line)["file"] for line in write_samples(tmp_path).read_text().splitlines()]
    own = dict(zip(samples, files, strict=True))
    cases: list[tuple[tuple[Entry, ...], str, bool]] = []
    known: dict[tuple[str, int], tuple[Entry, ...]] = {}
    for line in DATA.with_name("cut_sessions.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        place = (item["transcript"], item["entries"])
        if place not in known:
            kind, _, name = place[0].partition("own:")
            entries = read(TRANSCRIPTS / kind if kind else tmp_path / own[name]).entries
            known[place] = entries[: place[1] or None]
        cases.append((known[place], item["text"], item["truth"]))
    true, false = shares(cases)
    assert true >= 0.75
    assert false >= 0.57


def test_the_agents_own_sentences_pass_and_what_denies_them_does_not() -> None:
    """Falsehoods that no hand picked: the same words with a `not` put in."""
    kept: list[bool] = []
    caught: list[bool] = []
    for told in (*SESSIONS, *LATER, *LAST):
        ledger, dialog = told.talk.ledger(), dialog_of(told.talk.entries)
        for line in [line for line in dialog if not line.by_user and not line.by_tool][-1:]:
            for sentence in sentences(line.text):
                text = re.sub(r"\bI(?: have|'ve)?\b", "the agent", sentence)
                if sentence.endswith("?") or len(text.split()) < 5:
                    continue
                kept.append(not verify(text, ledger, dialog).dropped)
                if not re.search(r"\b(?:not|no|nothing|never)\b|n't", text) and re.search(_FINITE, text):
                    caught.append(bool(verify(re.sub(_FINITE, r"\1 not", text, count=1), ledger, dialog).dropped))
    assert len(kept) > 50
    assert len(caught) > 20
    assert sum(kept) >= 0.95 * len(kept)
    assert sum(caught) >= 0.9 * len(caught)
