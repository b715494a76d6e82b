"""Permissions and undo in a running session: what is kept runs, what is not asks first, and both are told."""

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clew.agents.toolbox import NOTHING_KEPT, SessionTools, open_tools
from clew.host.workspace import open_workspace, remember_trust
from clew.llm.scripted import Call, Say, ScriptedModel, ScriptItem
from clew.parts.undo.part import UndoPart
from clew.permissions.access import FileAccess, Mode, ShellAccess
from clew.presentation.story.passages import TurnPassage
from clew.presentation.story.story import Story
from clew.presentation.story.telling import told
from clew.protocol.display import ChangesBlock
from clew.protocol.events import ApprovalRequested, Notice, Rewound, SessionStarted, ToolEnded, TurnEnded
from clew.protocol.messages import result_text
from clew.protocol.ops import AnswerApproval, Close, SubmitPrompt, Undo
from clew.tools.registry import builtin_tools
from clew.undo.limits import UndoLimits
from clew.undo.scan import Scanner
from engine.harness import SESSION
from unit.host.room import Front, furnished

MIB = 1024 * 1024


class Place:
    """A project with real permissions, real tools and real undo; no sandbox, so that only rules and mode decide."""

    def __init__(self, base: Path, script: Sequence[ScriptItem], *, mode: Mode, kept: bool = True) -> None:
        self.project = base / "project"
        self.project.mkdir(exist_ok=True)
        transcript = base / "home" / ".clew" / "projects" / "p" / f"{SESSION}.jsonl"
        transcript.parent.mkdir(parents=True, exist_ok=True)
        home = base / "home"
        env = {"HOME": str(home), "CLEW_HOME": str(home / ".clew"), "PATH": "/usr/bin:/bin"}
        flags = {"sandbox.mode": "off", "permissionMode": mode}
        remember_trust(home / ".clew", self.project)
        workspace = open_workspace(self.project, env, flags=flags)
        toolbox = open_tools(SessionTools(workspace, None, transcript if kept else None))
        self.tools, self.hook, self.host = toolbox.session, toolbox.undo, toolbox.host
        door = furnished(
            ScriptedModel(script),
            path=transcript,
            tools=builtin_tools(self.tools),
            host=self.host,  # pyright: ignore
            parts=[UndoPart()],
            toolbox=toolbox,
            permits=toolbox.permits,
        )
        if self.hook:
            self.hook.attach(door.session)
        self.front = Front(door)

    async def say(self, *answers: bool) -> tuple[list[ApprovalRequested], str]:
        """A whole turn, its questions answered in order; what was asked, and the turn's line."""
        await self.front.submit(SubmitPrompt(content="go"))
        for number, answer in enumerate(answers, 1):
            asked = await self.front.until(ApprovalRequested, number)
            decision = "allow" if answer else "deny"
            await self.front.submit(AnswerApproval(request_id=asked.request_id, decision=decision))
        ended = await self.front.until(TurnEnded)
        story = Story()
        for envelope in self.front.seen:
            story = told(envelope, story)
            if envelope.event is ended:
                break
        line = story.past[-1]
        assert isinstance(line, TurnPassage)
        return self.front.of(ApprovalRequested), line.done

    def file(self, name: str, content: str | bytes = "x\n") -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@asynccontextmanager
async def opened(base: Path, *script: ScriptItem, **more: Any) -> AsyncIterator[Place]:
    place = Place(base, script, **more)
    await place.front.until(SessionStarted)
    try:
        yield place
    finally:
        await place.front.submit(Close())
        await place.front.task
        await place.tools.close()
        if place.hook:
            await place.hook.close()


def bash(command: str) -> Call:
    return Call("Bash", {"command": command})


async def test_what_is_kept_runs_unasked_and_the_turn_names_it(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm -r src && rm a.txt"), Say("done"), mode="acceptEdits") as place:
        for name in ("src/one.py", "src/deep/two.py", "a.txt"):
            place.file(name)
        asked, line = await place.say()
        assert asked == []
        assert not (place.project / "src").exists()
        assert "3 files deleted (/undo brings them back)" in line
        (block,) = [block for block in place.front.of(ToolEnded)[0].display if isinstance(block, ChangesBlock)]
        assert (block.deleted, block.changed, block.created, block.lost) == (3, 0, 0, ())
        assert str(place.project / "a.txt") in block.gone
        await place.front.submit(Undo())
        await place.front.until(Rewound)
        assert (place.project / "src/deep/two.py").read_text() == "x\n"


async def test_a_file_over_the_cap_asks_first_and_a_no_keeps_it(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm big.bin"), Say("done"), mode="acceptEdits") as place:
        big = place.file("big.bin", b"\0" * (9 * MIB))
        (asked,), line = await place.say(False)
        assert "could not be undone" in asked.why
        assert "larger than 8 MB" in asked.why
        assert big.exists()
        assert "deleted" not in line


async def test_what_was_let_through_without_being_kept_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm big.bin"), Say("done"), mode="acceptEdits") as place:
        big = place.file("big.bin", b"\0" * (9 * MIB))
        _, line = await place.say(True)
        assert not big.exists()
        assert "1 effect cannot be undone" in line
        assert "brings them back" not in line
        (ended,) = place.front.of(ToolEnded)
        assert "This cannot be undone: " in result_text(ended.result)
        assert "big.bin" in result_text(ended.result)
        assert any("big.bin" in note.text for note in place.front.of(Notice) if note.code == "undo")


async def test_a_large_file_in_an_ignored_directory_asks(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm -r cache"), Say("done"), mode="acceptEdits") as place:
        place.file(".gitignore", "cache\n")
        place.file("cache/model.bin", b"\0" * (2 * MIB))
        (asked,), _ = await place.say(False)
        assert "larger than 1 MB" in asked.why


async def test_a_nested_repository_is_history_that_is_not_kept(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm -r vendor"), Say("done"), mode="acceptEdits") as place:
        place.file("vendor/lib/x.py")
        (place.project / "vendor/lib/.git").mkdir()
        (asked,), _ = await place.say(False)
        assert "history" in asked.why


async def test_before_the_first_scan_is_done_deletion_asks(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("clew.agents.undo_hook.SCAN_WAIT_S", 0.01)
    hold, walk = threading.Event(), Scanner.walk
    monkeypatch.setattr(Scanner, "walk", lambda self, progress: (hold.wait(60), walk(self, progress))[1])
    async with opened(tmp_path, bash("rm a.txt"), Say("done"), mode="acceptEdits") as place:
        place.file("a.txt")
        (asked,), _ = await place.say(False)
        assert "not done yet" in asked.why
        hold.set()


async def test_a_session_that_keeps_nothing_asks(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm a.txt"), Say("done"), mode="acceptEdits", kept=False) as place:
        place.file("a.txt")
        (asked,), _ = await place.say(False)
        assert NOTHING_KEPT in asked.why


async def test_bypass_asks_for_none_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm big.bin"), Say("done"), mode="bypassPermissions") as place:
        place.file("big.bin", b"\0" * (9 * MIB))
        asked, line = await place.say()
        assert asked == []
        assert "1 effect cannot be undone" in line


async def test_a_file_tool_that_overwrites_what_is_too_large_asks(tmp_path: Path) -> None:
    async with opened(tmp_path, Say("done"), mode="acceptEdits") as place:
        small, big = place.file("small.txt"), place.file("big.txt", "x" * (9 * MIB))
        for path, decision in ((small, "allow"), (big, "ask"), (place.project / "new.txt", "allow")):
            verdict = await place.host.judge((FileAccess(op="write", path=str(path), cwd=str(place.project)),))
            assert verdict.decision == decision, verdict.why


async def test_what_a_person_did_just_before_counts(tmp_path: Path) -> None:
    """The tree is looked at again when the question comes up, so a file that grew in between is seen."""
    async with opened(tmp_path, Say("done"), mode="acceptEdits") as place:
        path = place.file("a.txt")
        access = ShellAccess(command="rm a.txt", cwd=str(place.project))
        assert (await place.host.judge((access,))).decision == "allow"
        path.write_bytes(b"\0" * (UndoLimits().max_file_bytes + 1))
        assert (await place.host.judge((access,))).decision == "ask"
