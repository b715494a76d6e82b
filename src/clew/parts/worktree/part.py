"""The conversation in a git checkout of its own: from its start (`--worktree`), from some point on, over a resume."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from clew.agents.checkouts import Checkouts, Receipt, Settled, lacking, seen_places
from clew.config.errors import SettingsError
from clew.host.part import Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.session import EndReason
from clew.protocol.events import SessionStarted, WorktreeChanged
from clew.protocol.ids import AgentId
from clew.protocol.ops import EnterWorktree, LeaveWorktree, Op, SubmitPrompt
from clew.tools.base import Tool
from clew.tools.builtin.enter_worktree import EnterWorktreeTool
from clew.tools.builtin.exit_worktree import ExitWorktreeTool

NONE = "none"
"""In place of a name: go on in the project's own checkout."""
UNHELD = " No sandbox holds commands here: they could change files outside of it."


class WorktreePart(Part):
    """At most one checkout at a time. It is made or opened before the session is there, so that what goes wrong is told
    before anything was written; it is settled when the session ends, and a resume opens it again."""

    def __init__(self, setup: PartSetup) -> None:
        """Raises SettingsError where the checkout that is asked for, or that the session was in, cannot be had."""
        self._setup = setup
        workspace = setup.workspace
        self._checkouts = Checkouts(workspace.home, search_path=workspace.env.get("PATH", ""))
        self._receipt: Receipt | None = None
        self._own: PartSession | None = None
        self._left = ""
        self._moving = False
        self._was = setup.past.worktree
        wanted = setup.request.worktree
        if wanted is None and self._was is not None and not setup.request.fork:
            wanted = self._was.name
        if wanted is not None and wanted != NONE:
            try:
                self._receipt = self._opened(wanted)
            except ValueError as error:
                way = f"; --worktree {NONE} goes on in {workspace.root}" if self._was is not None else ""
                raise SettingsError(f"--worktree: {error}{way}") from error
        self.place = self._receipt.path if self._receipt is not None else ""
        self.words = place_words(self._receipt) if self._receipt is not None else ""

    def start(self, own: PartSession) -> None:
        """Belong to a session; where it begins in a checkout, its tools work there from the first call on."""
        self._own = own
        if self._receipt is not None:
            self._go(self._receipt)
            if self._setup.past.resumed:
                own.reminders.add(f"[{self.words}]")
        elif self._was is not None:
            own.session.publish(WorktreeChanged(name=self._was.name))

    def deferred(self, name: str, agent: AgentId) -> Tool[Any] | None:
        """The two tools; only the main conversation searches for tools."""
        made = {"EnterWorktree": EnterWorktreeTool, "ExitWorktree": ExitWorktreeTool}.get(name)
        return made(self) if made is not None else None

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """Front ends show where it works."""
        return replace(started, cwd=self._tools.session.cwd) if self._receipt is not None else started

    async def let_go(self) -> None:
        """Another process goes on with the session, and with the checkout."""
        if self._receipt is not None:
            self._checkouts.release(self._receipt)
            self._receipt = None

    async def leave(self, reason: EndReason) -> None:
        """An unchanged checkout goes; any other one stays, and its work is saved in the project's repository."""
        if self._receipt is not None:
            settled = await asyncio.to_thread(self._checkouts.settle, self._receipt)
            self._left = f"worktree {self._receipt.agent}: {for_people(settled)}"

    def farewell(self) -> str:
        """Where the work is."""
        return self._left

    def ops(self) -> OpHandlers:
        """What people want."""
        return {EnterWorktree: self._enter_op, LeaveWorktree: self._leave_op}

    def objection(self, op: Op) -> str:
        """Nothing begins while a person has the conversation moved."""
        busy = self._moving and isinstance(op, SubmitPrompt | EnterWorktree | LeaveWorktree)
        return "the conversation is about to work in another checkout: try again in a moment" if busy else ""

    async def _enter_op(self, op: EnterWorktree) -> Effect:
        self._check_idle()
        words = await self._moved(self.enter(op.name, changes=op.changes))
        receipt = self._receipt
        assert receipt is not None
        shown = f"the conversation works in {receipt.path} from here on (branch {receipt.branch}). {lacking(receipt)}"
        return lambda: self._tell(words, shown.strip())

    async def _leave_op(self, op: LeaveWorktree) -> Effect:
        self._check_idle()
        words = await self._moved(self.exit(remove=op.remove))
        return lambda: self._tell(words, words)

    async def _moved(self, move: Coroutine[Any, Any, str]) -> str:
        self._moving = True
        try:
            return await move
        except ValueError as error:
            raise OpRefused(str(error)) from error
        finally:
            self._moving = False

    def _check_idle(self) -> None:
        assert self._own is not None
        if self._own.session.lost:
            raise OpRefused(f"nothing was changed: {self._own.session.lost}")
        if self._own.session.main.working:
            raise OpRefused("a turn runs: interrupt it, or wait for its end")

    def _tell(self, words: str, shown: str) -> None:
        """Both must know: the person now, the model with the next prompt."""
        assert self._own is not None
        self._own.session.notice("info", shown, code="worktree")
        self._own.reminders.add(f"[{words}]")

    async def enter(self, name: str, *, changes: bool) -> str:
        """Work in a checkout from now on; words about it. Raises ValueError, and then nothing changed."""
        if self._receipt is not None:
            raise ValueError(f"the conversation works in the worktree {self._receipt.agent} already: leave it first")
        self._check_nothing_runs()
        receipt = await asyncio.to_thread(self._opened, name, changes=changes)
        self._receipt = receipt
        self._go(receipt)
        return place_words(receipt) + (UNHELD if self._is_unheld() else "")

    async def exit(self, *, remove: bool) -> str:
        """Work in the project's checkout again; words about what became of the other one. Raises ValueError."""
        receipt = self._receipt
        if receipt is None:
            raise ValueError("the conversation works in no worktree, so there is none to leave")
        self._check_nothing_runs()
        assert self._own is not None
        settled = await asyncio.to_thread(self._settled, receipt, remove=remove)
        self._receipt = None
        self._tools.work_in()
        self._own.session.publish(WorktreeChanged(name=receipt.agent, ref=settled.ref))
        return f"The conversation works in {self._tools.session.cwd} again. {for_people(settled)}"

    def _settled(self, receipt: Receipt, *, remove: bool) -> Settled:
        """What it holds is saved; `remove`: then it goes, unless something in it cannot be saved."""
        settled = self._checkouts.settle(receipt, keep=not remove)
        known = self._checkouts.find(receipt.agent)
        if not remove or known is None:
            return settled
        done = self._checkouts.clean(known)
        gone = not os.path.lexists(receipt.path)
        return Settled(words=f"{done}.", path="" if gone else receipt.path, ref=settled.ref)

    def _opened(self, name: str, *, changes: bool = False) -> Receipt:
        """Raises ValueError."""
        workspace, session = self._setup.workspace, self._setup.past.session_id
        if workspace.repository is None:
            raise ValueError(f"a checkout of its own cannot be had: {workspace.root} is in no git repository")
        if not workspace.trusted:
            raise ValueError("a checkout of its own cannot be had: the directory is not trusted (see --trust)")

        def withheld(path: str) -> bool:
            return self._own is not None and not self._own.toolbox.shared.may_read(path)

        name = name.strip() or os.urandom(4).hex()
        return self._checkouts.open(name, session, workspace.root, changes=changes, withheld=withheld)

    def _go(self, receipt: Receipt) -> None:
        assert self._own is not None
        self._tools.work_in(checkout=receipt.path, seen=seen_places(receipt), branch=receipt.branch)
        changed = WorktreeChanged(
            name=receipt.agent, path=receipt.path, branch=receipt.branch, ref=f"{receipt.ref}/head"
        )
        known = self._own.session.journal.main.state.worktree
        if known != changed:
            self._own.session.publish(changed)

    def _check_nothing_runs(self) -> None:
        assert self._own is not None
        if self._tools.session.shells_at_work():
            raise ValueError("a command runs in the background: stop it, or wait for its end, and try again")
        if any(row.standing.open and not row.lost for row in self._own.session.journal.main.state.tasks):
            raise ValueError("agents are at work where the conversation works: wait for them, and try again")

    def _is_unheld(self) -> bool:
        sandbox = self._tools.session.sandbox
        return sandbox is None or not sandbox.enforced

    @property
    def _tools(self):
        assert self._own is not None
        return self._own.toolbox


def place_words(receipt: Receipt) -> str:
    """What the model is told of the checkout, against what its prompt says of the directory."""
    missing = f" {lacking(receipt)}" if receipt.lacking else ""
    began = " It begins with what was uncommitted there, as its last commit." if receipt.carried else ""
    return (
        f"# Worktree\nThe conversation works in {receipt.path}, a git checkout of its own (branch {receipt.branch}, "
        f"made from {receipt.root} at {receipt.base[:12]}).{began}{missing} Where a path below {receipt.root} is "
        f"meant, use the same path below {receipt.path}: files of the other checkout are not changed from here. Commit "
        "on this branch; the user takes the work over from there."
    )


def for_people(settled: Settled) -> str:
    """What became of a checkout, without whose it was."""
    return settled.words.replace("Its work is", "the work is").replace("Its own checkout", "The checkout")
