"""After a long pause: what going on costs, before it is paid."""

from collections.abc import Sequence

from clew.presentation.rows.spans import Span
from clew.protocol.events import ColdReturn, Event
from clew.protocol.ops import Compact, SwitchSession
from clew.text.figures import duration, money
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.choice import ChoiceDialog, ChoiceWay
from clew.tui.dialogs.registry import DialogContext


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, ColdReturn)
    return ColdReturnDialog(event)


class ColdReturnDialog(ChoiceDialog):
    """Going on sends nothing: the next prompt does."""

    heading = "Back after a while"
    escape = "Esc goes on"

    def __init__(self, event: ColdReturn, *, quiet_s: float = QUIET_S) -> None:
        ways = (
            ChoiceWay(key="g", label="Go on"),
            ChoiceWay(
                key="c", label="Compact first", detail="a summary takes the place of the older part", ops=(Compact(),)
            ),
            ChoiceWay(key="n", label="New session", detail="this one stays and can be resumed", ops=(SwitchSession(),)),
        )
        super().__init__(ways, quiet_s=quiet_s)
        self._event = event

    def sentences(self) -> Sequence[Span]:
        event = self._event
        price = f", about {money(event.cost_usd)}" if event.cost_usd is not None else ""
        pause = duration(round(event.idle_s * 1000))
        return (
            Span(f"After {pause} the provider's cache is likely cold."),
            Span(f"The next request reads {event.tokens:,} tokens anew{price}."),
        )
