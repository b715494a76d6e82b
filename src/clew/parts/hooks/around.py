"""Hooks around calls and turns: before and after each call, at the start of a session, before a prompt joins and
before a turn ends."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.undo_hook import UndoHook
from clew.engine.calls import CANCEL_TEXT
from clew.engine.middleware.base import Middleware
from clew.engine.ports import CallChange
from clew.engine.turn import Prompt, PromptWord, Turn, TurnStopped
from clew.hooks.answers import HookVerdict
from clew.host.session import Session
from clew.parts.hooks.session_hooks import SessionHooks
from clew.protocol.display import TerminalBlock
from clew.protocol.events import (
    CompactionEnded,
    Event,
    Notice,
    TitleChanged,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart, result_text, text_of
from clew.tools.base import Tool, ToolResult

MAX_RESPONSE_CHARS = 200_000


class Words(Struct):
    """What hooks had to say about one call, apart from the verdict."""

    context: list[str]
    stop: str | None = None


class CallHooks(Middleware):
    """Around every call. What a hook does to files after one that may have changed some belongs to the turn too."""

    stage = 2

    def __init__(self, hooks: SessionHooks, kind: Callable[[], str] = lambda: "") -> None:
        """`kind`: of the agent whose calls they are."""
        self._hooks = hooks
        self._kind = kind
        self._undo: UndoHook | None = None
        self._started: dict[CallId, ToolCallPart] = {}
        self._effectful: set[CallId] = set()
        self._finished: set[CallId] = set()
        """Of the calls that run: those whose hooks were asked afterwards, or need not be."""
        self._words: dict[CallId, Words] = {}

    def start(self, undo: UndoHook | None) -> "CallHooks":
        """Belong to a session; `undo` keeps its files."""
        self._undo = undo
        return self

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """What is changed here is what is judged, shown and run."""
        verdict = await self._ask("PreToolUse", call, {})
        if verdict.stop is not None:
            return CallChange(refused=f"a hook ended the turn: {verdict.stop}", hook=verdict.hook)
        if verdict.leaning == "deny":
            return CallChange(refused=verdict.reason, hook=verdict.hook)
        if not verdict.leaning and verdict.arguments is None:
            return None
        return CallChange(
            arguments=verdict.arguments,
            leaning=verdict.leaning,
            reason=verdict.reason,
            hook=verdict.hook or verdict.changed_by,
        )

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """Only for those with an effect, which is worth knowing afterwards."""
        self._effectful.add(call.id)
        yield

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """Nothing is added."""
        return result

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """The result stays the tool's, unless a hook puts another in its place or has to say something about it."""
        moment = "PostToolUseFailure" if result.is_error else "PostToolUse"
        self._finished.add(call.id)
        if not self._hooks.listens(moment, self._kind()):
            return result
        fields: dict[str, Any] = {"tool_response": response(with_whole_paths(call.arguments, self._hooks.cwd), result)}
        if result.is_error:
            fields = {"error": result.text[:MAX_RESPONSE_CHARS], "is_interrupt": False}
        undo = self._undo if call.id in self._effectful else None
        async with undo.around_hooks(moment) if undo is not None else nullcontext():
            verdict = await self._ask(moment, call, fields)
        if verdict.result is not None:
            result = replace(result, text=verdict.result)
        if verdict.leaning == "deny":
            result = replace(result, text=f"{result.text}\n[A hook looked at this and says: {verdict.reason}]")
        return result

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Only words about calls that stand; those of a reply that was withdrawn are gone with it."""
        said = [self._words[call.call.id] for call in turn.last.calls if call.call.id in self._words]
        self._words.clear()
        for text in (text for words in said for text in words.context):
            yield turn.accept(text)
        stops = [words.stop for words in said if words.stop is not None]
        if stops:
            raise TurnStopped("stopped_by_hook", stops[0])

    def hear(self, event: Event) -> None:
        """A call that ended without `after` was stopped while it ran, so it failed; nobody waits for hooks then."""
        match event:
            case ToolStarted():
                self._started[event.call.id] = event.call
            case ToolEnded():
                self._ended(event)
            case TurnEnded():
                self._started.clear()
                self._finished.clear()
                self._effectful.clear()
            case _:
                pass

    def _ended(self, event: ToolEnded) -> None:
        call = self._started.pop(event.result.call_id, None)
        if call is None or call.id in self._finished or not self._hooks.listens("PostToolUseFailure", self._kind()):
            return
        text = result_text(event.result)
        fields = {"error": text, "is_interrupt": text == CANCEL_TEXT["interrupted"]}
        self._hooks.beside(self._ask("PostToolUseFailure", call, fields))

    async def _ask(self, moment: str, call: ToolCallPart, fields: dict[str, Any]) -> HookVerdict:
        given = with_whole_paths(call.arguments, self._hooks.cwd)
        about = {"tool_name": call.name, "tool_input": given, "tool_use_id": call.id}
        verdict = await self._hooks.ask(moment, about | fields, subject=call.name, call_id=call.id, kind=self._kind())
        if verdict.context or verdict.stop is not None:
            words = self._words.setdefault(call.id, Words(context=[]))
            words.context += [hook_words(moment, verdict.context, call.name)] if verdict.context else []
            words.stop = words.stop if words.stop is not None else verdict.stop
        return verdict


def hook_words(moment: str, context: str, about: str = "") -> str:
    """What a hook adds to the conversation, as the model reads it."""
    return f"[A hook adds, at {moment}{f' of {about}' if about else ''}:]\n{context}"


def response(arguments: dict[str, Any], result: ToolResult) -> dict[str, Any]:
    """A result under the names that hooks know: its text, what a command printed, which file it was about."""
    told: dict[str, Any] = {"content": result.text[:MAX_RESPONSE_CHARS], "is_error": result.is_error}
    terminal = next((block for block in result.display if isinstance(block, TerminalBlock)), None)
    if terminal is not None:
        told |= {
            "stdout": terminal.output[:MAX_RESPONSE_CHARS],
            "stderr": "",
            "exit_code": terminal.exit_code,
            "interrupted": False,
        }
    path = arguments.get("file_path", arguments.get("notebook_path"))
    if isinstance(path, str):
        told |= {"filePath": path, "success": True}
    return told


PATHS = ("file_path", "notebook_path")
"""Arguments that name a file; hooks get them absolute, as they were written for."""


def with_whole_paths(arguments: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Arguments of a call as hooks read them."""
    named = {name: path for name in PATHS if isinstance(path := arguments.get(name), str) and path}
    whole = {name: os.path.normpath(os.path.join(cwd, os.path.expanduser(path))) for name, path in named.items()}
    return {**arguments, **whole} if whole != named else arguments


Source = Literal["startup", "resume", "clear", "compact"]
MAX_BLOCKS = 8
"""So often hooks may send the model on in one turn; then it ends anyway."""


class EndOfTurn:
    """What hooks say at the end of an agent's turns: one that blocks sends the agent on, so often and not more."""

    def __init__(
        self, hooks: SessionHooks, moment: Literal["Stop", "SubagentStop"], kind: Callable[[], str] = lambda: ""
    ) -> None:
        """`kind`: of the agent whose turns they are."""
        self._hooks = hooks
        self._kind = kind
        self._moment = moment
        self._turn = 0
        self._blocks = 0

    def is_asked(self, turn: Turn) -> bool:
        """Only where there is an answer: what failed, was refused or is sent on already is none."""
        return (
            not turn.unanswered and turn.ending()[0] == "completed" and self._hooks.listens(self._moment, self._kind())
        )

    def fields(self, turn: Turn) -> dict[str, Any]:
        """What hooks are told of the end."""
        if turn.number != self._turn:
            self._turn, self._blocks = turn.number, 0
        return {"stop_hook_active": self._blocks > 0, "last_assistant_message": turn.last.text}

    def events(self, turn: Turn, verdict: HookVerdict) -> Iterator[Event]:
        """What comes of their verdict. Raises TurnStopped."""
        if verdict.stop is not None:
            raise TurnStopped("stopped_by_hook", verdict.stop)
        if verdict.context:
            yield turn.accept(hook_words(self._moment, verdict.context))
        if verdict.leaning != "deny":
            return
        if self._blocks >= MAX_BLOCKS:
            text = f"hooks sent the model on {MAX_BLOCKS} times in this turn, so it ends here although one wants more"
            yield Notice(level="warning", text=text, code="hook")
            return
        self._blocks += 1
        yield turn.accept(f"[A hook does not let the turn end:]\n{verdict.reason}")
        turn.unanswered = True


class TurnHooks(Middleware):
    """Of the main agent."""

    stage = 4

    def __init__(self, hooks: SessionHooks, *, resumed: bool, kind: str = "") -> None:
        """`kind`: of the agent that the conversation runs as."""
        self._hooks = hooks
        self._kind = kind
        self._undo: UndoHook | None = None
        self._resumed = resumed
        self._session: Session | None = None
        self._starting: list[asyncio.Task[HookVerdict]] = []
        self._begun = False
        self._turned = False
        self._ending = EndOfTurn(hooks, "Stop", lambda: kind)
        self._title = ""

    def start(self, session: Session, undo: UndoHook | None) -> None:
        """Belong to a session; `undo` keeps its files."""
        self._session = session
        self._undo = undo

    def begin(self) -> None:
        """Nobody waits for this but the first request."""
        if not self._begun:
            self._begun = True
            self._start("resume" if self._resumed else "startup")

    def _start(self, source: Source, *, callbacks_only: bool = False) -> None:
        if self._hooks.listens("SessionStart"):
            asked = self._hooks.ask("SessionStart", {"source": source}, subject=source, commands=not callbacks_only)
            self._starting.append(self._hooks.beside(asked))

    def registered(self) -> None:
        """Callbacks of a program come after the session began: its start is told to them too, before the first turn."""
        if self._begun and not self._turned:
            self._turned = True  # once
            self._start("resume" if self._resumed else "startup", callbacks_only=True)

    def hear(self, event: Event) -> None:
        """An event of the main agent: a view that was made anew is a new start."""
        self._turned = self._turned or isinstance(event, TurnStarted)
        if isinstance(event, CompactionEnded):
            self._start("clear" if event.kind == "clear" else "compact")

    def look(self, prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        """What hooks think of what a person says; None: nobody is asked."""
        if prompt.origin != "user" or not self._hooks.listens("UserPromptSubmit"):
            return None
        return self._looked(prompt)

    async def _looked(self, prompt: Prompt) -> PromptWord:
        await self._started()
        verdict = await self._hooks.ask("UserPromptSubmit", {"prompt": text_of(prompt.content)})
        if verdict.leaning == "deny" or verdict.stop is not None:
            return PromptWord(refused=verdict.reason or verdict.stop or "a hook did not let it through")
        self._name(verdict.title)
        return PromptWord(context=hook_words("UserPromptSubmit", verdict.context) if verdict.context else "")

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """What hooks said when the session began, or its view was made anew."""
        await self._started()
        verdicts = [task.result() for task in self._starting if not task.cancelled()]
        self._starting.clear()
        for verdict in verdicts:
            self._name(verdict.title)
            if verdict.context:
                yield turn.accept(hook_words("SessionStart", verdict.context))
            if verdict.stop is not None:
                raise TurnStopped("stopped_by_hook", verdict.stop)

    async def _started(self) -> None:
        """Until hooks of the start have answered. Whoever interrupts stops them too."""
        if not self._starting:
            return
        try:
            await asyncio.wait(self._starting)
        except asyncio.CancelledError:
            for task in self._starting:
                task.cancel()
            raise

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """`Stop`: hooks may send the model on."""
        if self._ending.is_asked(turn):
            async with self._kept():
                verdict = await self._hooks.ask("Stop", self._ending.fields(turn), kind=self._kind)
            for event in self._ending.events(turn, verdict):
                yield event

    def _kept(self) -> AbstractAsyncContextManager[None]:
        """What they change in files belongs to the turn that ends."""
        return self._undo.around_hooks("Stop") if self._undo is not None else nullcontext()

    def _name(self, title: str) -> None:
        """A person's own title stays."""
        if not title or self._session is None:
            return
        state = self._session.journal.main.state
        if title != state.title and (not state.title_by_user or state.title == self._title):
            self._title = title
            self._session.publish(TitleChanged(title=title, source="user"))
