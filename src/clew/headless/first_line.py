"""The `init` line of a dialogue: once before all others, with what a program brought, and anew with each turn."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.headless.command_turn import OFFERED
from clew.protocol.ids import new_uuid
from clew.streaming.lines import names_of
from clew.streaming.shapes.stream import InitLine

INIT_WITHIN_S = 1.0
"""It does not wait longer for a program that says nothing."""


class FirstLine:
    """Waits for `initialize`, for a prompt or for any other line, whichever comes first."""

    def __init__(self, put: Callable[[InitLine], None]) -> None:
        self._put = put
        self._line: InitLine | None = None
        self._waiting: asyncio.TimerHandle | None = None

    def take(self, line: InitLine, *, first: bool) -> bool:
        """Keep a line that the session gave; whether it is told later."""
        self._line = line
        if first:
            self._waiting = asyncio.get_running_loop().call_later(INIT_WITHIN_S, self.tell)
        return first

    def brought(self, agents: tuple[str, ...]) -> None:
        """The kinds of agents there are, with those of the program."""
        if self._line is not None:
            self._line = replace(self._line, agents=agents)

    def tell(self) -> None:
        """Print it, if that was not done."""
        if self._waiting is not None and self._line is not None:
            self._waiting.cancel()
            self._waiting = None
            self._put(self._line)

    def tell_again(self, facts: SessionFacts) -> None:
        """A turn after the first begins."""
        if self._line is None:
            return
        names = names_of(facts.invocables)
        again = replace(
            self._line,
            uuid=new_uuid(),
            model=facts.model,
            permission_mode=facts.permission_mode,
            slash_commands=(*OFFERED, *names.slash_commands),
            skills=names.skills,
        )
        self._put(again)
