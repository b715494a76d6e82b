"""A prompt that is a slash command: answered as `clew -p /context` is, in a session that goes on."""

from msgspec import UNSET
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.headless.commands import CommandRun, command_result
from clew.protocol.client import Client
from clew.protocol.events import Envelope, Event, ModelChanged, PermissionModeChanged
from clew.protocol.invocables import WITHOUT_A_SCREEN
from clew.protocol.outcome import TurnOutcome
from clew.protocol.usage import Usage
from clew.streaming.shapes.stream import ResultLine

OFFERED = (*WITHOUT_A_SCREEN, "bashes")
"""The commands that a program may send."""


def changed(event: Event) -> tuple[str, ...]:
    """Words for what a command put in force, where a screen would show it all the time."""
    match event:
        case ModelChanged():
            return (f"The model is {event.model} from now on.",)
        case PermissionModeChanged():
            return (f"The permission mode is {event.mode} from now on.",)
        case _:
            return ()


class CommandTurn:
    """One command and its result."""

    def __init__(self, text: str) -> None:
        self._run = CommandRun(text, goes_on=True)

    @property
    def over(self) -> bool:
        """Whether all of it is answered."""
        return self._run.over

    async def finished(self) -> None:
        """Wait until it is."""
        await self._run.finished.wait()

    def close(self) -> None:
        """Nobody waits any more."""
        self._run.close()

    async def begin(self, facts: SessionFacts, client: Client) -> None:
        """Ask what is first."""
        await self._run.begin(facts, client)

    async def take(self, envelope: Envelope, client: Client) -> None:
        """Follow the session, and ask what is next."""
        await self._run.take(envelope, client)
        self._run.lines += changed(envelope.event)

    def result(self, outcome: TurnOutcome) -> ResultLine:
        """What was answered, and what the run has spent so far; of earlier turns nothing else."""
        result = command_result(self._run, outcome)
        outcome.failure = ""  # later turns have nothing to do with it
        return replace(
            result,
            num_turns=0,
            duration_ms=0,
            duration_api_ms=0,
            usage=Usage(),
            permission_denials=(),
            structured_output=UNSET,
        )
