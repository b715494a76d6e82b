"""Receipts: in words, read back, searched; and how data of others is framed."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.compaction.sessions import Session, Tireless, good

from clew.commands.answers import receipt_details, receipt_lines
from clew.engine.compaction.budgets import budgets_for
from clew.engine.compaction.carry import carry
from clew.engine.compaction.framing import clipped, fenced, listed, one_line
from clew.engine.compaction.live_state import FileLook, NothingLive, look_at
from clew.engine.compaction.receipt import MAX_FOUND, find_items, pins
from clew.engine.compaction.summary import MAX_TITLES, SectionText, joined
from clew.protocol.event_kinds.context import CompactionEnded, ReceiptItem
from clew.protocol.ids import EntryId
from clew.transcript.chain.links import uuid_of

EVENT = CompactionEnded(
    entry_id=EntryId("b1"),
    logical_parent_id=EntryId("a9"),
    kind="manual",
    tokens_before=167_000,
    tokens_after=41_000,
    cost_usd=0.0123,
    focus="auth",
    items=(
        ReceiptItem(fate="carried", kind="rule", text="Never push.", source=EntryId("u1-rest-of-it"), tokens=4),
        ReceiptItem(fate="carried", kind="words", text="one\ntwo", source=EntryId("u2"), tokens=3),
        ReceiptItem(fate="carried", kind="words", text="three", source=EntryId("u3"), tokens=2),
        ReceiptItem(fate="summarised", kind="section", text="The parser\nDone:\n- x", tokens=9),
        ReceiptItem(fate="left", kind="tool results", text="31 (Read 30, Bash 1)", tokens=90_000),
    ),
)


def test_a_receipt_in_two_lines() -> None:
    first, second = receipt_lines(EVENT)
    assert first == "Compacted (manual): 167,000 to 41,000 tokens (-75 %), 1 section, $0.0123."
    assert second.startswith("Carried word for word: 1 rule, 2 messages of yours.")
    assert "/compact undo" in second
    assert "/recall" in second


def test_a_receipt_in_full_names_sources_and_sizes() -> None:
    lines = receipt_details(EVENT)
    assert "  u1-rest-  rule: Never push. (4)" in lines
    assert "  u2  words: one two (3)" in lines
    assert "Left the view (the log keeps it) (90,000 tokens):" in lines
    assert "Focus: auth" in lines
    assert not [line for line in lines if "\n" in line]


def test_sizes_that_are_unknown_are_said_to_be() -> None:
    unknown = CompactionEnded(
        entry_id=EntryId("b"), logical_parent_id=None, kind="auto", tokens_before=None, tokens_after=None
    )
    assert "sizes unknown" in receipt_lines(unknown)[0]


async def test_every_category_and_every_source_is_in_the_receipt(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.filler(15)
    ended = await session.compact(Tireless(good))
    assert isinstance(ended, CompactionEnded)
    left = {item.kind: item for item in ended.items if item.fate == "left"}
    assert {"prompts", "replies", "tool calls", "tool results"} <= set(left)
    assert left["tool results"].tokens > left["prompts"].tokens > 0
    assert all(item.source for item in left.values())
    assert [item.source for item in ended.items if item.kind == "section"] == list(ended.sections)


def test_search_is_newest_first_bounded_and_by_words_or_id(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for number in range(40):
        session.prompt(f"needle number {number}")
        session.reply("ok")
    found = find_items(session.conversation.entries, "NEEDLE")
    assert len(found) == MAX_FOUND
    assert found[0].text == "needle number 39"
    assert {item.text for item in find_items(session.conversation.entries, "7 needle")} >= {"needle number 7"}
    target = session.conversation.chain()[4]
    by_id = find_items(session.conversation.entries, str(uuid_of(target))[:9])
    assert by_id[0].text == "needle number 2"
    assert find_items(session.conversation.entries, "  ") == ()
    assert find_items(session.conversation.entries, "u00") == ()


def test_a_message_can_be_pinned_and_unpinned_by_its_id(tmp_path: Path) -> None:
    session = Session(tmp_path)
    uuid = session.prompt("Remember me")
    session.pin(uuid, "Remember me")
    assert [(pin.text, pin.source) for pin in pins(session.conversation.entries)] == [("Remember me", uuid)]
    session.pin(uuid[:6], "", pinned=False)
    assert pins(session.conversation.entries) == ()


def test_one_paste_does_not_take_the_room_of_all_words(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Start with the importer of the shop.")
    session.prompt("Here is the log: " + "ERROR something broke " * 20_000)
    for number in range(40):
        session.prompt(f"Small wish number {number} about the importer")
    crossing = carry(session.conversation.entries, session.conversation.chain(), NothingLive(), budgets_for(32_000))
    words = crossing.of("goal", "remark", "request")
    assert len(words) == 42
    assert sum(item.tokens for item in words) <= budgets_for(32_000).words
    assert any("[…]" in item.text for item in words)


def test_what_was_said_first_stays_when_others_must_go(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.prompt("Start with the importer of the shop.")
    session.prompt("Zmieniaj zawsze tylko pliki w katalogu src.")
    for number in range(300):
        session.prompt(f"Look at the place with the number {number} and tell about it")
    crossing = carry(session.conversation.entries, session.conversation.chain(), NothingLive(), budgets_for(8_000))
    texts = [item.text for item in crossing.of("remark")]
    assert "Zmieniaj zawsze tylko pliki w katalogu src." in texts
    assert crossing.left
    assert crossing.of("request")[0].text.endswith("299 and tell about it")


def test_older_sections_become_titles_and_then_a_number() -> None:
    sections = [SectionText(id=EntryId(f"s{n}"), title=f"Title {n}", text="- word " * 60) for n in range(200)]
    kept, forgotten = joined(sections, 1_000)
    whole = [section for section in kept if section.text]
    assert kept[-1] == sections[-1]
    assert whole == list(kept[-len(whole) :])
    assert 0 < len(kept) - len(whole) <= MAX_TITLES
    assert forgotten == 200 - len(kept)
    assert sum(section.tokens for section in kept) <= 1_200
    huge = [SectionText(id=None, title="Huge", text="- word " * 9_000)]
    assert joined(huge, 1_000)[0][0].text == ""


@given(st.text(alphabet="`~ab \n", max_size=80))
def test_nothing_closes_its_own_fence(text: str) -> None:
    first, *_, last = fenced(text).split("\n")
    assert first == last
    assert not any(line.strip().startswith(last) for line in text.split("\n"))
    assert text in fenced(text)


@given(st.text(max_size=80))
def test_a_listed_text_is_whole_and_begins_no_line_of_its_own(text: str) -> None:
    shown = listed(text)
    assert text in shown
    assert shown.startswith(("- ", "```"))
    if shown.startswith("- "):
        assert len(shown.splitlines()) == 1


@given(st.text(max_size=400), st.integers(20, 100))
def test_shortened_texts_keep_their_bound(text: str, limit: int) -> None:
    assert len(clipped(text, limit)) <= max(limit, len(text) if len(text) <= limit else 0)
    assert len(one_line(text, limit)) <= limit
    assert not re.search(r"[\n\r\x1b]", one_line(text, limit))


def test_a_file_is_looked_at_only_inside_the_workspace(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "root-twin").mkdir()
    (tmp_path / "root-twin" / "x.txt").write_text("no")
    (root / "x.txt").write_text("yes")

    def look(path: str) -> FileLook:
        return look_at(path, cwd=str(root), roots=[str(root)], max_tokens=100)

    assert look("x.txt").text == "yes"
    assert look("../root-twin/x.txt").state == "gone"
    assert look(".").state == "gone"
    assert look("bad\0name").state == "gone"
    (root / "long.txt").write_text("word " * 1_000)
    assert look("long.txt").state == "large"
