"""A prompt of `clew -p` that begins with a slash name of none of our commands: whose it is, or that it is none."""

from clew.commands.base import SessionFacts
from clew.commands.registry import unknown
from clew.commands.slash_names import invoked
from clew.protocol.invocables import InvocableRow
from clew.protocol.lookups.session import InvocablesListed, ListInvocables
from clew.protocol.op_kinds.slash_names import UseInvocable


class SlashName:
    """One name and its arguments, as they were typed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._name = text[1:].split(maxsplit=1)[0]

    def known(self, rows: tuple[InvocableRow, ...]) -> "UseInvocable | str | None":
        """What to submit, or its help for who asks for that; None: nobody has brought this name."""
        result = invoked(self._text, SessionFacts(invocables=rows))
        if result is None:
            return None
        used = next((op for op in result.ops if isinstance(op, UseInvocable)), None)
        return used or "\n".join(result.lines)

    def question(self) -> ListInvocables:
        """What is there, once servers that may still bring it were waited for."""
        return ListInvocables(name=self._name)

    def refusal(self, listed: InvocablesListed) -> str:
        """What is meant by a name that nobody has brought, and why it may be missing."""
        usable = tuple(row for row in listed.invocables if row.usable)
        answer = unknown(self._name, SessionFacts(invocables=usable)).lines
        return " ".join((*answer, *(f"({problem})" for problem in listed.problems)))
