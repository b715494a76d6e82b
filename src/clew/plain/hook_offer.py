"""Hooks that were found and are not approved: each command exactly, and the choice which of them may run."""

from clew.commands.hooks import moment_words
from clew.plain.dialog import Reply, Shown, quoted
from clew.presentation.approval_text import one_line
from clew.protocol.events import HookRow
from clew.protocol.ops import Answerer, ApproveHooks
from clew.system.terminal_text import warnings

ALL = frozenset({"y", "yes", "all"})
NO = frozenset({"n", "no", "not"})
LATER = "They do not run. /hooks lists them whenever you like."


class HookOffer:
    """Asked until it is answered; no agent waits for it."""

    def __init__(self, rows: tuple[HookRow, ...]) -> None:
        self._rows = rows

    @property
    def request_id(self) -> str:
        """The same offer has the same id."""
        return "hooks:" + ",".join(self.digests)

    @property
    def digests(self) -> tuple[str, ...]:
        """What is offered."""
        return tuple(row.digest for row in self._rows)

    @property
    def prompt(self) -> str:
        """Says what can be typed."""
        return "Let them run? [y]es, all / numbers / [n]ot now > "

    def opening(self) -> tuple[Shown, ...]:
        """Every command in full: what is approved is what stands here."""
        lines = [Shown("Hooks want to run commands at set moments, outside the sandbox:", "bold")]
        for number, row in enumerate(self._rows, start=1):
            lines.append(Shown(f"{number}. {one_line(moment_words(row))}, in {one_line(row.source)}"))
            lines += quoted(row.command)
            lines += [Shown(f"Careful: the command {text}", "warning") for text in warnings(row.command)]
        return tuple(lines)

    def reply(self, typed: str) -> Reply:
        """y, numbers or n; everything else asks again."""
        words = typed.replace(",", " ").lower().split()
        if words and words[0] in NO:
            return Reply(over=True, lines=(Shown(LATER),))
        if words and all(word in ALL for word in words):
            return Reply(op=ApproveHooks(digests=self.digests))
        if not words or not all(word.isascii() and word.isdecimal() for word in words):
            return Reply(lines=(Shown("y lets all run, numbers those, n none for now."),))
        numbers = [int(word) for word in dict.fromkeys(words)]
        if not all(1 <= number <= len(self._rows) for number in numbers):
            return Reply(lines=(Shown(f"The hooks have numbers 1 to {len(self._rows)}."),))
        return Reply(op=ApproveHooks(digests=tuple(self._rows[number - 1].digest for number in numbers)))

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> None:
        """Not now."""
