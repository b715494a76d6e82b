"""Keeps files before each call that can change them. What keeps them is loaded with the first such call."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from clew.agents.log import SessionPort
from clew.engine.ports import CallChange
from clew.protocol.display import ChangesBlock, DiffBlock
from clew.protocol.events import Envelope, PartCompleted
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId
from clew.protocol.messages import ToolCallPart
from clew.tools.base import Tool, ToolResult, with_changes
from clew.tools.session import ToolSession

if TYPE_CHECKING:
    from clew.undo.keeper import ScanProgress, UndoKeeper
    from clew.undo.state import ChangingCall, Checkpoint
    from clew.undo.workspace import KeptCall

SCAN_WAIT_S = 2.0
"""The first shell command waits so long for the first scan: most projects are kept by then."""
PATH_ARGUMENTS = ("file_path", "notebook_path")
NOT_KEEPING = "file changes are not kept in this session"
BACKGROUND_TOOLS = frozenset({"TaskOutput", "TaskStop"})


class FileDeed(NamedTuple):
    """What is about to change files, and who does it."""

    tool: str
    subject: str
    call: ToolCallPart | None = None
    agent: AgentId = MAIN_AGENT
    entry: EntryId | None = None


class UndoHook:
    """Keeps the files of one session, whichever agent changes them. Nothing that goes wrong here stops a call: it is
    told once, and undo is off."""

    def __init__(self, *, home: Path, transcript: Path, roots: Sequence[str]) -> None:
        self._home = home
        self._transcript = transcript
        self._roots = tuple(roots)
        self._session: SessionPort | None = None
        self._opening: asyncio.Task[UndoKeeper] | None = None
        self._tool_called = False
        self._waited = False
        self._scan_told = False
        self._told_in_turn = 0
        self._broken = False
        self.open_calls = 0
        """Calls of any agent that are kept and have not ended."""
        self._open_shells = 0
        """Of these, the ones that may change any file."""
        self._running: set[tuple[str, str]] = set()
        """Commands in the background that run: whose they are, and their ids."""
        self._looking: asyncio.Task[Checkpoint | None] | None = None
        self._looked_in_turn = 0
        self._on_command: Callable[[str, Sequence[str]], None] | None = None

    def attach(self, session: SessionPort) -> None:
        """Belong to a session; the first scan begins when one of its agents calls a tool that can change files."""
        self._session = session
        session.subscribe_to_all(self._hear)

    def tell_changes_to(self, heard: Callable[[str, Sequence[str]], None]) -> None:
        """Say which files a command of an agent left changed: its text and their paths."""
        self._on_command = heard

    def of(self, agent: AgentId, tools: ToolSession) -> "AgentUndo":
        """What stands around the calls of one agent."""
        return AgentUndo(self, agent, tools)

    async def keeper(self) -> "UndoKeeper":
        """What keeps the files, loaded and scanning. Raises whatever keeps it from that."""
        if self._looking is not None and self._looking is not asyncio.current_task():
            await asyncio.wait({self._looking})
        return await self._opened()

    async def _opened(self) -> "UndoKeeper":
        return await asyncio.shield(self.begin())

    def call_of(
        self,
        tool: str,
        subject: str,
        call: ToolCallPart | None = None,
        *,
        agent: AgentId = MAIN_AGENT,
        entry: EntryId | None = None,
    ) -> "ChangingCall":
        """Whose doing it is: the session, the main agent's turn and its prompt, and the agent that called; `entry`:
        what it hangs on instead of that prompt."""
        assert self._session is not None
        return _undo().changing_call(
            self._session.started.session_id,
            self._turn(),
            self._session.journal.main.conversation.chain(),
            tool=tool,
            subject=subject,
            call=call.id if call is not None else None,
            agent=agent,
            entry=entry,
        )

    async def unkept(self, paths: tuple[str, ...], named: bool) -> tuple[str, ...]:
        """Why the state of these paths could not be brought back, a line each; `named`: a file tool names them."""
        if self._broken:
            return (NOT_KEEPING,)
        try:
            keeper = await self.keeper()
            await self._look_first()
            if not named:
                await self._wait_once(keeper)
            return await keeper.coverage(paths, named=named)
        except Exception as error:  # undo is a courtesy: its failure never is the call's, but then nothing is kept
            self._give_up(error)
            return (NOT_KEEPING,)

    @asynccontextmanager
    async def keeping(self, doing: FileDeed, named: list[str] | None = None) -> "AsyncGenerator[list[Checkpoint]]":
        """Keep the state, let it run, write down what changed, also when it was interrupted: that is in the list
        afterwards. While another agent's command runs, nobody can tell whose a change is; then all that changed is
        written down before and after, so that none of it is passed over."""
        made: list[Checkpoint] = []
        shell = named is None
        beside = shell and self._open_shells > 0
        opened: KeptCall | None = None
        if beside:
            await self.look(doing)
        else:
            opened = await self._before(doing, named)
        self.open_calls += 1
        self._open_shells += shell
        try:
            yield made
        finally:
            self.open_calls -= 1
            self._open_shells -= shell
            done = await self.look(doing) if beside else None
            if opened is not None:
                done = await self._write_down(opened)
            if done is not None:
                made.append(done)

    @asynccontextmanager
    async def around_typed(
        self, command: str, entry: EntryId, *, beside: bool
    ) -> AsyncGenerator[list[DiffBlock | ChangesBlock]]:
        """The same for a command the user typed, which is undone by itself. Beside a turn, whose calls change files at
        the same time, it is looked at like one in the background. What it changed is in the list afterwards."""
        told: list[DiffBlock | ChangesBlock] = []
        if beside:
            self._running.add(("", entry))
            try:
                yield told
            finally:
                self._running.discard(("", entry))
                if not self.open_calls:
                    await self.look()
            return
        made: list[Checkpoint] = []
        try:
            async with self.keeping(FileDeed("!", command, entry=entry)) as made:
                yield told
        finally:
            told += await self.blocks_of(made)

    async def blocks_of(self, made: "list[Checkpoint]") -> tuple[DiffBlock | ChangesBlock, ...]:
        """What a command changed, for people: the diffs of text files, and the count of all."""
        for told in (checkpoint for checkpoint in made if checkpoint.changes or checkpoint.warnings):
            return (*await (await self.keeper()).made_by(told), told.told())
        return ()

    @asynccontextmanager
    async def around_hooks(self, moment: str) -> AsyncGenerator[None]:
        """What the user's hooks change between calls belongs to the turn, once its agent has used a tool."""
        if not self._tool_called:
            self.open_calls += 1
            try:
                yield
            finally:
                self.open_calls -= 1
            return
        async with self.keeping(FileDeed("hook", moment)):
            yield

    def background_began(self, whose: str, name: str) -> None:
        """A command in the background changes files from now on."""
        self._running.add((whose, name))

    def background_ended(self, whose: str, name: str) -> None:
        """In a turn it is the command's doing. Between turns a person may have been at work: then it is nobody's, and
        a restore asks before it touches it (test_undo.py)."""
        self._running.discard((whose, name))
        if self._session is not None and self._session.journal.main.state.working and not self.open_calls:
            self._looking = asyncio.create_task(self.look())

    async def look_at_end(self) -> None:
        """The turn is about to end: what runs in the background is charged with what it did so far."""
        if self._running and not self.open_calls:
            await self.look()

    async def look(self, doing: FileDeed | None = None) -> "Checkpoint | None":
        """What commands changed since anybody looked; `doing`: somebody asks after one, and it is its own."""
        if self._broken:
            return None
        try:
            keeper = await (self.keeper() if doing is not None else self._opened())
            checkpoint = await keeper.collect(self._call(doing or FileDeed("Bash", "background command")))
        except Exception as error:  # undo is a courtesy: its failure never is the call's
            self._give_up(error)
            return None
        self._looked_in_turn = self._turn()
        self._tell(checkpoint.warnings if checkpoint is not None else ())
        if checkpoint is not None:
            self._tell_changes(checkpoint)
        return checkpoint

    async def _look_first(self) -> None:
        """Before anybody takes what is there as seen. Between turns a person may have changed files, so only later."""
        if self._running and not self.open_calls and self._looked_in_turn == self._turn():
            await self.look()

    def _turn(self) -> int:
        assert self._session is not None
        return self._session.journal.main.state.turns + 1

    async def close(self) -> None:
        """Stop a scan that still runs, save, let go."""
        if self._looking is not None:
            await asyncio.wait({self._looking})
        if self._opening is None:
            return
        (done,) = await asyncio.gather(self._opening, return_exceptions=True)
        if not isinstance(done, BaseException):
            await done.close()

    def begin(self) -> "asyncio.Task[UndoKeeper]":
        """A call that can change files is about to be judged: load and scan meanwhile."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._start())
        return self._opening

    def _hear(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, PartCompleted) and isinstance(event.part, ToolCallPart):
            self._tool_called = True

    async def _start(self) -> "UndoKeeper":
        make = (await asyncio.to_thread(_undo)).UndoKeeper
        keeper = make(home=self._home, roots=[Path(root) for root in self._roots], transcript=self._transcript)
        await keeper.start(self._scanned)
        return keeper

    def _scanned(self, news: "ScanProgress") -> None:
        """The end of the scan is told where a person waits for it, or must know what is left out."""
        if news.done and news.text and (self._scan_told or ";" in news.text or "could not" in news.text):
            self._notice("info", news.text)

    def _call(self, doing: FileDeed) -> "ChangingCall":
        return self.call_of(doing.tool, doing.subject, doing.call, agent=doing.agent, entry=doing.entry)

    async def _before(self, doing: FileDeed, named: list[str] | None) -> "KeptCall | None":
        if self._broken:
            return None
        try:
            keeper = await self.keeper()
            await self._look_first()
            if named is None:
                await self._wait_once(keeper)
            opened = await keeper.before(self._call(doing), named)
            self._looked_in_turn = self._turn()
        except Exception as error:  # undo is a courtesy: its failure never is the call's
            self._give_up(error)
            return None
        if opened.gaps and opened.source == "shell" and not opened.covered:
            if not self._scan_told:
                self._scan_told = True
                self._notice("warning", f"what shell commands change now cannot be undone: {opened.gaps[0]}")
        else:
            self._tell(opened.gaps)
        return opened

    async def _wait_once(self, keeper: "UndoKeeper") -> None:
        """For the first scan, with the first command that may need it."""
        if not self._waited:
            self._waited = True
            await keeper.wait_ready(SCAN_WAIT_S)

    async def _write_down(self, opened: "KeptCall") -> "Checkpoint | None":
        try:
            checkpoint = await (await self.keeper()).after(opened)
        except Exception as error:  # as above
            self._give_up(error)
            return None
        self._tell(tuple(line for line in checkpoint.warnings if not any(gap in line for gap in opened.gaps)))
        self._tell_changes(checkpoint)
        return checkpoint

    def _tell_changes(self, checkpoint: "Checkpoint") -> None:
        """Which files a command left changed, to whoever wants to know."""
        by_command = checkpoint.source in ("shell", "background") and checkpoint.call.tool != "!"
        if self._on_command is not None and by_command and (paths := checkpoint.left_changed()):
            self._on_command(checkpoint.call.subject, paths)

    def _tell(self, lines: tuple[str, ...]) -> None:
        """What cannot be brought back, at most once in a turn."""
        turn = self._turn()
        if lines and self._told_in_turn != turn:
            self._told_in_turn = turn
            self._notice("warning", "not everything can be undone: " + "; ".join(lines))

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            self._broken = True
            self._notice("warning", f"file changes are not kept from here on, so they cannot be undone: {error}")

    def _notice(self, level: Literal["info", "warning"], text: str) -> None:
        if self._session is not None and not self._session.closed:
            self._session.notice(level, text, code="undo")


class AgentUndo:
    """Stands around the calls of one agent, so that a call is known by its agent and its id."""

    def __init__(self, hook: UndoHook, agent: AgentId, tools: ToolSession) -> None:
        self._hook = hook
        self._agent = agent
        self._tools = tools
        self._made: dict[CallId, tuple[DiffBlock | ChangesBlock, ...]] = {}
        """What the newest command changed, until its result is shown."""
        self._watched: set[str] = set()
        """Commands in the background whose end is heard of."""

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Nothing is refused or changed for undo."""
        if tool.effect == "world":
            self._hook.begin()
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """Keep the state, let it run, write down what changed, also when it was interrupted."""
        if tool.name in BACKGROUND_TOOLS:
            self._hook.open_calls += 1
            try:
                yield
            finally:
                self._hook.open_calls -= 1
            return
        paths = [path for name in PATH_ARGUMENTS if isinstance(path := call.arguments.get(name), str) and path]
        named = self._real(paths) if paths and not tool.shell else None
        subject = paths[0] if paths else str(call.arguments.get("command", ""))
        made: list[Checkpoint] = []
        try:
            async with self._hook.keeping(FileDeed(tool.name, subject, call, self._agent), named) as made:
                yield
        finally:
            if named is None and (blocks := await self._hook.blocks_of(made)):
                self._made = {call.id: blocks}
            if tool.shell:
                self._watch()

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """A command's effects are told with its result. Who looks at a background command learns its own; so do we."""
        result = self.stopped(call, result)
        if tool.name in BACKGROUND_TOOLS and not self._hook.open_calls:
            await self._hook.look(FileDeed("Bash", "background command", call, self._agent))
        return result

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """What it had changed until then is told like that of one that came to its end."""
        made = self._made.pop(call.id, None)
        return result if made is None else with_changes(result, made)

    def _watch(self) -> None:
        """Hear of the end of each command in the background."""
        for name, shell in self._tools.shells.background.items():
            if name not in self._watched and shell.task is not None:
                self._watched.add(name)
                self._hook.background_began(self._agent, name)
                shell.task.add_done_callback(lambda _, ended=name: self._hook.background_ended(self._agent, ended))

    def _real(self, paths: list[str]) -> list[str]:
        """File tools write to the end of links; that file is kept."""
        return [os.path.realpath(self._tools.locate(path, self._tools.cwd)) for path in paths]


def _undo():
    """What keeps files, loaded with the first call that may change some: no first request may wait for it."""
    from clew.undo import keeper

    return keeper
