"""What the engine needs from the host. Small protocols, so that tests and sub-agents bring their own."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from clew.engine.agent import Agent
from clew.permissions.access import Access, Verdict
from clew.protocol.events import Question
from clew.protocol.ids import CallId
from clew.tools.base import ToolContext

Ask = Callable[[tuple[Question, ...]], Awaitable[tuple[tuple[str, ...], ...] | None]]


class Compactor(Protocol):
    """Makes the conversation smaller when it no longer fits."""

    async def compact(self, agent: Agent, *, reason: str) -> bool:
        """Try once; True when the next request will be smaller. Its boundary is on disk by then."""
        ...


class ToolHost(Protocol):
    """What tool calls need of their session."""

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        """The context of one call, with the directory in force now."""
        ...

    def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """What permissions say, with the rules and mode in force now."""
        ...

    def remember(self, rules: tuple[str, ...]) -> None:
        """Save rules the user said "always" to."""
        ...

    @property
    def results_dir(self) -> Path | None:
        """Where long results are spilled; None when nothing may be written."""
        ...


class Limits(Struct, frozen=True, kw_only=True):
    """What bounds a turn. None: no bound."""

    max_steps: int | None = None
    max_budget_usd: float | None = None
    """For the session as a whole."""
