"""The plan in the person's own editor, asked for by a command; what they save is the plan."""

from collections.abc import Sequence

from clew.composing.outside import EditorProblem
from clew.presentation.approval_text import one_line
from clew.presentation.rows.spans import Row, Span, wrapped
from clew.protocol.events import Event
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import PlanOpened, SavePlan
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.registry import DialogContext
from clew.tui.owning_app import app_of
from clew.tui.prompt.outside_editor import edited_outside


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, PlanOpened)
    return PlanEditorDialog(event)


class PlanEditorDialog(Dialog):
    """Open as long as the editor is; over with what was saved, or with why there is nothing."""

    def __init__(self, opened: PlanOpened, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self._opened = opened
        self._problem = ""

    def title(self) -> str:
        return "The plan is in your editor" if not self._problem else "The plan was not edited"

    def hint(self) -> str:
        return "Esc closes"

    def body_rows(self, columns: int) -> Sequence[Row]:
        words = self._problem or one_line(self._opened.path)
        return wrapped((Span(words, "error" if self._problem else "dim"),), columns)

    def begin(self) -> None:
        self.run_worker(self._edit(), group="editor", exclusive=True)

    async def _edit(self) -> None:
        try:
            edited = await edited_outside(app_of(self), self._opened.plan)
        except EditorProblem as problem:
            self._problem = str(problem)
            self.redraw()
            return
        if edited == self._opened.plan:
            self.dismiss()
        else:
            self.finish(SavePlan(plan=edited))
