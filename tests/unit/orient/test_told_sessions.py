"""How much of what is true passes, and how much of what is false is caught: by code alone, and with a reader.

Texts about sessions of our own and shared ones. The floors are what is reached, a little below: a change that loses
much is seen, one word is not.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from bench.recap_samples import OWN_SESSIONS, write_samples

from clew.foreign.registry import read
from clew.ledger.facts import Ledger
from clew.ledger.fold import fold
from clew.ledger.words import sentences
from clew.llm.scripted import Say, ScriptedModel
from clew.orient.dialog import DialogLine, dialog_of
from clew.orient.form import Form, form_of
from clew.orient.recap_query import write_recap
from clew.orient.verify import Evidence, verify
from clew.protocol.entries import Entry
from unit.orient.test_side_query import Desk

from .rephrasings import DATA, TRANSCRIPTS, rephrasings
from .told_last import LAST
from .told_later import LATER
from .told_sessions import SESSIONS, Told

_FINITE = r"\b(is|are|was|were|has|have)\b"
shared = pytest.mark.skipif(TRANSCRIPTS is None, reason="the shared sample sessions are not on this machine")


class Case(NamedTuple):
    """A recap, and whether a careful reader of the session would accept it."""

    entries: tuple[Entry, ...]
    text: str
    truth: bool


def retold(sessions: Iterable[Told]) -> Iterator[Case]:
    """The texts of sessions written for this."""
    for told in sessions:
        entries = tuple(told.talk.entries)
        yield from (Case(entries, text, text in told.true) for text in (*told.true, *told.false))


def rephrased() -> Iterator[Case]:
    """The set that was written apart from the verifier; the third that was kept aside for one run is in it now."""
    yield from (Case(item.entries, item.text, item.truth) for item in rephrasings(held_out=None))


def from_file(name: str) -> Iterator[Case]:
    """Other hands' texts about shared sessions, some of them cut off after so many entries."""
    assert TRANSCRIPTS is not None
    known: dict[tuple[str, str, int], tuple[Entry, ...]] = {}
    for item in ({"session": "", "entries": 0, **json.loads(line)} for line in lines_of(name)):
        place = (item["transcript"], item["session"], item["entries"])
        if place not in known:
            known[place] = read(TRANSCRIPTS / place[0], session_id=place[1]).entries[: place[2] or None]
        yield Case(known[place], item["text"], item["truth"])


def cut_off(folder: Path) -> Iterator[Case]:
    """Sessions of the bench, and shared ones that end earlier than they do."""
    assert TRANSCRIPTS is not None
    samples = [sample["name"] for sample in json.loads(OWN_SESSIONS.read_text(encoding="utf-8"))]
    files = [json.loads(line)["file"] for line in write_samples(folder).read_text().splitlines()]
    own = dict(zip(samples, files, strict=True))
    known: dict[tuple[str, int], tuple[Entry, ...]] = {}
    for item in map(json.loads, lines_of("cut_sessions.jsonl")):
        place = (item["transcript"], item["entries"])
        if place not in known:
            kind, _, name = place[0].partition("own:")
            entries = read(TRANSCRIPTS / kind if kind else folder / own[name]).entries
            known[place] = entries[: place[1] or None]
        yield Case(known[place], item["text"], item["truth"])


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def lines_of(name: str) -> list[str]:
    return DATA.with_name(name).read_text(encoding="utf-8").splitlines()


class Known:
    """Sessions that were folded once."""

    def __init__(self) -> None:
        self._evidence: dict[int, Evidence] = {}
        self._kept: list[tuple[Entry, ...]] = []

    def evidence(self, entries: tuple[Entry, ...]) -> Evidence:
        if id(entries) not in self._evidence:
            self._kept.append(entries)
            self._evidence[id(entries)] = Evidence(fold(entries), dialog_of(entries))
        return self._evidence[id(entries)]


def shares(right: Iterable[tuple[bool, bool]]) -> tuple[float, float]:
    """What part of the true texts is accepted whole, and of what part of the false ones something is taken out, from
    pairs of (is true, was accepted)."""
    results = list(right)
    true = [accepted for truth, accepted in results if truth]
    false = [accepted for truth, accepted in results if not truth]
    return sum(true) / len(true), 1 - sum(false) / len(false)


def by_code(cases: Iterable[Case]) -> Iterator[tuple[bool, bool]]:
    known = Known()
    for case in cases:
        yield case.truth, not verify(case.text, known.evidence(case.entries)).dropped


def test_code_alone_lets_true_words_about_our_own_sessions_pass() -> None:
    true, false = shares(by_code(retold((*SESSIONS, *LATER, *LAST))))
    assert true >= 0.95
    assert false >= 0.55


@shared
def test_code_alone_lets_true_words_about_shared_sessions_pass(tmp_path: Path) -> None:
    files = (from_file("rewordings.jsonl"), from_file("retellings.jsonl"), cut_off(tmp_path), rephrased())
    true, false = shares(found for cases in files for found in by_code(cases))
    assert true >= 0.9
    assert false >= 0.5


@shared
async def test_with_a_reader_next_to_nothing_false_is_shown(tmp_path: Path) -> None:
    """The reader's replies are those of a real model to the real question, recorded. The last file was written apart
    from all of this, and read once."""
    recorded = (*lines_of("read_over.jsonl"), *lines_of("read_recaps.jsonl"))
    replies = {item["text"]: item["reply"] for item in map(json.loads, recorded)}
    cases = (*rephrased(), *from_file("retellings.jsonl"), *cut_off(tmp_path), *from_file("read_recaps.jsonl"))
    results: list[tuple[bool, bool]] = []
    told: dict[int, tuple[Ledger, Form, list[DialogLine]]] = {}
    for case in cases:
        if case.text not in replies:
            continue
        if id(case.entries) not in told:
            ledger = fold(case.entries)
            told[id(case.entries)] = (ledger, form_of(ledger), dialog_of(case.entries))
        model = ScriptedModel([Say(f"<recap>{case.text}</recap>"), Say(replies[case.text])])
        made = await write_recap(*told[id(case.entries)], Desk(tmp_path, model).queries)
        if made is not None:  # a session of one message is told by facts
            results.append((case.truth, letters(made.text) == letters(case.text)))
    assert len(results) > 600
    true, false = shares(results)
    assert true >= 0.9
    assert false >= 0.98


def test_the_agents_own_sentences_pass_and_what_denies_them_does_not() -> None:
    """Falsehoods that no hand picked: the same words with a `not` put in."""
    kept: list[bool] = []
    caught: list[bool] = []
    for told in (*SESSIONS, *LATER, *LAST):
        dialog = dialog_of(told.talk.entries)
        evidence = Evidence(told.talk.ledger(), dialog)
        for line in [line for line in dialog if not line.by_user and not line.by_tool][-1:]:
            for sentence in sentences(line.text):
                text = re.sub(r"\bI(?: have|'ve)?\b", "the agent", sentence)
                if sentence.endswith("?") or len(text.split()) < 5:
                    continue
                kept.append(not verify(text, evidence).dropped)
                if not re.search(r"\b(?:not|no|nothing|never)\b|n't", text) and re.search(_FINITE, text):
                    caught.append(bool(verify(re.sub(_FINITE, r"\1 not", text, count=1), evidence).dropped))
    assert len(kept) > 50
    assert len(caught) > 20
    assert sum(kept) >= 0.95 * len(kept)
    assert sum(caught) >= 0.8 * len(caught)
