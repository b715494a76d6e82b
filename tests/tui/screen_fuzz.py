"""A made-up session for the screen: random events as a host would send them, and its log, read back page by page."""

import random
from collections.abc import Iterator
from typing import Any

from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    BatchLabelled,
    DurableEvent,
    Event,
    PartCompleted,
    PromptAccepted,
    RecapReady,
    Recorded,
    ReplyWithdrawn,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId
from clew.protocol.lookups.base import Lookup
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.messages import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tui.screen_lab import AT, PATCH, PlayedClient, asks

WORDS = (
    "a plain line",
    "**bold** and `code`",
    "中文字符混合在一起",
    "👍 ok 👩\u200d👩\u200d👧 🇩🇪",
    "שלום עולם",
    "e\u0301a\u0308o",
    "▌ not the person's",
    "\x1b[2J\x1b]0;title\x07gone",
    "averyveryverylongwordthatfitsnowhere" * 3,
    "# Head",
    "- one\n- two\n  - three",
    "```python\ndef f(x):\n    return x\n```",
    "| a | b |\n|---|---|\n| 1 | 数据 |",
    "> quoted\n> twice",
    "1. first\n2. second",
    "[docs](https://example.org/x)",
    "\ttab\tand\ttab",
    "---",
)


class MadeUpSession:
    """Makes events one by one. What is durable is kept, and can be asked for as a host would give it."""

    def __init__(self, luck: random.Random) -> None:
        self._luck = luck
        self.log: list[Recorded] = []
        self._count = 0

    def words(self) -> str:
        """Some text as models write it."""
        return "\n\n".join(self._luck.choice(WORDS) for _ in range(self._luck.randint(1, 6)))

    def written(self, event: Event) -> Event:
        """The same event, kept if it is durable."""
        if isinstance(event, DurableEvent):
            self.log.append(Recorded(at=AT, event=event))
        return event

    def _entry(self) -> EntryId:
        self._count += 1
        return EntryId(f"e{self._count}")

    def turn(self, number: int) -> Iterator[Event]:
        """The events of one turn, from its prompt to its end; a shell of the person or a recap may follow."""
        luck = self._luck
        yield TurnStarted(turn=number)
        yield self._prompt()
        for step in range(luck.randint(1, 3)):
            reply = MessageId(f"t{number}s{step}")
            if luck.random() < 0.15:
                yield from self._withdrawn(MessageId(f"{reply}x"))
            yield from self._reply(reply)
            yield AttemptEnded(reply_id=reply, step=step, model="m", outcome="completed")
            if luck.random() < 0.2:
                yield self._prompt(queued=True)
        reason = luck.choice(("completed", "completed", "interrupted", "model_error"))
        error = "the server\nwas not there" if reason == "model_error" else ""
        yield TurnEnded(turn=number, reason=reason, steps=2, duration_ms=luck.randint(0, 99_999), error=error)
        if luck.random() < 0.3:
            yield from self._shell()
        if luck.random() < 0.2:
            yield RecapReady(
                text=luck.choice(WORDS), away=luck.choice(("", "one file changed")), entry_id=self._entry()
            )

    def _prompt(self, *, queued: bool = False) -> PromptAccepted:
        return PromptAccepted(entry_id=self._entry(), parent_id=None, content=self.words(), queued=queued)

    def _part(self, reply: MessageId, number: int, part: Part) -> PartCompleted:
        return PartCompleted(
            entry_id=self._entry(), parent_id=None, reply_id=reply, part_number=number, model="m", part=part
        )

    def _withdrawn(self, reply: MessageId) -> Iterator[Event]:
        yield from self._said(reply, 0, self.words())
        part = self._part(reply, 1, TextPart(text="void"))
        yield part
        yield TextDelta(reply_id=reply, part=2, text="half a")
        yield ReplyWithdrawn(reply_id=reply, entry_ids=(part.entry_id,), reason="cut", words="void")

    def _said(self, reply: MessageId, number: int, text: str) -> Iterator[Event]:
        at = 0
        while at < len(text):
            size = self._luck.randint(1, 40)
            yield TextDelta(reply_id=reply, part=number, text=text[at : at + size])
            at += size

    def _reply(self, reply: MessageId) -> Iterator[Event]:
        luck = self._luck
        number = 0
        if luck.random() < 0.3:
            yield self._part(reply, number, ReasoningPart(text=self.words()))
            number += 1
        if luck.random() < 0.8:
            text = self.words()
            yield from self._said(reply, number, text)
            yield self._part(reply, number, TextPart(text=text))
            number += 1
        calls: list[PartCompleted] = []
        for _ in range(luck.choice((0, 1, 1, 2, 4))):
            self._count += 1
            name = luck.choice(("Bash", "Edit", "Read"))
            call = ToolCallPart(id=CallId(f"c{self._count}"), name=name, arguments=_arguments(name, luck))
            calls.append(self._part(reply, number, call))
            number += 1
            yield calls[-1]
        luck.shuffle(calls)
        for part in calls:
            yield from self._run(part)
        if calls and luck.random() < 0.3:
            ids = tuple(part.part.id for part in calls if isinstance(part.part, ToolCallPart))
            yield BatchLabelled(call_ids=ids, label=luck.choice(WORDS))

    def _run(self, part: PartCompleted) -> Iterator[Event]:
        luck, call = self._luck, part.part
        assert isinstance(call, ToolCallPart)
        refused = False
        if luck.random() < 0.2:
            number = self._count = self._count + 1
            yield asks(call.name, "the subject", call.id, number)
            refused = luck.random() < 0.4
            yield ApprovalResolved(
                request_id=RequestId(f"ask-{number}"),
                call_id=call.id,
                tool=call.name,
                subject="the subject",
                decision="deny" if refused else "allow",
            )
        if not refused:
            yield ToolStarted(call=call)
            for _ in range(luck.randint(0, 3)):
                yield ToolProgress(call_id=call.id, text=luck.choice(WORDS) + "\n")
        failed = luck.random() < 0.25
        output = "\n".join(luck.choice(WORDS) for _ in range(luck.choice((0, 1, 5, 40))))
        yield ToolEnded(
            entry_id=self._entry(),
            parent_id=part.entry_id,
            name=call.name,
            result=ToolResultPart(call_id=call.id, content=output, is_error=failed or refused),
            display=() if refused else (_block(call, output, failed=failed),),
            duration_ms=luck.randint(0, 5_000),
            refused=refused,
        )

    def _shell(self) -> Iterator[Event]:
        request = RequestId(f"sh{self._count}")
        yield ShellStarted(request_id=request, command="make all")
        yield ShellProgress(request_id=request, text="half\n")
        output = "\n".join(self._luck.choice(WORDS) for _ in range(self._luck.choice((0, 3, 30))))
        yield ShellEnded(
            request_id=request,
            entry_id=self._entry(),
            parent_id=None,
            command="make all",
            output=output,
            exit_code=self._luck.choice((0, 1, None)),
        )

    def page(self, before: EntryId | None, limit: int) -> tuple[tuple[Recorded, ...], EntryId | None]:
        """As the scrollback gives it: it never begins within a reply."""
        end = len(self.log)
        if before is not None:
            end = next(at for at, item in enumerate(self.log) if getattr(item.event, "entry_id", "") == before)
        begin = end - limit
        while begin > 0 and not isinstance(self.log[begin].event, PromptAccepted):
            begin -= 1
        if begin <= 0:
            return tuple(self.log[:end]), None
        first = self.log[begin].event
        assert isinstance(first, PromptAccepted)
        return tuple(self.log[begin:end]), first.entry_id


class RememberingClient(PlayedClient):
    """Answers for the past from the log of a made-up session."""

    def __init__(self, session: MadeUpSession) -> None:
        super().__init__()
        self._session = session

    def looked_up(self, lookup: Lookup[Any]) -> None:
        super().looked_up(lookup)
        if isinstance(lookup, LoadHistory):
            events, before = self._session.page(lookup.before, min(lookup.limit, 12))
            self.tell(HistoryLoaded(events=events, before=before))


def _arguments(name: str, luck: random.Random) -> dict[str, Any]:
    if name == "Bash":
        return {"command": luck.choice(("ls -la", "pytest -q\necho done", "printf '中文 👍'"))}
    return {"file_path": luck.choice(("/work/parcels/weights.py", "/work/parcels/数据\n.txt", "/etc/hosts"))}


def _block(call: ToolCallPart, output: str, *, failed: bool) -> Any:
    if call.name == "Edit":
        return DiffBlock(path=call.arguments["file_path"], patch=PATCH, added=1, removed=1)
    return TerminalBlock(command=call.arguments.get("command", "x"), output=output, exit_code=1 if failed else 0)
