"""Much of the budget is spent: going on is one way, stopping here another."""

from collections.abc import Sequence

from clew.presentation.rows.spans import Span
from clew.protocol.events import CostThresholdReached, Event
from clew.protocol.ops import Compact, Interrupt
from clew.text.figures import money
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.choice import ChoiceDialog, ChoiceWay
from clew.tui.dialogs.registry import DialogContext


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, CostThresholdReached)
    return CostThresholdDialog(event)


class CostThresholdDialog(ChoiceDialog):
    """The agent goes on meanwhile; the budget itself stops it at its end."""

    heading = "Most of the budget is spent"
    escape = "Esc goes on"

    def __init__(self, event: CostThresholdReached, *, quiet_s: float = QUIET_S) -> None:
        ways = (
            ChoiceWay(key="g", label="Go on"),
            ChoiceWay(key="s", label="Stop here", detail="interrupts the agent; nothing is lost", ops=(Interrupt(),)),
            ChoiceWay(
                key="c", label="Stop and compact", detail="later requests cost less", ops=(Interrupt(), Compact())
            ),
        )
        super().__init__(ways, quiet_s=quiet_s)
        self._event = event

    def sentences(self) -> Sequence[Span]:
        spent, budget = self._event.spent_usd, self._event.budget_usd
        share = f", {round(100 * spent / budget)} %" if budget > 0 else ""
        return (
            Span(f"This session has cost {money(spent)} of its budget of {money(budget)}{share}."),
            Span("It goes on until the budget is used up, and stops there.", "dim"),
        )
