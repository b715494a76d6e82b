"""The past a resumed session tells from: the whole file where it can be read again, else its tail and the receipt."""

from pathlib import Path

import pytest
from tests.engine.compaction.sessions import Session, Tireless, good

from clew.host import old_past as past_of_session
from clew.host.old_past import resumed
from clew.host.request import SessionRequest
from clew.orient.narrator import Narrator
from clew.protocol.event_kinds.context import CompactionEnded
from clew.protocol.events import TitleChanged
from clew.transcript.past.reader import load


async def worked(folder: Path) -> Session:
    """Work with results, a compaction, and a little more."""
    session = Session(folder)
    session.prompt("Make the importer resumable after a crash.")
    session.publish(TitleChanged(title="Importer", source="user"))
    for _ in range(3):
        session.call("Edit", {"file_path": "z_importer.py", "old_string": "a", "new_string": "b\nc\nd"})
    session.call("Edit", {"file_path": "a_reader.py", "old_string": "a", "new_string": "b"})
    session.call("Bash", {"command": "pytest -q"}, "7 passed in 0.1s")
    session.call(
        "Bash", {"command": "git commit -m 'Resume imports'"}, "[main 1a2b3c4] Resume imports\n 2 files changed"
    )
    session.reply("The importer resumes now.")
    session.turn_ended()
    session.filler(12)
    assert isinstance(await session.compact(Tireless(good)), CompactionEnded)
    session.prompt("tell me more about it")
    session.reply("The last module is plain code, as I said.")
    session.turn_ended()
    return session


def told(session: Session) -> tuple[list[str], str]:
    """The recap of a process that goes on with the session, and its title."""
    request = SessionRequest(cwd=session.path.parent, env={}, resume=str(session.path), persist=True)
    past = resumed(session.path, request)
    try:
        narrator = Narrator(log=lambda _: None)
        for entry in past.story():
            narrator.feed(entry)
        narrator.reopened()
        return narrator.factual().lines(), narrator.ledger().title
    finally:
        past.sink.close()


def live(session: Session) -> tuple[list[str], str]:
    """The recap of the process that was there from the beginning."""
    narrator = Narrator(log=lambda _: None)
    for entry in session.conversation.entries:
        narrator.feed(entry)
    return narrator.factual().lines(), narrator.ledger().title


async def test_a_resumed_session_tells_what_the_live_one_told(tmp_path: Path) -> None:
    session = await worked(tmp_path)
    assert not load(session.path).complete
    lines, title = live(session)
    assert told(session) == (lines, title)
    assert title == "Importer"
    changed = next(line for line in lines if line.startswith("Changed"))
    assert "z_importer.py, a_reader.py" in changed
    assert "7 passed" in changed
    assert "1a2b3c4" in changed


async def test_a_file_too_long_to_be_read_again_still_has_its_task_and_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await worked(tmp_path)
    monkeypatch.setattr(past_of_session, "MAX_STORY_BYTES", 1)
    lines, _ = told(session)
    assert any(line.startswith("Task: Make the importer resumable") for line in lines)
    assert any("z_importer.py" in line for line in lines)
