"""Recaps of other sessions in a list: written once, for our own ones, by the fast model of the provider they used."""

from pathlib import Path

import msgspec
import pytest

from clew.llm.scripted import Say, ScriptedModel
from clew.orient.daily_cap import DailyCap
from clew.orient.recap_query import Used, WriterChoice, WrittenRecaps, choose
from clew.orient.side_query import QueryStamp, SideQueries
from clew.parts.orientation.recap_drafts import RecapDrafts
from clew.protocol.entries import AssistantEntry, SessionSourceEntry, SideQueryEntry
from clew.protocol.ids import SessionId
from clew.transcript.log.lease import holder_of
from clew.transcript.log.writer import TranscriptWriter
from unit.ledger.talk import SESSION, Talk

MAIN, FAST = "anthropic/claude-opus-4-5", "anthropic/claude-haiku-4-5"
WORDS = "You are adding a --json flag to report.py; it is in."


def talk(prompts: int = 3, model: str = MAIN) -> Talk:
    made = Talk()
    for number in range(prompts):
        made.user(f"Add a --json flag to report.py, part {number}").edit("/p/report.py")
        made.agent("I added the flag to report.py.").ended()
    for at, entry in enumerate(made.entries):
        if isinstance(entry, AssistantEntry):
            message = msgspec.structs.replace(entry.message, model=model)
            made.entries[at] = msgspec.structs.replace(entry, message=message)
    return made


def written(folder: Path, made: Talk) -> Path:
    path = folder / f"{SESSION}.jsonl"
    writer = TranscriptWriter(path, SESSION)
    for entry in made.entries:
        writer.append(entry)
    writer.close()
    return path


class Desk:
    """Drafts with a scripted model and a real home."""

    def __init__(self, home: Path, *, setting: str = "auto", fast: str = FAST, cap_usd: float = 1.0) -> None:
        self.model = ScriptedModel([Say(f"<recap>{WORDS}</recap>")] * 4, name=fast)
        self.booked: list[SideQueryEntry] = []
        self.told: list[str] = []
        self.cap = DailyCap(home, cap_usd)
        self.kept = WrittenRecaps(home)

        def automatic(used: Used) -> WriterChoice:
            given = msgspec.convert(setting, type=choose.__annotations__["setting"])
            return choose(given, asked=False, fast=fast, main=MAIN, used=used, is_local=lambda name: "ollama" in name)

        def asking(key: QueryStamp) -> SideQueries:
            return SideQueries(
                self.model, cap=self.cap, current=lambda: key, book=self.booked.append, log=self.told.append
            )

        self.drafts = RecapDrafts(self.kept, asking, automatic=automatic, before=self.told.append)


async def test_a_session_of_ours_is_told_once_and_kept(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = written(tmp_path, talk())
    assert await desk.drafts.words(path) == WORDS
    assert desk.told[0] == FAST, "it is said before the model is asked"
    assert [entry.purpose for entry in desk.booked] == ["session-recap", "recap-reading"]
    assert await desk.drafts.words(path) == WORDS
    assert len(desk.model.requests) == 2, "one to write it, one to read it over"


@pytest.mark.parametrize(
    ("made", "setting", "fast"),
    [
        (talk(), "off", FAST),
        (talk(), "auto", "openai/gpt-5-mini"),
        (talk(model="openai/gpt-5"), "auto", FAST),
        (talk(), "auto", "ollama/small"),
        (talk(), "auto", ""),
        (talk(prompts=2), "auto", FAST),
    ],
    ids=["switched off", "another provider", "used another provider", "a local model", "no fast model", "too short"],
)
async def test_where_none_may_be_written_nobody_is_asked(tmp_path: Path, made: Talk, setting: str, fast: str) -> None:
    desk = Desk(tmp_path, setting=setting, fast=fast)
    assert await desk.drafts.words(written(tmp_path, made)) == ""
    assert desk.model.requests == []


async def test_what_was_brought_from_another_agent_is_not_sent(tmp_path: Path) -> None:
    made = talk()
    source = SessionSourceEntry(
        session_id=SessionId(SESSION), timestamp="2026-03-01T10:00:00.000Z", agent="codex", source_session="y"
    )
    made.entries.insert(0, source)
    desk = Desk(tmp_path)
    assert await desk.drafts.words(written(tmp_path, made)) == ""
    assert desk.model.requests == []


async def test_a_session_that_is_open_elsewhere_is_left_to_its_process(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = written(tmp_path, talk())
    writer = TranscriptWriter(path, SESSION)
    try:
        assert holder_of(path) is not None
        assert await desk.drafts.words(path) == ""
    finally:
        writer.close()
    assert desk.model.requests == []


async def test_the_daily_cap_ends_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, cap_usd=0.0)
    assert await desk.drafts.words(written(tmp_path, talk())) == ""
    assert desk.model.requests == []
