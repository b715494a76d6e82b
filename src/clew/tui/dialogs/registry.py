"""Which dialog an event opens. A kind is one module with `open_dialog` and one row here, loaded when first opened."""

from importlib import import_module
from pathlib import Path

from msgspec import Struct

from clew.commands.base import SessionFacts
from clew.protocol.events import (
    ApprovalRequested,
    ColdReturn,
    CostThresholdReached,
    ElicitationRequested,
    Event,
    EventBase,
    HooksOffered,
    McpServersOffered,
    ModelsListed,
    PlanOpened,
    PlanProposed,
    QuestionAsked,
    RewindPreviewed,
    SessionsListed,
    TasksListed,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.messages import ToolCallPart
from clew.tui.dialogs.base import Dialog

ON_THEIR_OWN: dict[type[EventBase], str] = {
    ApprovalRequested: "permission",
    QuestionAsked: "question",
    ElicitationRequested: "elicitation",
    PlanProposed: "plan",
    PlanOpened: "plan_editor",
    ColdReturn: "cold_return",
    CostThresholdReached: "cost_threshold",
    HooksOffered: "program_offer",
    McpServersOffered: "program_offer",
}
"""Events that open a dialog whenever they come."""
WHEN_ASKED: dict[type[EventBase], str] = {
    SessionsListed: "resume_picker",
    ModelsListed: "model_picker",
    RewindPreviewed: "rewind_picker",
    TasksListed: "tasks",
}
"""Events that open one only where somebody asked for a picker: the same events answer typed commands."""
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


def opens(event: Event, *, asked: bool = False) -> bool:
    """Whether the event opens a dialog; `asked`: a picker was wanted."""
    return type(event) in ON_THEIR_OWN or (asked and type(event) in WHEN_ASKED)


def dialog_for(event: Event, context: DialogContext) -> Dialog:
    """The dialog of an event for which `opens` is true."""
    name = ON_THEIR_OWN.get(type(event)) or WHEN_ASKED[type(event)]
    return import_module(f"clew.tui.dialogs.{name}").open_dialog(event, context)


def dialog_named(name: str, *parts: object) -> Dialog:
    """A dialog that no event opens: `help` or `quit`."""
    return import_module(f"clew.tui.dialogs.{name}").made_of(*parts)
