"""Agent: give a task to a child agent, and wait for its report or let it run in the background."""

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, AgentAccess, ToolAccess
from clew.protocol.display import TextBlock
from clew.protocol.standing import Standing
from clew.tools.base import ChildAgent, ChildOrder, Effect, Isolation, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

INSTEAD = {
    "cwd": "an agent begins in your directory; tell it in the prompt where to work",
    "resume": "an agent that has ended goes on with SendMessage",
}
"""Inputs that other programs' models know, and what to do instead."""


MAX_SHOWN_CHARS = 32_000
"""Longer words stand in the agent's own log only: the parent's keeps what the model reads of them."""


class AgentParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who, and for what."""

    description: Annotated[str, Meta(description="3 to 5 words, for the user")]
    prompt: str
    subagent_type: str = ""
    model: str = ""
    run_in_background: bool | None = None
    fork: Annotated[bool, Meta(description="Begin with this conversation")] = False
    name: Annotated[str, Meta(description="For SendMessage")] = ""
    isolation: Isolation = ""
    team_name: str = ""
    mode: str = ""
    cwd: str = ""
    resume: str = ""


class AgentTool(BuiltinTool[AgentParams]):
    """Starts a child agent."""

    name = "Agent"
    params: ClassVar[type[Struct]] = AgentParams
    untold: ClassVar[frozenset[str]] = frozenset({"team_name", "mode", *INSTEAD})
    effect: ClassVar[Effect] = "session"
    max_result_chars: ClassVar[int] = 0

    def is_concurrency_safe(self, params: AgentParams) -> bool:
        return True

    def accesses(self, params: AgentParams, context: ToolContext) -> tuple[Access, ...]:
        if context.agents is None:
            return (ToolAccess(tool=self.name, read_only=True),)
        kind, model = context.agents.meant(order_of(params))
        return (AgentAccess(kind=kind, model=model),)

    async def run(self, params: AgentParams, context: ToolContext) -> ToolResult:
        if context.agents is None:
            return problem("No agent can be started here. Do the work yourself.")
        hint = next((words for field, words in INSTEAD.items() if getattr(params, field)), "")
        if hint:
            return problem(f"No agent was started: {hint}.")
        if not params.prompt.strip():
            return problem("No agent was started: the prompt is empty.")
        if params.fork and context.whole is not None:
            await context.whole()
        try:
            child = await context.agents.start(params.prompt, order_of(params))
        except ValueError as error:
            return problem(f"{str(error)[:1].upper()}{str(error)[1:]}.".replace("..", "."))
        if child.background:
            return launched(child)
        try:
            ended = await child.outcome(up_to_s=context.agents.auto_background_s)
        except asyncio.CancelledError:
            words = f"{child.text()}\nagentId: {child.agent}. SendMessage to it goes on with it."
            context.leave(ToolResult(text=words))
            raise
        if ended is None:
            return launched(child, moved=True)
        text = child.report(ended, context.agents.result_bytes)
        words = child.text()
        shown = TextBlock(text=words if 0 < len(words) <= MAX_SHOWN_CHARS else text)
        return ToolResult(text=text, display=(shown,), is_error=ended.standing is Standing.FAILED)


def order_of(params: AgentParams) -> ChildOrder:
    """How the child is wanted. A fork runs in the background unless it is said otherwise."""
    return ChildOrder(
        kind=params.subagent_type.strip(),
        title=params.description,
        background=params.fork if params.run_in_background is None else params.run_in_background,
        name=params.name.strip(),
        model=params.model.strip(),
        fork=params.fork,
        isolation=params.isolation,
        team=params.team_name.strip(),
        mode=params.mode.strip(),
    )


def launched(child: ChildAgent, *, moved: bool = False) -> ToolResult:
    """The answer to a call that does not wait."""
    how = "It was moved to the background and goes on there" if moved else "Agent launched in the background"
    where = f" Its log: {child.output_file}." if child.output_file else ""
    note = f" {child.place_note}" if child.place_note else ""
    text = (
        f"{how}; agentId: {child.agent}.{where}{note} You are told when it is done: go on with other work or end your "
        "turn."
    )
    shown = f"{'moved to' if moved else 'in'} the background as {child.agent}"
    return ToolResult(text=text, display=(TextBlock(text=shown),))
