"""The plan, printed whole, and the reading of what is said to it."""

from clew.plain.dialogs.dialog import DialogReply, Shown, quoted
from clew.presentation.approval_text import one_line
from clew.presentation.plan_text import after_words
from clew.protocol.events import PlanProposed
from clew.protocol.ops import Answerer, AnswerPlan

YES = frozenset({"y", "yes"})
EDITS = frozenset({"a", "e", "edits"})
KEEP = frozenset({"k", "n", "no", "keep"})


class PlanLines:
    """One PlanProposed, asked until it is answered."""

    def __init__(self, proposed: PlanProposed) -> None:
        self._proposed = proposed

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        return self._proposed.request_id

    @property
    def prompt(self) -> str:
        """Short enough for a narrow screen."""
        return "Accept? [y]es / [a]ccept edits too / [n]o, keep planning WORDS > "

    def opening(self) -> tuple[Shown, ...]:
        """The plan, and what each answer means."""
        lines = [Shown("A plan to accept:", "bold"), *quoted(self._proposed.plan)]
        if self._proposed.path:
            lines.append(Shown(f"It is in {one_line(self._proposed.path)}: what you save there before y or a counts."))
        lines.append(Shown(f"y: accept ({after_words(self._proposed)}); a: accept, edits are made without asking"))
        lines.append(Shown("n WORDS: keep planning, and tell the model what is missing"))
        return tuple(lines)

    def reply(self, typed: str) -> DialogReply:
        """y, a, k [words]; everything else asks again."""
        word, _, rest = typed.strip().partition(" ")
        word, rest = word.lower().rstrip(",:"), rest.strip()
        request = self._proposed.request_id
        if word in KEEP:
            return DialogReply(op=AnswerPlan(request_id=request, decision="keep_planning", comment=rest))
        if word in YES and not rest:
            return DialogReply(op=AnswerPlan(request_id=request, decision="accept"))
        if word in EDITS and not rest:
            return DialogReply(op=AnswerPlan(request_id=request, decision="accept_edits"))
        if not word:
            return DialogReply(lines=(Shown("Nothing is accepted by Enter alone. Answer y, a or n."),))
        return DialogReply(lines=(Shown("Not understood, nothing was accepted. To send it back with words: n WORDS"),))

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> AnswerPlan:
        """Keep planning; with `stop` the turn ends as well."""
        return AnswerPlan(request_id=self._proposed.request_id, decision="keep_planning", stop=stop, by=by)
