"""EnterPlanMode and ExitPlanMode: the model asks to think first; then a person accepts its plan, or sends it back."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

ABOUT = "the agent wants to plan first: from then on nothing is changed until you accept its plan"
MAX_PLAN_CHARS = 60_000


class EnterPlanModeParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to say."""


class EnterPlanMode(BuiltinTool[EnterPlanModeParams]):
    """The user is asked, unless a rule allows it; in plan mode there is nothing to decide."""

    name = "EnterPlanMode"
    words_file: ClassVar[str] = "enter_plan_mode.md"
    params: ClassVar[type[Struct]] = EnterPlanModeParams
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: EnterPlanModeParams, context: ToolContext) -> tuple[Access, ...]:
        plan = self.session.plan
        planning = plan is not None and plan.planning
        return (ToolAccess(tool=self.name, read_only=planning, about=ABOUT),)

    async def run(self, params: EnterPlanModeParams, context: ToolContext) -> ToolResult:
        plan = self.session.plan
        if plan is None:
            return problem("There is no plan mode here. Say in words what you plan.")
        return ToolResult(text=plan.enter())


class ExitPlanModeParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is planned."""

    plan: Annotated[str, Meta(description="All of it, in Markdown")]


class ExitPlanMode(BuiltinTool[ExitPlanModeParams]):
    """It decides nothing: a person does, in every permission mode."""

    name = "ExitPlanMode"
    words_file: ClassVar[str] = "exit_plan_mode.md"
    params: ClassVar[type[Struct]] = ExitPlanModeParams
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: ExitPlanModeParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: ExitPlanModeParams, context: ToolContext) -> ToolResult:
        plan = self.session.plan
        if plan is None or context.propose is None:
            return problem("There is no plan mode here. Say in words what you plan.")
        if not plan.planning:
            return problem("Plan mode is not on: there is nothing to leave. Go on with the work.")
        if not params.plan.strip():
            return problem("The plan is empty. Send all of it, in Markdown.")
        if len(params.plan) > MAX_PLAN_CHARS:
            return problem(f"The plan has more than {MAX_PLAN_CHARS:,} characters. Nobody reads that: shorten it.")
        return await plan.propose(params.plan, context.propose)
