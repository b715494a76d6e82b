"""Which dialog an event opens. A kind is one module with `open_dialog` and one row here, loaded when first opened."""

from importlib import import_module
from pathlib import Path

from msgspec import Struct

from clew.commands.base import SessionFacts
from clew.protocol.agent_path import path_words
from clew.protocol.events import (
    ApprovalRequested,
    Ask,
    ColdReturn,
    CostThresholdReached,
    ElicitationRequested,
    Event,
    EventBase,
    HooksOffered,
    McpServersOffered,
    PlanProposed,
    QuestionAsked,
    SessionsFit,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import SessionsListed, SessionsSearched
from clew.protocol.lookups.rules_and_models import ModelsListed
from clew.protocol.lookups.session import PlanOpened, RewindPreviewed
from clew.protocol.lookups.tasks import TasksListed
from clew.protocol.lookups.teams import TeamShown
from clew.protocol.messages import ToolCallPart
from clew.tui.dialogs.base import Dialog

ON_THEIR_OWN: dict[type[EventBase | Answer], str] = {
    ApprovalRequested: "permission",
    QuestionAsked: "question",
    ElicitationRequested: "elicitation",
    PlanProposed: "plan",
    PlanOpened: "plan_editor",
    SessionsFit: "resume_picker",
    ColdReturn: "cold_return",
    CostThresholdReached: "cost_threshold",
    HooksOffered: "program_offer",
    McpServersOffered: "program_offer",
}
"""Events and answers that open a dialog whenever they come."""
PICKERS: dict[type[Answer], str] = {
    SessionsListed: "resume_picker",
    ModelsListed: "model_picker",
    RewindPreviewed: "rewind_picker",
    TasksListed: "tasks",
    TeamShown: "team",
    SessionsSearched: "search_picker",
}
"""Answers that open one where a choice was asked for: the same answers are told for typed commands."""
STYLES = Path(__file__).with_name("base.tcss")
"""For the `CSS_PATH` of the App."""


class DialogContext(Struct, frozen=True, kw_only=True):
    """What a dialog may know beside its event."""

    facts: SessionFacts = SessionFacts()
    call: ToolCallPart | None = None
    """The call an approval is about."""
    agent: AgentId = MAIN_AGENT
    """Who asks."""
    waiting: int = 0
    """Further requests behind this one."""

    @property
    def asker(self) -> str:
        """The way to the agent that asks; empty for the main one."""
        return path_words(self.facts.state, self.agent)


def opens(event: Event | Answer) -> bool:
    """Whether it opens a dialog, without anybody having wanted a picker. Every ask does, known here or not."""
    return type(event) in ON_THEIR_OWN or isinstance(event, Ask)


def dialog_for(event: Event | Answer, context: DialogContext) -> Dialog:
    """The dialog of an ask, or of an event or an answer that has one."""
    name = {**ON_THEIR_OWN, **PICKERS}.get(type(event), "unknown_ask")
    return import_module(f"clew.tui.dialogs.{name}").open_dialog(event, context)


def dialog_named(name: str, *parts: object) -> Dialog:
    """A dialog that no event opens: `help` or `quit`."""
    return import_module(f"clew.tui.dialogs.{name}").made_of(*parts)
