"""Who writes a recap in a running session, and what a session that was cut off says when it is opened again."""

from pathlib import Path

import msgspec
import pytest

from clew.host.workspace import open_workspace
from clew.llm.scripted import Say, ScriptedModel
from clew.parts.orientation.orientation_task import Orientation, OrientationTask
from clew.parts.orientation.part import load_orientation
from clew.protocol.entries import AssistantEntry, SessionSourceEntry
from clew.protocol.events import Event, Notice, RecapReady
from clew.protocol.ids import EntryId, SessionId
from clew.transcript.log.stamp import Stamp
from clew.transcript.mapping.recording import entries_of
from clew.transcript.mapping.retelling import events_of
from unit.host.room import furnished
from unit.ledger.talk import Talk

MAIN = "anthropic/claude-opus-4-5"
WORDS = "You are adding a --json flag to report.py."


class Office:
    """Orientation as a session gets it; every model is scripted and remembered by its name."""

    def __init__(self, tmp_path: Path, **settings: object) -> None:
        self.models: dict[str, ScriptedModel] = {}
        self.logged: list[str] = []
        self.workspace = open_workspace(
            tmp_path, {"CLEW_HOME": str(tmp_path / "clew")}, settings=msgspec.json.encode(settings).decode()
        )
        self.session = furnished(ScriptedModel([], name=MAIN)).session
        talk = Talk().user("Add a --json flag to report.py")
        self.talk = talk.edit("/p/report.py").agent("I added the flag to report.py.").ended()
        self.used(MAIN)
        self.told: list[Event] = []

    def used(self, model: str) -> None:
        """Let the session be one of this model."""
        for at, entry in enumerate(self.talk.entries):
            if isinstance(entry, AssistantEntry):
                message = msgspec.structs.replace(entry.message, model=model)
                self.talk.entries[at] = msgspec.structs.replace(entry, message=message)

    def connect(self, name: str) -> ScriptedModel:
        return self.models.setdefault(name, ScriptedModel([Say(f"<recap>{WORDS}</recap>")] * 2, name=name))

    def load(self, memory: str = "") -> Orientation:
        return load_orientation(
            self.workspace, lambda: MAIN, self.connect, self.session, self.logged.append, memory=memory
        )

    async def recap(self, *, model: bool, memory: str = "") -> RecapReady:
        orienting = OrientationTask(
            lambda: self.load(memory),
            past=lambda: self.talk.entries,
            publish=self.session.publish,
            log=self.logged.append,
        )
        self.told = [event async for event in orienting.recap(model=model)]
        await orienting.close()
        recaps = [event for event in self.told if isinstance(event, RecapReady)]
        assert recaps, self.logged
        assert recaps[0].source == "facts"
        return recaps[-1]

    def asked(self) -> list[str]:
        return [name for name, model in self.models.items() if model.requests]


@pytest.mark.parametrize(
    ("fast", "setting", "model", "asked"),
    [
        ("anthropic/claude-haiku-4-5", "auto", False, "anthropic/claude-haiku-4-5"),
        ("anthropic/claude-haiku-4-5", "off", False, ""),
        ("anthropic/claude-haiku-4-5", "off", True, "anthropic/claude-haiku-4-5"),
        ("openai/gpt-5-mini", "auto", False, ""),
        ("openai/gpt-5-mini", "auto", True, "openai/gpt-5-mini"),
        ("ollama/small", "auto", False, ""),
        ("ollama/small", "auto", True, "ollama/small"),
        ("ollama/small", "on", False, ""),
        ("none", "auto", False, ""),
        ("none", "auto", True, MAIN),
    ],
)
async def test_an_automatic_recap_goes_to_the_fast_model_of_the_sessions_provider_only(
    tmp_path: Path, fast: str, setting: str, model: bool, asked: str
) -> None:
    office = Office(tmp_path, fastModel=fast, recap={"model": setting})
    told = await office.recap(model=model)
    assert office.asked() == ([asked] if asked else [])
    assert told.source == ("model" if asked else "facts")
    assert told.text.startswith(WORDS) == bool(asked)
    assert told.why


async def test_what_was_written_is_not_paid_for_again(tmp_path: Path) -> None:
    first = Office(tmp_path, fastModel="anthropic/claude-haiku-4-5", recap={"model": "auto"})
    told = await first.recap(model=False, memory="Reports are plain text.")
    assert "Reports are plain text." in str(first.models["anthropic/claude-haiku-4-5"].requests[0].messages)
    again = Office(tmp_path, fastModel="anthropic/claude-haiku-4-5", recap={"model": "auto"})
    again.talk = first.talk
    assert (await again.recap(model=False)).text == told.text
    assert again.asked() == []


async def test_a_session_that_was_cut_off_is_not_told_as_working(tmp_path: Path) -> None:
    office = Office(tmp_path, fastModel="none")
    office.talk = Talk().user("Add a --json flag to report.py").call("Bash", command="make all")
    told = await office.recap(model=False)
    assert "interrupted" in told.text
    assert "working" not in told.text


async def test_why_is_kept_with_the_recap(tmp_path: Path) -> None:
    told = await Office(tmp_path, fastModel="openai/gpt-5-mini", recap={"model": "auto"}).recap(model=False)
    assert "another provider" in told.why
    placed = msgspec.structs.replace(told, entry_id=EntryId("e1"))
    (entry,) = entries_of(placed, Stamp(session_id=SessionId("s"), cwd="/p"))
    assert events_of(entry) == (placed,)


async def test_it_goes_to_the_provider_that_was_recorded_not_to_the_one_connected_now(tmp_path: Path) -> None:
    office = Office(tmp_path, fastModel="anthropic/claude-haiku-4-5")
    office.used("openai/gpt-5")
    told = await office.recap(model=False)
    assert office.asked() == []
    assert "another provider" in told.why


async def test_a_session_brought_from_another_agent_is_told_from_facts(tmp_path: Path) -> None:
    office = Office(tmp_path, fastModel="anthropic/claude-haiku-4-5")
    source = SessionSourceEntry(
        session_id=SessionId("s"), agent="codex", source_session="x", path="/x", at="", timestamp=""
    )
    office.talk.entries.insert(0, source)
    told = await office.recap(model=False)
    assert office.asked() == []
    assert "other agents" in told.why


async def test_by_default_the_fast_model_writes_and_that_is_told_once_with_the_cap(tmp_path: Path) -> None:
    first = Office(tmp_path)
    assert (await first.recap(model=False)).source == "model"
    (notice,) = [event for event in first.told if isinstance(event, Notice)]
    assert "a day" in notice.text
    assert "off" in notice.text
    assert all(model.closed for model in first.models.values())
    again = Office(tmp_path)
    again.talk.user("And a --csv flag").agent("report.py has a --csv flag too.").ended()
    again.used(MAIN)
    assert (await again.recap(model=False)).source == "model"
    assert not [event for event in again.told if isinstance(event, Notice)]


async def test_switched_off_side_queries_ask_nobody(tmp_path: Path) -> None:
    office = Office(tmp_path, sideQueries={"enabled": False})
    told = await office.recap(model=False)
    assert office.asked() == []
    assert told.source == "facts"
