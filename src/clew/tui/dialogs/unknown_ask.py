"""An ask that this screen has no dialog of its own for: it is named, and declined or left to another front end."""

from collections.abc import Sequence

from clew.presentation.rows.spans import Span
from clew.protocol.events import Answered, Ask, Event
from clew.protocol.lookups.base import Answer
from clew.protocol.ops import declined, kind_of
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.choice import ChoiceDialog, ChoiceWay
from clew.tui.dialogs.registry import DialogContext


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, Ask)
    return UnknownAskDialog(event, asker=context.asker)


class UnknownAskDialog(ChoiceDialog):
    """Nothing is chosen in advance; Esc leaves the ask open for whoever knows it."""

    heading = "Something is asked"
    escape = "Esc leaves it open"

    def __init__(self, ask: Ask, *, asker: str = "", quiet_s: float = QUIET_S) -> None:
        super().__init__((ChoiceWay(key="d", label="Decline", ops=(declined(ask),)),), quiet_s=quiet_s)
        self._ask = ask
        self._asker = asker or "clew"

    def sentences(self) -> Sequence[Span]:
        who = sanitize(self._asker, one_line=True)
        return (
            Span(f"{who} asks for something that this screen does not know ({kind_of(self._ask)}).", "warning"),
            Span("`clew answer` in another terminal lists it with its id."),
        )

    def settled_by(self, event: Event | Answer) -> bool:
        """Somebody answered it elsewhere."""
        return isinstance(event, Answered) and event.request_id == self._ask.request_id
