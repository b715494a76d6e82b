"""What the engine needs from the host. Small protocols, so that tests and child agents bring their own."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from clew.permissions.access import Access, Verdict
from clew.protocol.event_kinds.asks import RuleScope
from clew.protocol.events import Question
from clew.protocol.ids import CallId
from clew.protocol.messages import ToolCallPart
from clew.tools.base import Tool, ToolContext, ToolResult

Ask = Callable[[tuple[Question, ...]], Awaitable[tuple[tuple[str, ...], ...] | None]]
Foresight = Callable[[], Awaitable[ToolResult | None]]
"""Why a call cannot do its work (`Tool.impossible`); None: nothing speaks against it."""


async def hopeful() -> ToolResult | None:
    """Nothing speaks against a call."""
    return None


class ToolHost(Protocol):
    """What tool calls need of their session."""

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        """The context of one call, with the directory in force now."""
        ...

    async def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """What permissions say, with the rules and mode in force now."""
        ...

    async def only_a_person(self, accesses: tuple[Access, ...]) -> bool:
        """Whether an ask about these is one that no hook may answer."""
        ...

    def remember(self, rules: tuple[str, ...], *, scope: RuleScope) -> None:
        """Save rules the user said "always" to, or let them hold for this session."""
        ...

    def saved_in(self, scope: RuleScope) -> str:
        """The file that keeps rules of this scope; empty: none does."""
        ...

    @property
    def results_dir(self) -> Path | None:
        """Where long results are spilled; None when nothing may be written."""
        ...

    @property
    def hooks(self) -> tuple["CallHook", ...]:
        """What looks at calls before they are judged and after they ran, in order."""
        ...


class CallChange(Struct, frozen=True, kw_only=True):
    """What a hook makes of a call: other arguments, a refusal with its reason, or a word about the verdict to come."""

    arguments: dict[str, Any] | None = None
    refused: str = ""
    leaning: Literal["", "allow", "ask"] = ""
    """`ask`: a person decides, even where permissions allow. `allow`: an ask is answered, where a hook may do that;
    never a deny."""
    reason: str = ""
    """Of the leaning, for whoever is asked and for the log."""
    hook: str = ""
    """Which one said so."""


UNCHANGED = CallChange()
"""Nobody said anything about the call."""


class CallHook(Protocol):
    """Stands around the run of a call, and around the hooks after it. All may wait; all are stopped with the turn."""

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Before it is judged. What it changes is what is judged, shown and run."""
        ...

    def around(self, call: ToolCallPart, tool: Tool[Any]) -> AbstractAsyncContextManager[None]:
        """Only for a call with an effect: entered when it was let through and nothing that it must not overlap with
        runs any more, left however its run ends, an interrupt included."""
        ...

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """After it ran, or failed, before its result is bounded; still within the `around` of the hooks before it."""
        ...

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """The result of a call that was stopped while it ran, with what is known of its effects; `after` is not
        called for it."""
        ...


class Limits(Struct, frozen=True, kw_only=True):
    """What bounds an agent. None: no bound."""

    max_steps: int | None = None
    """For one turn; all others are for the session as a whole, its agents in sum and resumes included."""
    max_budget_usd: float | None = None
    tells_overspending: bool = False
    """A turn whose last request went over the money budget ends as `max_budget`, although its answer is whole: where a
    program reads the result."""
    max_tokens: int | None = None
    max_minutes: float | None = None


class Reserved(Struct, frozen=True, kw_only=True):
    """What requests under way may use and is not in the books yet."""

    cost_usd: float = 0.0
    tokens: int = 0


class Purse(Protocol):
    """An agent's part in the budget that it shares with the other agents of its session."""

    def reserved(self) -> Reserved:
        """What the others' requests under way may use."""
        ...

    def reserve(self) -> None:
        """Its own next request is about to leave."""
        ...
