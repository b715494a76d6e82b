"""Cutting a chain: whatever it looks like, nothing is split, nothing is lost, and a kept tail is really kept."""

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.transcript.samples import SESSION, Script

from clew.engine.compaction.stretches import Exchange, chunks, cut, exchanges_of
from clew.llm.estimate import estimate_message
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import CompactionEnded, KeptSegment, SectionKept
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import TextPart, ToolCallPart, tool_calls
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary, result_calls
from clew.transcript.chain.view import Replacements, messages_of
from clew.transcript.log.stamp import Stamp
from clew.transcript.mapping.recording import entries_of

STAMP = Stamp(session_id=SESSION, cwd="/src/app")


def measure(entries: Any) -> int:
    return round(sum(map(estimate_message, messages_of(entries, Replacements()))))


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["prompt", "prompts", "reply", "calls", "open", "note", "error", "hidden", "compact"]),
        st.integers(0, 3),
        st.integers(1, 400),
    ),
    max_size=25,
)


def play(steps: list[Step]) -> Script:
    script = Script()
    numbers = itertools.count(1)
    for kind, many, words in steps:
        text = "word " * words
        if kind in ("prompt", "prompts"):
            for _ in range(1 if kind == "prompt" else 1 + many):
                script.user(text)
        elif kind == "reply":
            reply = f"m{next(numbers)}"
            for _ in range(1 + many):
                script.assistant(text, message=reply)
        elif kind in ("calls", "open"):
            reply = f"m{next(numbers)}"
            script.assistant(text, message=reply)
            asked = [(f"c{next(numbers)}", "") for _ in range(1 + many)]
            asked = [(call, script.call(call, message=reply)) for call, _ in asked]
            if kind == "calls":
                for call, entry in reversed(asked):  # results come in any order, each under its call
                    script.result(call, text, parent=entry)
        elif kind == "note":
            script.system("informational", content=text)
        elif kind == "error":
            script.assistant(text, is_api_error_message=True)
        elif kind == "hidden":
            script.user(text, is_meta=True, origin="clew")
        else:
            _compacted(script, divided(script, tail_tokens=300 * many).tail.segment)
    return script


def _compacted(script: Script, kept: Any) -> CompactionEnded:
    number = len(script.entries)
    event = CompactionEnded(
        entry_id=EntryId(f"b{number}"),
        logical_parent_id=script.tip,
        kind="auto",
        tokens_before=1,
        tokens_after=1,
        summary_id=EntryId(f"sum{number}"),
        summary=(TextPart(text="a summary"),),
        kept=kept,
    )
    script.entries.extend(entries_of(event, STAMP))
    script.tip = event.summary_id
    return event


def divided(script: Script, *, tail_tokens: int, half_window: int = 100_000, sections: Any = ()) -> Any:
    chain = build_chain(script.entries)
    return cut(
        chain.entries,
        script.entries,
        measure=measure,
        sections=sections,
        tail_tokens=tail_tokens,
        half_window=half_window,
    )


def spoken(chain: Any) -> list[Entry]:
    return [
        entry
        for entry in chain
        if not is_boundary(entry) and not (isinstance(entry, UserEntry) and entry.is_compact_summary)
    ]


@given(STEPS)
def test_exchanges_hold_every_entry_once_and_split_nothing(steps: list[Step]) -> None:
    chain = build_chain(play(steps).entries).entries
    exchanges = exchanges_of(chain, measure)
    assert [entry for item in exchanges for entry in item.entries] == spoken(chain)
    replies: dict[str, int] = {}
    calls: dict[str, int] = {}
    for number, item in enumerate(exchanges):
        assert item.entries
        for entry in item.entries:
            if isinstance(entry, AssistantEntry) and not entry.is_api_error_message:
                assert replies.setdefault(entry.message.id, number) == number
                calls.update({call.id: number for call in tool_calls(entry.message.content)})
            for call in result_calls(entry):
                assert calls.get(call, number) == number


@given(STEPS, st.integers(0, 3_000), st.integers(1, 4_000))
def test_a_kept_tail_is_what_the_view_shows_behind_the_summary(steps: list[Step], tail: int, half: int) -> None:
    script = play(steps)
    before = build_chain(script.entries).entries
    found = divided(script, tail_tokens=tail, half_window=half)
    assert [entry for piece in found.stretches for item in piece for entry in item.entries] + [
        entry for item in found.kept for entry in item.entries
    ] == spoken(before)
    assert found.tail.tokens == sum(item.tokens for item in found.kept) <= max(half, 0)
    event = _compacted(script, found.tail.segment)
    after = build_chain(script.entries)
    assert not [flaw for flaw in after.flaws if flaw.kind == "segment"]
    shown = messages_of(after.entries, Replacements())
    kept = messages_of([entry for item in found.kept for entry in item.entries], Replacements())
    assert shown[1:] == kept
    assert after.leaf == event.summary_id


@given(STEPS, st.integers(1, 2_000))
def test_chunks_are_the_stretch_in_order_and_no_larger_than_they_must_be(steps: list[Step], limit: int) -> None:
    exchanges = exchanges_of(build_chain(play(steps).entries).entries, measure)
    runs = chunks(exchanges, limit)
    assert tuple(item for run in runs for item in run) == exchanges
    assert all(run for run in runs)
    assert all(sum(item.tokens for item in run) <= limit or len(run) == 1 for run in runs)


@given(STEPS, st.data())
def test_a_section_takes_the_place_of_just_its_exchanges(steps: list[Step], data: st.DataObject) -> None:
    script = play(steps)
    exchanges = exchanges_of(build_chain(script.entries).entries, measure)
    if not exchanges:
        return
    first = data.draw(st.integers(0, len(exchanges) - 1))
    last = data.draw(st.integers(first, len(exchanges) - 1))
    section = _section(exchanges[first], exchanges[last])
    found = divided(script, tail_tokens=0, half_window=-1, sections=[section])  # no tail, not even an empty one
    covered = exchanges[first : last + 1]
    assert section in found.pieces
    rest = [item for piece in found.stretches for item in piece] + list(found.kept)
    assert rest == [item for item in exchanges if item not in covered]


def _section(first: Exchange, last: Exchange) -> SectionKept:
    return SectionKept(section_id=EntryId("s1"), first=first.ids[0], last=last.ids[-1], title="t", text="x")


def test_a_section_that_ends_inside_an_exchange_stands_for_none() -> None:
    script = Script()
    script.user("a question")
    call = script.call("c1")
    script.result("c1", "an answer")
    script.assistant("done")
    torn = SectionKept(section_id=EntryId("s1"), first=EntryId("u1"), last=call, title="t", text="x")
    gone = SectionKept(section_id=EntryId("s2"), first=EntryId("u1"), last=EntryId("nowhere"), title="t", text="x")
    found = divided(script, tail_tokens=0, half_window=0, sections=[torn, gone])
    assert not any(isinstance(piece, SectionKept) for piece in found.pieces)


def test_a_session_that_is_one_tool_result_has_an_answer() -> None:
    script = Script()
    script.result("c1", "word " * 5_000)
    found = divided(script, tail_tokens=1_000, half_window=100)
    assert found.tail.segment is None
    assert len(found.stretches) == 1
    fits = divided(script, tail_tokens=1_000, half_window=100_000)
    assert fits.tail.start == 0
    assert not fits.pieces


def test_a_message_larger_than_the_window_is_no_tail() -> None:
    script = Script()
    script.user("hello")
    script.assistant("hi")
    script.user("word " * 50_000)
    found = divided(script, tail_tokens=2_000, half_window=4_000)
    assert found.tail.segment is None
    assert not found.kept
    assert sum(len(piece) for piece in found.stretches) == 2


def test_an_empty_chain_has_nothing_to_cut() -> None:
    found = divided(Script(), tail_tokens=100)
    assert not found.pieces
    assert found.tail.segment is None


def test_the_tail_begins_with_the_last_prompt_where_that_gains_enough() -> None:
    script = Script()
    for _ in range(20):
        script.user("earlier " * 30)
        script.assistant("word " * 100)
    prompt = script.user("the last one")
    script.call("c1", message="m1")
    script.result("c1", "word " * 600)
    script.assistant("word " * 100)
    found = divided(script, tail_tokens=200)
    assert found.tail.segment is not None
    assert found.tail.segment.head == prompt


def test_a_tail_never_crosses_an_earlier_boundary() -> None:
    script = Script()
    for number in range(10):
        script.user(f"prompt {number}")
        script.assistant("word " * 100)
    asked = script.user("the prompt of a long turn")
    first = script.assistant("word " * 20)
    _compacted(script, KeptSegment(head=EntryId("u1"), tail=first))
    script.assistant("word " * 20)
    found = divided(script, tail_tokens=100_000)
    assert asked not in {uuid for item in found.kept for uuid in item.ids}
    assert found.tail.segment is not None
    _compacted(script, found.tail.segment)
    assert not build_chain(script.entries).flaws


def test_results_that_came_late_stay_with_their_call() -> None:
    script = Script()
    script.user("go")
    asked = script.assistant(
        ToolCallPart(id=CallId("c1"), name="Read", arguments={}),
        ToolCallPart(id=CallId("c2"), name="Read", arguments={}),
    )
    script.result("c1", parent=asked)
    script.user("meanwhile")
    script.result("c2")
    exchanges = exchanges_of(script.entries, measure)
    assert len(exchanges) == 1
