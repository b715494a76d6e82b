"""The plan dialog: the plan as Markdown, its file, and every way to accept it or to send it back."""

from collections.abc import Sequence

from textual.widget import Widget

from clew.composing.outside import EditorProblem
from clew.presentation.approval_text import one_line
from clew.presentation.plan_text import after_words
from clew.presentation.rows.markdown import markdown_rows
from clew.presentation.rows.spans import Row, Span
from clew.protocol.events import Event, PlanAnswered, PlanProposed
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import OpenPlan, PlanOpened, PlanShown, SavePlan
from clew.protocol.ops import AnswerPlan, Op
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.layout import LayoutPart
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext
from clew.tui.owning_app import app_of
from clew.tui.prompt.outside_editor import edited_outside

PLAN_ROWS = 12
"""Of a plan that are in sight on a screen of 60x20."""


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, PlanProposed)
    return PlanDialog(event, context)


class PlanDialog(Dialog):
    """One PlanProposed. Nothing is chosen in advance; what stands in the plan's file when it is accepted counts."""

    tall = True

    def __init__(self, proposed: PlanProposed, context: DialogContext, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.proposed = proposed
        self._about = context
        self._plan = proposed.plan
        """As it was last seen; a person may edit it."""

    def title(self) -> str:
        return "Accept this plan?"

    def note(self) -> str:
        edited = "edited by you" if self._plan != self.proposed.plan else ""
        return edited or one_line(self._about.asker)

    def begin(self) -> None:
        self._offer_answers()

    def _offer_answers(self) -> None:
        after = after_words(self.proposed)
        found = [
            Option(value="accept", key="y", label=(Span("Accept"), Span(f"  {after}", "dim"))),
            Option(value="accept_edits", key="a", label=(Span("Accept, and make edits without asking"),)),
            Option(value="keep", key="n", label=(Span("Keep planning, and say what is missing"),)),
        ]
        if self.proposed.path:
            found.append(Option(value="edit", key="e", label=(Span("Edit the plan in your editor"),)))
        found.append(Option(value="stop", key="x", label=(Span("Keep planning and stop"), Span("  Esc", "dim"))))
        self.options.set(found, cursor=NOWHERE)
        self.redraw()

    def hint(self) -> str:
        if self.field.display:
            return "Enter sends it back with these words · Esc back"
        scroll = " · PgUp PgDn scroll" if self.body.max_scroll_y else ""
        if self.low:
            return f"{' '.join(option.key for option in self.options.items)}{scroll} · Esc stops"
        return f"letters, numbers, or ↑ ↓ and Enter{scroll} · Esc keeps planning and stops"

    def body_rows(self, columns: int) -> Sequence[Row]:
        return markdown_rows(self._plan, columns)

    def part(self, child: Widget, columns: int) -> LayoutPart:
        """The plan is what is decided: on a low screen the answers, whose letters the hint has, give way first."""
        found = super().part(child, columns)
        if child is self.body:
            return LayoutPart(wants=found.wants, least=min(found.wants, PLAN_ROWS))
        return LayoutPart(wants=found.wants, least=min(found.wants, 2)) if child is self.options else found

    def chosen(self, place: int) -> None:
        match self.options.items[place].value:
            case "accept":
                self.finish(self._answer("accept"))
            case "accept_edits":
                self.finish(self._answer("accept_edits"))
            case "keep":
                self.options.set(())
                self.open_field("what is missing? (may stay empty)")
                self.redraw()
            case "edit":
                self.inquire(OpenPlan(), self._opened, self._not_edited)
            case "stop":
                self.finish(*self.refusal(stop=True))
            case _:
                pass

    def _answer(self, decision: str, *, comment: str = "", stop: bool = False) -> AnswerPlan:
        request = self.proposed.request_id
        if decision == "accept":
            return AnswerPlan(request_id=request, decision="accept")
        if decision == "accept_edits":
            return AnswerPlan(request_id=request, decision="accept_edits")
        return AnswerPlan(request_id=request, decision="keep_planning", comment=comment, stop=stop)

    async def _edit(self, text: str) -> None:
        try:
            edited = await edited_outside(app_of(self), text)
        except EditorProblem as problem:
            self.say(str(problem), "error")
            return
        if edited != text:
            self.inquire(SavePlan(plan=edited), self._saved, self._not_edited)

    def _opened(self, opened: PlanOpened) -> None:
        self.run_worker(self._edit(opened.plan), group="editor", exclusive=True)

    def _saved(self, shown: PlanShown) -> None:
        self._plan = shown.plan
        self.redraw()

    def _not_edited(self, reason: str) -> None:
        self.say(reason, "error")

    def entered(self, text: str) -> None:
        self.finish(self._answer("keep_planning", comment=text.strip()))

    def back(self) -> None:
        if self.field.display:
            self.close_field()
            self._offer_answers()
        else:
            self.finish(*self.refusal(stop=True))

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        return (self._answer("keep_planning", stop=stop),)

    def settled_by(self, event: Event | Answer) -> bool:
        return isinstance(event, PlanAnswered) and event.request_id == self.proposed.request_id
