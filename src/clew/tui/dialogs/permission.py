"""The permission dialog: the exact text, what an edit changes, why it asks, and every way to say yes or no."""

from collections.abc import Sequence

from msgspec.structs import replace

from clew.commands.permissions import HOLDS
from clew.presentation.approval_text import (
    Bounds,
    cautions,
    is_cut,
    one_line,
    origin,
    untold_arguments,
    usual_offers,
)
from clew.presentation.edit_preview import (
    CONTEXT_LINES,
    EDITS,
    TOLD,
    change_lines,
    change_words,
    changes_of,
    patch_lines,
)
from clew.presentation.rows.spans import Row, Span, preformatted, width_of, wrapped
from clew.protocol.display import DiffBlock
from clew.protocol.events import ApprovalRequested, ApprovalResolved, Event, RuleOffer
from clew.protocol.ids import RequestId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.session import EditPreviewed, PreviewEdit
from clew.protocol.ops import AnswerApproval, Op
from clew.text.figures import shown_path
from clew.text.terminal_text import reveal
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

BOUNDS = Bounds(subject_chars=20_000, argument_chars=20_000, arguments=40)
ALL = Bounds(subject_chars=0, argument_chars=0, arguments=1_000_000)
BAR = Span("│ ", "dim")
AGAIN = Span("┆ ", "dim")
"""Before the further rows of a line that was too long: no line of the text can pose as one of ours."""
PLACES = {"session": "for this session", "project": "always in this project", "user": "always, for you"}

NARROW = 60
"""On a screen with fewer columns the hint has the letters of the answers."""
LOW_ROWS, LOW_AROUND = 24, 0
"""On a screen with fewer rows the change itself is shown, without the lines around it."""


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, ApprovalRequested)
    return PermissionDialog(event, context)


def allowing(request_id: RequestId, offers: Sequence[RuleOffer], *, session: bool) -> AnswerApproval:
    """Allow, and save these rules: for this session only, or where each was offered for."""
    rules = tuple(offer.rule for offer in offers)
    scope = "session" if session else ""
    return AnswerApproval(request_id=request_id, decision="allow_always", rules=rules, scope=scope)


class PermissionDialog(Dialog):
    """One ApprovalRequested. Nothing is chosen in advance, and Enter alone allows nothing."""

    def __init__(self, request: ApprovalRequested, context: DialogContext, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.request = request
        self._about = context
        self._changes = changes_of(context.call) if context.call is not None else ()
        told = TOLD if self._changes else frozenset[str]()
        self._arguments = untold_arguments(request, context.call)
        self._listed = [item for item in self._arguments if item[0] not in told]
        self._bounds = BOUNDS
        self._cut = is_cut(request, self._arguments, BOUNDS)
        self._cautions = cautions(request, self._arguments, BOUNDS)
        self._saving: list[RuleOffer] = []
        """The offers that can be ticked, once somebody wants to choose among them."""
        self._session = False
        """Whether they would hold for this session only."""
        self._ticked: set[str] = set()
        self._preview: DiffBlock | None = None
        """What the edit changes in the file as it is, once the machine told."""

    def title(self) -> str:
        return f"Allow {one_line(self.request.tool)}?"

    def note(self) -> str:
        waiting = self._about.waiting
        return f"{waiting} more waiting" if waiting else ""

    def begin(self) -> None:
        self._offer_answers()
        call = self._about.call
        if self._changes and call is not None:
            wanted = PreviewEdit(tool=call.name, arguments=call.arguments)
            self.inquire(wanted, self._previewed, lambda _: None, about="edit")

    def _previewed(self, found: EditPreviewed) -> None:
        """Lines of the file with their numbers, in place of the texts of the call."""
        if found.change.patch:
            self._preview = found.change
            self.redraw()

    def _offer_answers(self) -> None:
        self._saving = []
        self.options.set(self._answers(), cursor=NOWHERE)
        self.redraw()

    def _answers(self) -> list[Option]:
        found = [Option(value="once", key="y", label=(Span("Allow once"),))]
        for key in ("s", "a"):
            if offers := self._offers(session=key == "s"):
                found.append(Option(value=key, key=key, label=_offered(offers, session=key == "s")))
        if self.request.tool in EDITS:
            label = (Span("Allow, and accept edits from now on"),)
            found.append(Option(value="edits", key="e", label=label))
        found.append(Option(value="deny", key="n", label=(Span("Deny, and say why"),)))
        found.append(Option(value="stop", key="x", label=(Span("Deny and stop"), Span("  Esc", "dim"))))
        if self._cut and self._bounds is BOUNDS:
            found.append(Option(value="view", key="v", label=(Span("Show all of the text"),)))
        return found

    def hint(self) -> str:
        if self.field.display:
            return "Enter denies and tells the model this · Esc back"
        if self._saving:
            return "Space or numbers tick · Enter allows and saves · Esc back"
        scroll = " · PgUp PgDn scroll" if self.body.max_scroll_y else ""
        if self.terminal_size.width < NARROW:  # answers may be out of sight: their letters are not
            return f"{' '.join(option.key for option in self.options.items)} · Esc denies"
        return f"letters, numbers, or ↑ ↓ and Enter{scroll} · Esc denies and stops"

    def chosen(self, place: int) -> None:
        if self._saving:
            self._save_ticked()
            return
        value = self.options.items[place].value
        match value:
            case "once":
                self.finish(self._answer(decision="allow"))
            case "s" | "a":
                self._save(session=value == "s")
            case "edits":
                self.finish(replace(self._answer(decision="allow"), mode="acceptEdits"))
            case "deny":
                self.options.set(())
                self.open_field("why not? (may stay empty)")
                self.redraw()
            case "stop":
                self.finish(*self.refusal(stop=True))
            case "view":
                self._bounds = ALL
                self._cautions = cautions(self.request, self._arguments, ALL)
                self._offer_answers()
            case _:
                pass

    def _answer(self, *, decision: str, reason: str = "", stop: bool = False) -> AnswerApproval:
        allow = decision == "allow"
        answer = AnswerApproval(request_id=self.request.request_id, decision="allow" if allow else "deny")
        return answer if allow else replace(answer, reason=reason, stop=stop)

    def _offers(self, *, session: bool) -> tuple[RuleOffer, ...]:
        """Every rule can hold for this session only; those that were offered for longer can hold longer."""
        return tuple(offer for offer in self.request.offers if session or offer.scope != "session")

    def _save(self, *, session: bool) -> None:
        """One rule is saved at once: it stood in the option. Of several the usual ones are ticked first."""
        offers = self._offers(session=session)
        if len(offers) == 1:
            self.finish(allowing(self.request.request_id, offers, session=session))
            return
        self._saving, self._session = list(offers), session
        self._ticked = {offers[place].rule for place in usual_offers(offers)}
        self._offer_rules(cursor=1)

    def _offer_rules(self, *, cursor: int) -> None:
        holds = HOLDS["session" if self._session else self._saving[0].scope]
        told = Span(f"Rules to save; what is ticked {holds}:", "dim")
        rules = [self._rule(at, offer) for at, offer in enumerate(self._saving, start=1)]
        self.options.set([Option(value="", label=(told,), heading=True), *rules], cursor=cursor)
        self.redraw()

    def _rule(self, number: int, offer: RuleOffer) -> Option:
        covers = f"  for {one_line(offer.covers)}" if offer.covers else ""
        label = (Span(one_line(offer.rule), "code"), Span(covers, "dim"))
        key = str(number) if number < 10 else " "
        return Option(value=offer.rule, key=key, label=label, checked=offer.rule in self._ticked)

    def toggled(self, place: int) -> None:
        self._ticked ^= {self.options.items[place].value}
        self._offer_rules(cursor=place)

    def _save_ticked(self) -> None:
        ticked = [offer for offer in self._saving if offer.rule in self._ticked]
        if ticked:
            self.finish(allowing(self.request.request_id, ticked, session=self._session))
        else:
            self.say("No rule is ticked. Esc goes back, where y allows it once.")

    def entered(self, text: str) -> None:
        self.finish(self._answer(decision="deny", reason=text.strip()))

    def back(self) -> None:
        if self.field.display:
            self.close_field()
            self._offer_answers()
        elif self._saving:
            self._offer_answers()
        else:
            self.finish(*self.refusal(stop=True))

    def refusal(self, *, stop: bool) -> tuple[Op, ...]:
        return (self._answer(decision="deny", stop=stop),)

    def settled_by(self, event: Event | Answer) -> bool:
        return isinstance(event, ApprovalResolved) and event.request_id == self.request.request_id

    def body_rows(self, columns: int) -> Sequence[Row]:
        request, bounds = self.request, self._bounds
        who = origin(self._about.asker, self._about.facts.model.rpartition("/")[2])
        rows = wrapped((Span(f"{one_line(request.why)} · {who}", "dim"),), columns)
        for text in self._cautions:
            rows += wrapped((Span(f"Careful: {text}", "warning"),), columns, hang=(Span("  "),))
        rows += _quoted(self._subject(), columns)
        rows += self._change_rows(columns)
        for name, value in self._listed[: bounds.arguments]:
            rows += _argument(one_line(name), reveal(value, max_chars=bounds.argument_chars), columns)
        hidden = len(self._listed) - bounds.arguments
        if hidden > 0:
            rows.append((Span(f"and {hidden} more arguments", "warning"),))
        if request.tool in EDITS and self._about.call is None:
            rows.append((Span("What it would write is not known here.", "warning"),))
        return rows

    def _subject(self) -> str:
        """The exact text. The path of an edit below the working directory is told as one there would write it."""
        text = reveal(self.request.subject, max_chars=self._bounds.subject_chars)
        verb, _, path = text.partition(" ")
        if not self._changes or "\n" in text or verb != "write":
            return text
        return f"{verb} {shown_path(path, self._about.facts.cwd)}"

    def _change_rows(self, columns: int) -> list[Row]:
        limit = self._bounds.argument_chars
        if self._preview is not None:
            around = LOW_AROUND if self.screen.size.height < LOW_ROWS else CONTEXT_LINES
            return _framed(patch_lines(self._preview.patch, max_chars=limit, around=around), columns)
        rows: list[Row] = []
        for number, change in enumerate(self._changes, start=1):
            heading = change_words(change, number, len(self._changes))
            rows += wrapped((Span(heading, "dim"),), columns) if heading else []
            rows += _framed(change_lines(change, max_chars=limit), columns)
        return rows


def _offered(offers: Sequence[RuleOffer], *, session: bool) -> Row:
    place = PLACES["session" if session else offers[0].scope]
    if len(offers) == 1:
        return (Span(f"Allow {place}"), Span(f"  {one_line(offers[0].rule)}", "code accent"))
    return (Span(f"Allow {place}"), Span(f"  choose of {len(offers)} rules…", "dim"))


def _argument(name: str, text: str, columns: int) -> list[Row]:
    """On one row where it fits. Its name stands before the bar: behind it is only what somebody else wrote."""
    short = (Span(f"{name} ", "dim"), BAR, Span(text, "code"))
    if "\n" not in text and width_of(short) <= columns:
        return [short]
    return [*wrapped((Span(f"{name}:", "dim"),), columns), *_quoted(text, columns)]


def _quoted(text: str, columns: int) -> list[Row]:
    return _framed([(Span(line, "code"),) for line in text.split("\n")], columns)


def _framed(lines: Sequence[Row], columns: int) -> list[Row]:
    """Lines behind a bar, further rows of one behind another."""
    rows: list[Row] = []
    for line in lines:
        pieces = preformatted([line], columns - 2) or [()]
        rows += [(BAR if not at else AGAIN, *piece) for at, piece in enumerate(pieces)]
    return rows
