"""Sessions on disk for the tests of compaction: real entries, real file, real tail-first reading."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clew.engine.compaction.budgets import Budgets, budgets_for
from clew.engine.compaction.compact import CompactionInput, Told, compact
from clew.engine.compaction.live_state import FileLook, LiveState, RunningAgent, RunningShell, look_at
from clew.llm.model import Model
from clew.llm.request import ModelRequest
from clew.llm.scripted import ReplyOf, Say, ScriptedModel, ScriptedReply
from clew.protocol.entries import Entry, EventEntry
from clew.protocol.event_kinds.context import CompactionEnded, CompactionFailed, CompactionKind, ItemPinned, SectionKept
from clew.protocol.events import (
    ApprovalResolved,
    Event,
    PartCompleted,
    PromptAccepted,
    PromptOrigin,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import AgentId, CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.messages import Message, Part, TextPart, ToolCallPart, ToolResultPart, parts_of, text_of
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.view import view
from clew.transcript.log.codec import encode
from clew.transcript.log.stamp import Stamp
from clew.transcript.mapping.recording import entries_of
from clew.transcript.past.reader import load

SESSION = SessionId("5e55104e-0000-4000-8000-00000000c0de")


class _File:
    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, entry: Entry) -> bool:
        with self._path.open("ab") as file:
            file.write(encode(entry))
        return True


class Session:
    """A conversation that is written as the host writes it, and read again as a resume reads it."""

    def __init__(self, folder: Path, *, cwd: str = "/src/app", agent: str | None = None) -> None:
        self.path = folder / f"{SESSION}.jsonl"
        self.path.touch()
        self.stamp = Stamp(session_id=SESSION, cwd=cwd, agent_id=AgentId(agent) if agent else None)
        self._numbers = itertools.count(1)
        self._side = agent is not None
        self.conversation = Conversation(_File(self.path), session_id=SESSION, sidechain=self._side)

    def resume(self) -> None:
        """A new process: only what the view needs is read, from the end."""
        loaded = load(self.path, session_id=SESSION, sidechain=self._side)
        self.conversation = Conversation(
            _File(self.path),
            session_id=SESSION,
            entries=loaded.entries,
            chain=loaded.chain,
            leaf=loaded.leaf,
            sidechain=self._side,
        )

    def publish(self, event: Event) -> None:
        """Record an event."""
        for entry in entries_of(event, self.stamp):
            self.conversation.append(entry)

    def _id(self, letter: str) -> EntryId:
        return EntryId(f"{letter}{next(self._numbers):06d}-{SESSION[-4:]}")

    def prompt(self, text: str | tuple[Part, ...], *, origin: PromptOrigin = "user", hidden: bool = False) -> EntryId:
        uuid = self._id("u")
        leaf = self.conversation.leaf
        self.publish(PromptAccepted(entry_id=uuid, parent_id=leaf, content=text, origin=origin, hidden=hidden))
        return uuid

    def reply(self, *parts: Part | str) -> EntryId:
        reply_id = MessageId(self._id("m"))
        uuid = EntryId("")
        for number, part in enumerate(parts):
            uuid = self._id("a")
            whole = TextPart(text=part) if isinstance(part, str) else part
            self.publish(
                PartCompleted(
                    entry_id=uuid,
                    parent_id=self.conversation.leaf,
                    reply_id=reply_id,
                    part_number=number,
                    part=whole,
                    model="test/model",
                )
            )
        return uuid

    def call(
        self, name: str, arguments: dict[str, Any], output: str = "done", *, failed: bool = False, refused: bool = False
    ) -> CallId:
        call_id = CallId(self._id("c"))
        asked = self.reply(ToolCallPart(id=call_id, name=name, arguments=arguments))
        if refused:
            self.publish(
                ApprovalResolved(
                    request_id=RequestId(call_id),
                    call_id=call_id,
                    tool=name,
                    subject=str(next(iter(arguments.values()))),
                    decision="deny",
                )
            )
        result = ToolResultPart(call_id=call_id, content=output, is_error=failed or refused)
        self.publish(
            ToolEnded(
                entry_id=self._id("r"),
                parent_id=asked,
                name=name,
                result=result,
                duration_ms=1,
                refused=refused,
            )
        )
        return call_id

    def todos(self, *items: tuple[str, str]) -> None:
        todos = [{"content": content, "status": status} for content, status in items]
        self.call("TodoWrite", {"todos": todos}, "Task list saved.")

    def turn_ended(self) -> None:
        self.publish(TurnEnded(turn=1, reason="completed", steps=1, duration_ms=1))

    def pin(self, target: str, text: str | None = None, *, pinned: bool = True) -> None:
        self.publish(ItemPinned(target=target, text=target if text is None else text, pinned=pinned))

    def filler(self, rounds: int, words: int = 220) -> None:
        """Work: prompts, replies, calls with long outputs."""
        for _ in range(rounds):
            number = next(self._numbers)
            self.prompt(f"Look at module_{number}.py and tell what it does.")
            self.call("Read", {"file_path": f"src/module_{number}.py"}, f"def f_{number}(): pass\n" * (words // 4))
            self.reply(f"I read module_{number}.py: it defines f_{number}. " + "It is plain code. " * (words // 8))
            self.turn_ended()

    def past(self) -> CompactionInput:
        """As a compaction takes it."""
        conversation = self.conversation
        return CompactionInput(entries=list(conversation.entries), chain=conversation.chain(), leaf=conversation.leaf)

    async def compact(
        self,
        model: Model,
        *,
        window: int = 32_000,
        live: LiveState | None = None,
        focus: str = "",
        kind: CompactionKind = "auto",
        budgets: Budgets | None = None,
    ) -> CompactionEnded | CompactionFailed:
        """Run a compaction and record what it tells; what it came to."""
        last: Told | None = None
        async for event in compact(
            self.past(), model=model, budgets=budgets or budgets_for(window), kind=kind, live=live, focus=focus
        ):
            self.publish(event)
            last = event
        assert isinstance(last, CompactionEnded | CompactionFailed)
        self.assert_live_is_resumed()
        return last

    def assert_live_is_resumed(self) -> None:
        """What the model sees now is what it sees after a resume, and what all entries give."""
        live = self.conversation.messages()
        assert live == load(self.path, session_id=SESSION, sidechain=self._side).messages
        assert live == view(self.conversation.entries, session_id=SESSION, sidechain=self._side)

    @property
    def sections(self) -> list[SectionKept]:
        """The sections on record."""
        events = [entry.event for entry in self.conversation.entries if isinstance(entry, EventEntry)]
        return [event for event in events if isinstance(event, SectionKept)]

    @property
    def seen(self) -> str:
        """Everything that the model sees."""
        return "\n".join(words_of(message) for message in self.conversation.messages())


def words_of(message: Message) -> str:
    """All text of a message, results included."""
    found: list[str] = []
    for part in parts_of(message):
        if isinstance(part, ToolResultPart):
            found.append(part.content if isinstance(part.content, str) else text_of(part.content))
        elif isinstance(part, ToolCallPart):
            found.append(str(part.arguments))
        else:
            found.append(text_of((part,)))
    return "\n".join(found)


def summary_of(ended: CompactionEnded) -> str:
    """The words of a summary."""
    return text_of(ended.summary)


class Live:
    """What runs, as a test says."""

    def __init__(
        self,
        *,
        shells: Sequence[tuple[str, str]] = (),
        agents: Sequence[tuple[str, str]] = (),
        mode: str = "default",
        plan: str = "",
        root: Path | None = None,
        tools: Sequence[str] = (),
    ) -> None:
        self.shells = list(shells)
        self.agents = list(agents)
        self.permission_mode = mode
        self.plan = plan
        self.root = root
        self.tools = tools

    def running_shells(self) -> Sequence[RunningShell]:
        return [RunningShell(id=name, command=command) for name, command in self.shells]

    def running_agents(self) -> Sequence[RunningAgent]:
        return [RunningAgent(id=name, task=task) for name, task in self.agents]

    def discovered_tools(self) -> Sequence[str]:
        return self.tools

    async def read_file(self, path: str, max_tokens: int) -> FileLook:
        if self.root is None:
            return FileLook(state="gone")
        return look_at(path, cwd=str(self.root), roots=[str(self.root)], max_tokens=max_tokens)


class Tireless(ScriptedModel):
    """A summariser that answers every request in the same way, for as long as it is asked."""

    def __init__(self, answer: Callable[[ModelRequest], ScriptedReply] | str, **more: Any) -> None:
        super().__init__((), **more)
        self._answer = answer

    def _next(self, request: ModelRequest) -> Any:
        answer = self._answer
        self._script = [Say(answer) if isinstance(answer, str) else answer(request)]
        return super()._next(request)


def asked(request: ModelRequest) -> str:
    """What a summariser was given."""
    return "\n".join(words_of(message) for message in request.messages)


def good(request: ModelRequest) -> ScriptedReply:
    """A faithful record: it names the first file of the stretch."""
    text = asked(request)
    name = next((word.strip('",.:') for word in text.split() if "module_" in word and ".py" in word), "")
    line = f"- Read {name} and told what it does" if name else "- Looked at the code"
    return ReplyOf([Say(f"# Reading the modules\n## Done\n{line}\n## Learned\n- The code is plain")])
