"""Programs that were found and are not approved: each exactly as it would run, and the choice which of them may."""

from clew.plain.dialogs.dialog import DialogReply, Shown, quoted
from clew.presentation.program_offer import ProgramOffer, offer_of_hooks, offer_of_servers
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.events import HookRow
from clew.protocol.ops import Answerer
from clew.text.terminal_text import warnings

ALL = frozenset({"y", "yes", "all"})
NO = frozenset({"n", "no", "not"})


class AskedOffer:
    """Asked until it is answered; no agent waits for it."""

    def __init__(self, offer: ProgramOffer) -> None:
        self._offer = offer

    @property
    def request_id(self) -> str:
        """The same offer has the same id."""
        return f"{self._offer.kind}s:" + ",".join(self.digests)

    @property
    def digests(self) -> tuple[str, ...]:
        """What is offered."""
        return tuple(one.digest for one in self._offer.programs)

    @property
    def prompt(self) -> str:
        """Says what can be typed."""
        return "Let them run? [y]es, all / numbers / [n]ot now > "

    def opening(self) -> tuple[Shown, ...]:
        """Everything in full: what is approved is what stands here."""
        lines = [Shown(text, "bold" if number == 0 else "") for number, text in enumerate(self._offer.meaning)]
        for number, one in enumerate(self._offer.programs, start=1):
            lines.append(Shown(f"{number}. {one.heading}"))
            lines += quoted(one.text)
            lines += [Shown(f"   {note}") for note in one.notes]
            lines += [Shown(f"Careful: the command {text}", "warning") for text in warnings(one.text)]
        return tuple(lines)

    def reply(self, typed: str) -> DialogReply:
        """y, numbers or n; everything else asks again."""
        programs, words = self._offer.programs, typed.replace(",", " ").lower().split()
        if words and words[0] in NO:
            return DialogReply(over=True, lines=(Shown(self._offer.later),))
        if words and all(word in ALL for word in words):
            return DialogReply(lookup=self._offer.approve(self.digests))
        if not words or not all(word.isascii() and word.isdecimal() for word in words):
            return DialogReply(lines=(Shown("y lets all run, numbers those, n none for now."),))
        numbers = [int(word) for word in dict.fromkeys(words)]
        if not all(1 <= number <= len(programs) for number in numbers):
            return DialogReply(lines=(Shown(f"The {self._offer.kind}s have numbers 1 to {len(programs)}."),))
        return DialogReply(lookup=self._offer.approve(tuple(programs[number - 1].digest for number in numbers)))

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> None:
        """Not now."""


class HookOffer(AskedOffer):
    """Hooks on offer."""

    def __init__(self, rows: tuple[HookRow, ...]) -> None:
        super().__init__(offer_of_hooks(rows))


class ServerOffer(AskedOffer):
    """MCP servers of the project on offer."""

    def __init__(self, rows: tuple[McpServerRow, ...]) -> None:
        super().__init__(offer_of_servers(rows))
