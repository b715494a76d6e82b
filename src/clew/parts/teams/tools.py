"""The tools of teams: TeamCreate, TeamDelete, TeamShutdown and PlanReply for the lead, ShutdownReply and ExitPlanMode
for members."""

from collections.abc import Awaitable, Callable
from typing import Annotated, ClassVar, Protocol

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TextBlock
from clew.protocol.ids import AgentId, CallId
from clew.teams.live_team import LiveTeam
from clew.teams.stopping import SHUTDOWN_REPLY
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.toolset import OWN_SOURCE

MAX_WAIT_MS = 30_000


class TeamCreateParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What team."""

    team_name: Annotated[str, Meta(description="Letters, digits, - and _")]
    description: str = ""
    agent_type: str = ""


class TeamDeleteParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long members have."""

    wait_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, description="How long to wait for members to stop")] = 0


class TeamShutdownParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who, and why."""

    name: str
    reason: str = ""


class ShutdownReplyParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Yes, or no with a reason."""

    approve: bool
    reason: Annotated[str, Meta(description="Why not")] = ""


class MemberPlanParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is planned."""

    plan: Annotated[str, Meta(description="All of it, in Markdown")]


class PlanReplyParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose plan, yes or no."""

    name: str
    approve: bool
    feedback: Annotated[str, Meta(description="Why not, or what to mind")] = ""


class _TeamTool(Tool[Struct]):
    """Of the lead. It changes only what the session knows of its team."""

    source = OWN_SOURCE
    effect: ClassVar[Effect] = "session"
    words: ClassVar[str]

    @property
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - these words have no file of their own
        """What the model reads."""
        return self.words

    def accesses(self, params: Struct, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)


def done(text: str) -> ToolResult:
    """A result that people read as the model does."""
    return ToolResult(text=text, display=(TextBlock(text=text),))


def refused(error: ValueError) -> ToolResult:
    """Why nothing was done."""
    words = str(error)
    return problem(f"{words[:1].upper()}{words[1:]}.".replace("..", "."))


class TeamCreate(_TeamTool):
    """Makes the team of the session."""

    name = "TeamCreate"
    params: ClassVar[type[Struct]] = TeamCreateParams
    hint = "team of agents, teammates, swarm, several agents that talk to each other"
    words = (
        "Makes a team that you lead; one per session. Then Agent with a name starts a member that works in the "
        "background, writes to you and to the others with SendMessage, and shares your work list. For work that needs "
        "several agents that talk to each other; for a single errand use Agent alone."
    )

    def __init__(self, create: Callable[[TeamCreateParams], Awaitable[str]]) -> None:
        self._create = create

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, TeamCreateParams)
        try:
            return done(await self._create(params))
        except ValueError as error:
            return refused(error)


class TeamDelete(_TeamTool):
    """Ends the team of the session."""

    name = "TeamDelete"
    params: ClassVar[type[Struct]] = TeamDeleteParams
    hint = "end, dissolve or clean up the team"
    words = (
        "Asks every member to stop, waits up to wait_ms, and removes the team when all have stopped. Members may "
        "refuse; then the team stays and you are told who and why."
    )

    def __init__(self, delete: Callable[[float], Awaitable[str]]) -> None:
        self._delete = delete

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, TeamDeleteParams)
        try:
            return done(await self._delete(params.wait_ms / 1000))
        except ValueError as error:
            return refused(error)


class TeamShutdown(_TeamTool):
    """Asks one member to stop."""

    name = "TeamShutdown"
    params: ClassVar[type[Struct]] = TeamShutdownParams
    hint = "ask one teammate to stop"
    words = (
        "Asks one member of your team to stop. It may refuse with a reason; you are told. TaskStop ends one at once."
    )

    def __init__(self, team: Callable[[], LiveTeam]) -> None:
        self._team = team

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, TeamShutdownParams)
        try:
            await self._team().stopping.ask_to_stop(params.name, params.reason)
        except ValueError as error:
            return refused(error)
        return done(f"{params.name} is asked to stop. You are told when it has, or why it does not.")


class StopReplies(Protocol):
    """Who takes a member's answer to the request that it stops."""

    async def reply_to_stop(self, agent: AgentId, *, approve: bool, reason: str, call: CallId) -> str:
        """Take the answer; what the member is told. Raises ValueError."""
        ...


class ShutdownReply(_TeamTool):
    """A member's answer to the lead."""

    name = SHUTDOWN_REPLY
    params: ClassVar[type[Struct]] = ShutdownReplyParams
    words = "Answers the lead's request that you stop: approve, or refuse with the reason. Only when you were asked."

    def __init__(self, agent: AgentId, replies: Callable[[], StopReplies]) -> None:
        self._agent = agent
        self._replies = replies

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, ShutdownReplyParams)
        try:
            words = await self._replies().reply_to_stop(
                self._agent, approve=params.approve, reason=params.reason, call=context.call_id
            )
        except ValueError as error:
            return refused(error)
        return done(words)


class MemberPlan(_TeamTool):
    """A member that was started in plan mode shows its plan."""

    name = "ExitPlanMode"
    params: ClassVar[type[Struct]] = MemberPlanParams
    words = (
        "In plan mode: shows your finished plan to who may accept it. What is accepted, you carry out. Not for "
        "questions or research."
    )

    def __init__(self, agent: AgentId, team: Callable[[], LiveTeam]) -> None:
        self._agent = agent
        self._team = team

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, MemberPlanParams)
        team = self._team()
        name = team.known.named(self._agent)
        if not team.plans.is_planning(name) or context.propose is None:
            return problem("You are not in plan mode: there is nothing to leave. Go on with the work.")
        if not params.plan.strip():
            return problem("The plan is empty. Send all of it, in Markdown.")
        try:
            word = await team.plans.propose(name, params.plan, context.propose)
        except ValueError as error:
            return refused(error)
        who = {"user": "The user", "lead": "The lead", "nobody": "Nobody"}[word.by]
        if not word.accepted:
            said = f" They say: {word.comment}" if word.comment.strip() else ""
            how = "is there to accept the plan" if word.by == "nobody" else "did not accept the plan"
            return ToolResult(text=f"{who} {how}: plan mode stays on.{said}")  # an answer, no failure
        team.set_mode(name, word.mode)
        edited = f" It was changed; this is what counts:\n\n{word.plan}\n\n" if word.plan else " "
        return done(f"{who} accepted the plan.{edited}The permission mode is {word.mode}. Carry it out.")


class PlanReply(_TeamTool):
    """The lead's word on a member's plan."""

    name = "PlanReply"
    params: ClassVar[type[Struct]] = PlanReplyParams
    hint = "accept or refuse the plan of a teammate"
    words = (
        "Accepts the plan that a member asked you about, or refuses it with a reason. Only where the user allows it."
    )

    def __init__(self, team: Callable[[], LiveTeam]) -> None:
        self._team = team

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        assert isinstance(params, PlanReplyParams)
        try:
            return done(await self._team().plans.reply(params.name, approve=params.approve, feedback=params.feedback))
        except ValueError as error:
            return refused(error)
