"""Undo in a running session: real tools change real files, ops take that back, nobody's edit is lost."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clew.agents.runner import LookAtEnd
from clew.agents.undo_hook import UndoHook
from clew.engine.ports import Ask
from clew.llm.scripted import Call, ReplyOf, Say, ScriptedModel, ScriptItem, Wait
from clew.parts.undo.part import BUSY, UndoPart
from clew.protocol.events import (
    Notice,
    OpRejected,
    QuestionAnswered,
    QuestionAsked,
    Rewound,
    SessionStarted,
    ToolProgress,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, CallId, EntryId
from clew.protocol.lookups.session import PreviewRewind, PreviewUndo
from clew.protocol.ops import AnswerQuestion, Close, Interrupt, Redo, Rewind, SubmitPrompt, Undo
from clew.tools.base import ToolContext
from clew.tools.registry import builtin_tools
from clew.tools.session import ToolSession
from clew.transcript.chain.view import view
from clew.transcript.past.reader import load
from clew.undo import restore
from engine.harness import SESSION, TestHost
from unit.host.room import Front, furnished


class Host(TestHost):
    """Allows everything; calls start in the project, as in a session."""

    def __init__(self, tools: ToolSession, hook: UndoHook) -> None:
        super().__init__(hooks=(hook.of(MAIN_AGENT, tools),))
        self._tools = tools

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        return ToolContext(call_id=call_id, cwd=self._tools.cwd, progress=progress, ask=ask)


class Place:
    """A project, a session in it, and the front end that talks to it."""

    def __init__(self, base: Path, script: Sequence[ScriptItem], *, home: Path | None = None) -> None:
        self.project = base / "project"
        self.project.mkdir(exist_ok=True)
        self.path = base / "home" / "projects" / "p" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.model = ScriptedModel(script)
        self.tools = ToolSession(cwd=str(self.project))
        self.hook = UndoHook(home=home or base / "home", transcript=self.path, roots=self.tools.roots)
        self.door = furnished(
            self.model,
            path=self.path,
            past=load(self.path, session_id=SESSION).entries if self.path.exists() else (),
            tools=builtin_tools(self.tools),
            host=Host(self.tools, self.hook),
            middlewares=[LookAtEnd(self.hook.look_at_end)],
            parts=[UndoPart()],
            toolbox=SimpleNamespace(undo=self.hook, session=self.tools, permits=None),
        )
        self.hook.attach(self.door.session)
        self.front = Front(self.door)
        self.turns = self.restores = 0

    async def say(self, text: str) -> None:
        """A whole turn."""
        self.turns += 1
        await self.front.submit(SubmitPrompt(content=text))
        await self.front.until(TurnEnded, self.turns)

    async def go(self, op: Undo | Redo | Rewind) -> Rewound:
        self.restores += 1
        await self.front.submit(op)
        return await self.front.until(Rewound, self.restores)

    async def answer(self, choice: str) -> None:
        """To the newest question."""
        asked: QuestionAsked = await self.front.until(QuestionAsked, len(self.front.of(QuestionAnswered)) + 1)
        await self.front.submit(AnswerQuestion(request_id=asked.request_id, answers=((choice,),)))

    async def refused(self, op: Undo | Redo | Rewind) -> str:
        before = len(self.front.of(OpRejected))
        await self.front.submit(op)
        told: OpRejected = await self.front.until(OpRejected, before + 1)
        return told.reason

    def file(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def seen(self) -> dict[str, str]:
        return {str(p.relative_to(self.project)): p.read_text() for p in self.project.rglob("*") if p.is_file()}

    def undo_notices(self) -> list[str]:
        return [note.text for note in self.front.of(Notice) if note.code == "undo"]

    def spoken(self) -> tuple[Any, ...]:
        """What the next request holds; the file says the same to whoever opens it."""
        held = self.door.session.journal.main.conversation.messages()
        loaded = load(self.path, session_id=SESSION)
        assert view(loaded.entries, session_id=SESSION) == held
        return held


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
        await place.hook.close()


def bash(command: str, **more: Any) -> Call:
    return Call("Bash", {"command": command, **more})


async def test_edits_and_a_destructive_command_are_undone_and_redone(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    a = tmp_path / "project" / "a.py"
    script = (
        Call("Read", {"file_path": str(a)}),
        Call("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "two"}),
        Call("Write", {"file_path": str(tmp_path / "project/new/b.py"), "content": "b\n"}),
        bash("rm -rf src && echo over > kept.txt"),
        Say("done"),
    )
    a.write_text("one\n")
    async with opened(tmp_path, *script) as place:
        place.file("src/deep/x.txt", "precious")
        place.file("kept.txt", "old")
        before = place.seen()
        await place.say("break it")
        after = place.seen()
        assert "src/deep/x.txt" not in after
        assert after["kept.txt"] == "over\n"
        assert after["new/b.py"] == "b\n"
        told = await place.go(Undo())
        assert place.seen() == before
        assert not (place.project / "new").exists()
        assert (told.direction, told.scope, told.to) == ("undo", "files", None)
        assert not any(item.conflict for item in told.files)
        assert {"call_3", "call_4"} <= set(told.call_ids)
        assert "nothing to undo" in await place.refused(Undo())
        await place.front.submit(Redo())
        await place.answer("Delete them")
        place.restores += 1
        told = await place.front.until(Rewound, place.restores)
        assert {Path(item.path).name: item.did for item in told.files}["b.py"] == "restored"
        assert place.seen() == after
        await place.go(Undo())
        assert place.seen() == before


async def test_a_redo_that_deletes_asks_and_a_no_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm a.txt; echo 2 > b.txt"), Say("done")) as place:
        place.file("a.txt", "a")
        place.file("b.txt", "b")
        await place.say("go")
        told = await place.go(Undo())
        assert {Path(item.path).name: item.did for item in told.files} == {"a.txt": "restored", "b.txt": "changed"}
        await place.front.submit(Redo())
        asked: QuestionAsked = await place.front.until(QuestionAsked)
        assert asked.questions[0].question.endswith("a.txt. Do it?")
        assert BUSY in await place.refused(Undo())
        await place.answer("Leave everything as it is")
        await place.front.until(QuestionAnswered)
        assert "nothing to undo" in await place.refused(Undo())
        assert place.seen() == {"a.txt": "a", "b.txt": "b"}
        assert not place.door.session.journal.main.state.waiting
        await place.front.submit(Redo())
        await place.front.until(QuestionAsked, 2)
    assert [item.by for item in place.front.of(QuestionAnswered)] == ["user", "interrupt"], "the session ended"
    assert place.seen() == {"a.txt": "a", "b.txt": "b"}


async def test_calls_of_one_reply_are_kept_one_after_the_other(tmp_path: Path) -> None:
    """The second is kept when the first is done: what the first did while the second waited is not somebody's edit."""
    calls = ReplyOf([bash("sleep 0.1; echo 1 > one.txt"), bash("echo 2 > one.txt; echo 2 > two.txt")])
    async with opened(tmp_path, calls, Say("done")) as place:
        place.file("one.txt", "0")
        await place.say("go")
        assert place.seen() == {"one.txt": "2\n", "two.txt": "2\n"}
        await place.go(Undo())
        assert place.seen() == {"one.txt": "0"}


async def test_an_edit_of_the_user_is_left_alone_without_force(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("echo agent | tee a.txt b.txt"), Say("done")) as place:
        place.file("a.txt", "first a")
        place.file("b.txt", "first b")
        await place.say("go")
        place.file("a.txt", "mine")
        told = await place.go(Undo())
        assert place.seen() == {"a.txt": "mine", "b.txt": "first b"}
        assert [Path(item.path).name for item in told.files if item.conflict] == ["a.txt"]
        await place.go(Undo(force=True))
        assert place.seen()["a.txt"] == "first a"
        await place.go(Redo())
        assert place.seen()["a.txt"] == "mine"


async def test_a_preview_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("echo new > a.txt"), Say("done")) as place:
        place.file("a.txt", "old\n")
        await place.say("go")
        size = place.path.stat().st_size
        told = await place.front.look_up(PreviewUndo())
        assert [item.patch.splitlines()[-2:] for item in told.files] == [["-new", "+old"]]
        told = await place.front.look_up(PreviewRewind(to=EntryId("1")))
        assert told.prompts == ("1  go",)
        assert place.seen() == {"a.txt": "new\n"}
        assert place.path.stat().st_size == size
        assert not place.front.of(Rewound)


async def test_a_rewind_takes_files_and_conversation_back_and_redo_brings_both_again(tmp_path: Path) -> None:
    script = (Say("hello"), bash("echo 2 > a.txt"), Say("two"), bash("echo 3 > a.txt"), Say("three"), Say("four"))
    async with opened(tmp_path, *script) as place:
        place.file("a.txt", "1")
        await place.say("first")
        before = place.spoken()
        await place.say("second")
        await place.say("third")
        whole = place.spoken()
        await place.go(Rewind(to=EntryId("2")))
        assert place.seen() == {"a.txt": "1"}
        assert place.spoken() == before
        told = await place.go(Redo())
        assert (told.direction, told.scope) == ("redo", "both")
        assert place.seen() == {"a.txt": "3\n"}
        assert place.spoken() == whole
        await place.go(Rewind(to=EntryId("2"), scope="conversation"))
        assert place.seen() == {"a.txt": "3\n"}
        await place.say("instead")
        sent = place.model.requests[-1].messages
        assert sent[: len(before)] == before
        assert len(sent) == len(before) + 1
        assert place.spoken()[: len(sent)] == sent


async def test_a_rewind_before_the_first_prompt_leaves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("echo 2 > a.txt"), Say("two"), Say("again")) as place:
        place.file("a.txt", "1")
        await place.say("first")
        await place.go(Rewind(to=EntryId("1")))
        assert place.seen() == {"a.txt": "1"}
        assert place.spoken() == ()
        await place.say("anew")
        assert len(place.model.requests[-1].messages) == 1
        assert len(place.spoken()) == 2


async def test_the_files_of_a_named_moment_only(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("echo 2 | tee a.txt b.txt"), Say("two")) as place:
        place.file("a.txt", "1")
        place.file("b.txt", "1")
        await place.say("first")
        held = place.spoken()
        await place.go(Rewind(to=EntryId("1"), scope="files", only=(str(place.project / "a.txt"),)))
        assert place.seen() == {"a.txt": "1", "b.txt": "2\n"}
        assert place.spoken() == held


async def test_names_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    async with opened(tmp_path, Say("hello")) as place:
        assert "nothing to undo" in await place.refused(Undo())
        assert "nothing to redo" in await place.refused(Redo())
        await place.say("hi")
        assert "no turn 7" in await place.refused(Rewind(to=EntryId("7")))
        assert "zzzzzz" in await place.refused(Rewind(to=EntryId("zzzzzz")))
        assert "name the prompt" in await place.refused(Rewind(to=EntryId("")))
        assert "no file changed" in await place.refused(Rewind(to=EntryId("1"), scope="files"))
        assert not place.front.of(Rewound)


@pytest.mark.parametrize("op", [Undo(), Redo(), Rewind(to=EntryId("1"))], ids=["undo", "redo", "rewind"])
async def test_nothing_is_taken_back_while_a_turn_runs(tmp_path: Path, op: Undo | Redo | Rewind) -> None:
    held, reached = asyncio.Event(), asyncio.Event()
    script = (bash("echo 2 > a.txt"), ReplyOf([Wait(held, reached), Say("two")]))
    async with opened(tmp_path, *script) as place:
        place.file("a.txt", "1")
        await place.front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        assert "at work" in await place.refused(op)
        assert place.seen() == {"a.txt": "2\n"}
        held.set()
        await place.front.until(TurnEnded)


async def test_an_interrupted_command_can_be_undone(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm a.txt; echo began; sleep 60"), Say("never")) as place:
        place.file("a.txt", "precious")
        await place.front.submit(SubmitPrompt(content="go"))
        await place.front.until(ToolProgress)
        await place.front.submit(Interrupt())
        await place.front.until(TurnEnded)
        await place.go(Undo())
        assert place.seen() == {"a.txt": "precious"}


async def test_a_background_command_is_kept_when_it_is_looked_at(tmp_path: Path) -> None:
    held, reached = asyncio.Event(), asyncio.Event()
    start = bash("read line < ../go; rm a.txt; echo gone > ../done", run_in_background=True)
    look = ReplyOf([Wait(held, reached), Call("BashOutput", {"bash_id": "bash_1"})])
    for name in ("go", "done"):
        os.mkfifo(tmp_path / name)
    async with opened(tmp_path, start, look, Say("done")) as place:
        place.file("a.txt", "precious")
        await place.front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await asyncio.to_thread((tmp_path / "done").read_text)
        held.set()
        await place.front.until(TurnEnded)
        assert "a.txt" not in place.seen()
        await place.go(Undo())
        assert place.seen()["a.txt"] == "precious"


async def until_ended(place: Place, shell_id: str = "bash_1") -> None:
    """The background command is over, and whoever wanted to hear of it has."""
    shell = place.tools.shells.background[shell_id]
    assert shell.task is not None
    await asyncio.wait({shell.task})
    await asyncio.sleep(0)


async def test_a_background_command_is_kept_when_it_ends_although_nobody_looks(tmp_path: Path) -> None:
    held, reached = asyncio.Event(), asyncio.Event()
    start = bash("read line < ../go; rm a.txt", run_in_background=True)
    os.mkfifo(tmp_path / "go")
    async with opened(tmp_path, start, ReplyOf([Wait(held, reached), bash("echo 1 > b.txt")]), Say("done")) as place:
        place.file("a.txt", "precious")
        await place.front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await until_ended(place)
        held.set()
        await place.front.until(TurnEnded)
        await place.go(Undo())
        assert place.seen() == {"a.txt": "precious"}


async def test_what_runs_in_the_background_is_kept_when_the_turn_ends(tmp_path: Path) -> None:
    for name in ("done", "go"):
        os.mkfifo(tmp_path / name)
    start = bash("rm a.txt; echo gone > ../done; read line < ../go", run_in_background=True)
    held, reached = asyncio.Event(), asyncio.Event()
    async with opened(tmp_path, start, ReplyOf([Wait(held, reached), Say("started")])) as place:
        place.file("a.txt", "precious")
        await place.front.submit(SubmitPrompt(content="go"))
        await asyncio.to_thread((tmp_path / "done").read_text)
        held.set()
        await place.front.until(TurnEnded)
        await place.go(Undo())
        assert place.seen() == {"a.txt": "precious"}
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")


async def test_an_edit_between_turns_is_never_taken_for_a_background_commands(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    start = bash("rm a.txt; read line < ../go; echo late > late.txt", run_in_background=True)
    async with opened(tmp_path, bash("echo agent > mine.txt"), start, Say("started")) as place:
        place.file("a.txt", "precious")
        mine = place.file("mine.txt", "old")
        await place.say("go")
        mine.write_text("my own words")
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await until_ended(place)
        told = await place.go(Undo())
        assert mine.read_text() == "my own words"
        assert [item.path for item in told.files if item.conflict] == [str(mine)]
        assert (place.project / "late.txt").exists(), "nobody knows whose it is"


async def test_a_large_restore_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "PROGRESS_EVERY", 10)
    async with opened(tmp_path, bash("rm -r many"), Say("gone")) as place:
        for number in range(35):
            place.file(f"many/{number}.txt", "x")
        before = place.seen()
        await place.say("go")
        await place.go(Undo())
        assert place.seen() == before
        told = [text for text in place.undo_notices() if text.startswith("restoring files")]
        assert told[0] == "restoring files: 10 of 36"
        assert len(told) >= 3


async def test_undo_works_after_a_resume(tmp_path: Path) -> None:
    async with opened(tmp_path, bash("rm a.txt"), Say("gone")) as place:
        place.file("a.txt", "precious")
        await place.say("go")
    async with opened(tmp_path, Say("hello")) as place:
        await place.go(Undo())
        assert place.seen() == {"a.txt": "precious"}


async def test_a_home_that_cannot_be_written_is_told_once_and_stops_no_call(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no directory")
    script = (bash("echo 1 > a.txt"), bash("echo 2 > a.txt"), Say("done"))
    async with opened(tmp_path, *script, home=blocked) as place:
        await place.say("go")
        assert place.seen() == {"a.txt": "2\n"}
        assert len(place.undo_notices()) == 1


async def test_a_file_outside_is_told_once_in_a_turn(tmp_path: Path) -> None:
    outside = [Call("Write", {"file_path": str(tmp_path / f"{name}.txt"), "content": "x"}) for name in "ab"]
    async with opened(tmp_path, *outside, Say("done"), outside[0], Say("done")) as place:
        await place.say("go")
        assert len([text for text in place.undo_notices() if "outside" in text]) == 1
        (tmp_path / "a.txt").unlink()
        await place.say("go")
        assert len([text for text in place.undo_notices() if "outside" in text]) == 2


async def test_words_alone_keep_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, Say("hello")) as place:
        await place.say("hi")
    assert not (tmp_path / "home" / "undo").exists()
