"""The approval prompt: the exact text, why it asks, what "always" would save, and the reading of the answer."""

import msgspec

from clew.commands.permissions import HOLDS
from clew.plain.dialogs.dialog import BAR, CONTINUED, DialogReply, Shown, quoted
from clew.presentation.approval_text import (
    Bounds,
    cautions,
    is_cut,
    one_line,
    origin,
    untold_arguments,
    usual_offers,
)
from clew.presentation.edit_preview import EDITS, TOLD, TextReplacement, change_lines, change_words, changes_of
from clew.presentation.rows.spans import plain
from clew.protocol.events import ApprovalRequested
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, Answerer
from clew.text.terminal_text import reveal

BOUNDS = Bounds()

SIGNS = {"− ": "- ", "  ⋯": "  ..."}
YES = frozenset({"y", "yes"})
ALWAYS = frozenset({"a", "always"})
SESSION = frozenset({"s", "session"})
ACCEPTING = frozenset({"e", "edits"})
ACCEPT_EDITS = "acceptEdits"
NO = frozenset({"n", "no"})
VIEW = frozenset({"v", "view"})


class ApprovalDialog:
    """One ApprovalRequested, asked until it is answered."""

    def __init__(
        self,
        request: ApprovalRequested,
        call: ToolCallPart | None,
        *,
        model: str,
        waiting: int,
        path: str = "",
    ) -> None:
        self._request = request
        self._path = path
        self._model = model
        self._waiting = waiting
        """Further requests behind this one."""
        self._changes = changes_of(call) if call is not None else ()
        self._unknown = call is None and request.tool in EDITS
        self._arguments = untold_arguments(request, call)
        self._listed = [item for item in self._arguments if not (self._changes and item[0] in TOLD)]
        self._cut = is_cut(request, self._arguments, BOUNDS)

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        return self._request.request_id

    @property
    def prompt(self) -> str:
        """Short enough for a narrow screen; "always" only where a rule is offered."""
        always = "[s]ession / [a]lways / " if self._request.offers else ""
        no = "[n]o / [v]iew all" if self._cut else "[n]o REASON"
        return f"Allow? [y]es / {always}{no} > "

    def opening(self) -> tuple[Shown, ...]:
        """Everything a person needs to decide, the text itself first."""
        request = self._request
        more = f" ({self._waiting} more waiting)" if self._waiting else ""
        lines = [Shown(f"Approval needed: {request.tool}{more}", "bold")]
        lines += quoted(request.subject, max_chars=BOUNDS.subject_chars)
        for number, change in enumerate(self._changes, start=1):
            lines += self._preview(change, number, max_chars=BOUNDS.argument_chars)
        if self._unknown:
            lines.append(Shown("  What it would write is not known here.", "warning"))
        for name, value in self._listed[: BOUNDS.arguments]:
            lines.append(Shown(f"  {reveal(name)}:"))
            lines += quoted(value, max_chars=BOUNDS.argument_chars)
        hidden = len(self._listed) - BOUNDS.arguments
        if hidden > 0:
            lines.append(Shown(f"  and {hidden} more arguments"))
        lines += [Shown(f"Careful: {text}", "warning") for text in cautions(request, self._arguments, BOUNDS)]
        lines.append(Shown(f"Why it asks: {one_line(request.why)}"))
        lines.append(Shown(f"Comes from: {origin(self._path, self._model)}"))
        if request.offers:
            lines.append(Shown(f'"Always" would save exactly this; it {HOLDS[request.offers[0].scope]}:'))
            for number, offer in enumerate(request.offers, start=1):
                covers = f"  (for: {one_line(offer.covers)})" if offer.covers else ""
                lines.append(Shown(f"  {number}. {one_line(offer.rule)}{covers}"))
            if len(request.offers) > 1:
                first = " ".join(str(number) for number in self._usual())
                lines.append(Shown(f"  a alone saves {first}; a with numbers saves those"))
            if self._request.offers[0].scope != "session":
                lines.append(Shown("  s instead of a: the same until this session ends; nothing is written"))
        if self._request.tool in EDITS:
            lines.append(Shown("e allows this and further edits without asking (mode acceptEdits; /mode changes it)"))
        if self._cut:
            lines.append(Shown("Some of the text is not shown here: v shows all of it.", "warning"))
        return tuple(lines)

    def reply(self, typed: str) -> DialogReply:
        """y, s or a [numbers], e, n [reason], v; everything else asks again."""
        word, _, rest = typed.strip().partition(" ")
        word, rest = word.lower().rstrip(",:"), rest.strip()
        if word in NO:
            return DialogReply(op=self._answer("deny", reason=rest))
        if word in YES and not rest:
            return DialogReply(op=self._answer("allow"))
        if word in ALWAYS | SESSION and self._request.offers:
            return self._always(rest, scope="session" if word in SESSION else "")
        if word in ACCEPTING and not rest and self._request.tool in EDITS:
            return DialogReply(op=self._answer("allow", mode=ACCEPT_EDITS))
        if word in VIEW and not rest:
            return DialogReply(lines=self._everything())
        if word in ALWAYS | SESSION:
            return DialogReply(lines=(Shown("No rule can be saved for this one. Answer y or n."),))
        if not word:
            return DialogReply(lines=(Shown("Nothing is allowed by Enter alone. Answer y or n."),))
        return DialogReply(lines=(Shown("Not understood, nothing was allowed. To say no with a reason: n REASON"),))

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> AnswerApproval:
        """Deny it; with `stop` the turn ends as well."""
        request_id = self._request.request_id
        return AnswerApproval(request_id=request_id, decision="deny", reason=reason, stop=stop, by=by)

    def _always(self, numbers: str, *, scope: str) -> DialogReply:
        offers = self._request.offers
        chosen = numbers.replace(",", " ").split()
        if not all(number.isdecimal() and 1 <= int(number) <= len(offers) for number in chosen):
            return DialogReply(lines=(Shown(f"The rules have numbers 1 to {len(offers)}. Nothing was allowed."),))
        picked = sorted({int(number) for number in chosen}) or self._usual()
        rules = tuple(offers[number - 1].rule for number in picked)
        verb = "For this session" if scope else "Saving"
        saved = tuple(Shown(f"{verb}: {one_line(rule)}", "dim") for rule in rules)
        return DialogReply(op=self._answer("allow_always", rules=rules, scope=scope), lines=saved)

    def _usual(self) -> list[int]:
        return [place + 1 for place in usual_offers(self._request.offers)]

    def _answer(
        self, decision: str, *, reason: str = "", rules: tuple[str, ...] = (), scope: str = "", mode: str = ""
    ) -> AnswerApproval:
        given = {"decision": decision, "reason": reason, "rules": rules, "scope": scope, "mode": mode}
        return msgspec.convert({"request_id": self._request.request_id, **given}, AnswerApproval)

    def _preview(self, change: TextReplacement, number: int, *, max_chars: int = 0) -> list[Shown]:
        """What an edit takes away and puts in, behind the bar like every text of somebody else."""
        words = change_words(change, number, len(self._changes))
        lines = [Shown(f"  {words}")] if words else []
        for row in change_lines(change, max_chars=max_chars):
            sign, text = row[0].text, plain(row[1:])
            style = {"+ ": "added", "− ": "removed"}.get(sign, "")
            lines.append(Shown(f"{BAR}{SIGNS.get(sign, sign)}{text}", style, hang=CONTINUED))
        return lines

    def _everything(self) -> tuple[Shown, ...]:
        lines = [Shown(f"All of it, {len(self._request.subject):,} characters:"), *quoted(self._request.subject)]
        for number, change in enumerate(self._changes, start=1):
            lines += self._preview(change, number)
        for name, value in self._listed:
            lines += [Shown(f"  {reveal(name)}:"), *quoted(value)]
        return tuple(lines)
