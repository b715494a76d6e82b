"""EnterPlanMode: the model asks to think first and change nothing."""

from typing import ClassVar

from msgspec import Struct

from clew.permissions.access import Access, ToolAccess
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

ABOUT = "the agent wants to plan first: from then on nothing is changed until you accept its plan"


class EnterPlanModeParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to say."""


class EnterPlanMode(BuiltinTool[EnterPlanModeParams]):
    """The user is asked, unless a rule allows it; in plan mode there is nothing to decide."""

    name = "EnterPlanMode"
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
