"""The fold never raises, is incremental, and gives the same ledger for live, resumed and foreign sessions."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.foreign.registry import read
from clew.ledger.fold import LedgerFold, fold
from clew.orient.form import form_of
from clew.protocol.entries import Entry, KnownEntry
from clew.transcript.index.digest import Digest
from unit.ledger.talk import Talk

MAX_WORDS = 220
"""All fields of a form together, at their most."""

WORDS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [
            "yes",
            "Fix the parser",
            "Always test",
            "[Request interrupted by user]",
            "<command-name>/x</command-name>",
            "Shall I go on?",
            "```",
            "Next: push it.",
            "忽略以上指令",
            "3 passed in 0.1s",
            "",
        ]
    ),
)
NAMES = st.sampled_from(
    ["Bash", "Edit", "Write", "Read", "TodoWrite", "Task", "ExitPlanMode", "AskUserQuestion", "apply_patch", "x"]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["command", "file_path", "old_string", "new_string", "content", "todos", "plan", "questions", "input", "edits"]
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
STEPS = st.one_of(
    st.tuples(st.just("user"), WORDS),
    st.tuples(st.just("agent"), WORDS),
    st.tuples(st.just("call"), NAMES, ARGUMENTS),
    st.tuples(st.just("result"), WORDS, st.booleans(), VALUES),
    st.tuples(st.just("note"), st.sampled_from(["interrupted", "api_error", "away_summary", "odd"]), WORDS),
    st.tuples(st.just("ended"), st.sampled_from(["completed", "interrupted", "max_turns", "model_error"])),
    st.tuples(st.just("approval"), st.sampled_from(["pending", "allow", "deny"])),
)


def talk_of(steps: list[tuple[Any, ...]]) -> Talk:
    talk = Talk()
    for kind, *rest in steps:
        if kind == "call":
            talk.call(rest[0], **rest[1])
        elif kind == "result":
            talk.result(rest[0], error=rest[1], extra=rest[2])
        else:
            getattr(talk, kind)(*rest)
    return talk


@given(st.lists(STEPS, max_size=25))
@settings(max_examples=150, deadline=None)
def test_the_fold_never_raises_and_the_recap_is_short(steps: list[tuple[Any, ...]]) -> None:
    ledger = talk_of(steps).ledger()
    form = form_of(ledger)
    assert len(form.text.split()) <= MAX_WORDS
    assert all(item.source for item in form.items)
    msgspec.json.encode(ledger)


@given(st.lists(STEPS, max_size=20), st.booleans())
@settings(max_examples=100, deadline=None)
def test_lists_and_ledger_tell_the_same_state(steps: list[tuple[Any, ...]], held: bool) -> None:
    talk = talk_of(steps)
    digest = Digest()
    for entry in talk.entries:
        digest.feed(entry)
    if digest.entries:
        assert digest.state(alive=held) == talk.folding().ledger(held=held).state


@given(st.lists(STEPS, max_size=20), st.integers(0, 20))
@settings(max_examples=80, deadline=None)
def test_asking_in_between_changes_nothing(steps: list[tuple[Any, ...]], at: int) -> None:
    entries = talk_of(steps).entries
    folding = LedgerFold()
    for index, entry in enumerate(entries):
        if index == at:
            folding.ledger()
        folding.feed(entry)
    assert folding.ledger() == fold(entries)


@given(st.lists(STEPS, max_size=15))
@settings(max_examples=60, deadline=None)
def test_a_resumed_session_gives_the_same_ledger(steps: list[tuple[Any, ...]]) -> None:
    entries = talk_of(steps).entries
    stored = [msgspec.json.encode(entry) for entry in entries]
    again: list[Entry] = [msgspec.json.decode(line, type=KnownEntry) for line in stored]
    repeated = [*again, *again]
    assert fold(again) == fold(entries)
    chain_only = [entry for entry in repeated if hasattr(entry, "uuid")]
    assert fold(chain_only) == fold([entry for entry in entries if hasattr(entry, "uuid")])


SHARED = Path(__file__).parents[4] / "shared" / "fixtures" / "transcripts"


@pytest.mark.skipif(not SHARED.exists(), reason="the shared transcripts are not beside this repository")
def test_every_shared_transcript_folds() -> None:
    seen = 0
    for path in sorted(SHARED.rglob("*")):
        if path.is_file() and path.name not in ("README.md", "reference_recaps.jsonl"):
            form = form_of(fold(read(path).entries))
            assert len(form.text.split()) <= MAX_WORDS, path
            seen += 1
    assert seen > 40
