"""A prompt that is a slash command: answered as `clew -p /context` is, in a session that goes on."""

from msgspec import UNSET
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.commands.registry import COMMANDS
from clew.headless.commands import ENDS, CommandRun
from clew.protocol.client import Client
from clew.protocol.events import (
    EffortChanged,
    Event,
    EventBase,
    ModelChanged,
    PermissionModeChanged,
    ShellShown,
    ShellsListed,
)
from clew.protocol.ops import ListShells, Op, SetEffort, SetModel, SetPermissionMode, ShowShell, StopShell
from clew.protocol.stream import ResultLine
from clew.protocol.usage import Usage

ENDS_HERE: dict[type[Op], tuple[type[EventBase], ...]] = {
    **ENDS,
    SetModel: (ModelChanged,),
    SetEffort: (EffortChanged,),
    SetPermissionMode: (PermissionModeChanged,),
    ListShells: (ShellsListed,),
    ShowShell: (ShellShown,),
    StopShell: (ShellsListed,),
}
"""What makes sense where the session goes on."""
FOR_A_PERSON = frozenset({"copy", "fork", "keys", "new", "quit", "resume"})
"""Commands about a terminal, or about another session: a program starts and ends those itself."""


def command_names() -> tuple[str, ...]:
    """The commands that a program may send."""
    return tuple(command.help.name for command in COMMANDS if command.help.name not in FOR_A_PERSON)


def changed(event: Event) -> tuple[str, ...]:
    """Words for what a command put in force, where a screen would show it all the time."""
    match event:
        case ModelChanged():
            return (f"The model is {event.model} from now on.",)
        case EffortChanged():
            return (f"The effort is {event.effort or 'as the model likes'} from now on.",)
        case PermissionModeChanged():
            return (f"The permission mode is {event.mode} from now on.",)
        case _:
            return ()


class CommandTurn:
    """One command and its result."""

    def __init__(self, text: str) -> None:
        self._run = CommandRun(text, ENDS_HERE)

    @property
    def over(self) -> bool:
        """Whether all of it is answered."""
        return self._run.over

    async def begin(self, facts: SessionFacts, client: Client) -> None:
        """Ask what is first."""
        await self._run.begin(facts, client)

    async def take(self, event: Event, client: Client) -> None:
        """Follow the session, and ask what is next."""
        await self._run.take(event, client)
        self._run.lines += changed(event)

    def result(self, totals: ResultLine) -> ResultLine:
        """What was answered. `totals`: what the run has spent so far."""
        error = self._run.error
        return replace(
            totals,
            subtype="error_during_execution" if error else "success",
            is_error=bool(error),
            result="\n".join(self._run.lines),
            stop_reason=None,
            terminal_reason="error" if error else "completed",
            num_turns=0,
            duration_ms=0,
            duration_api_ms=0,
            usage=Usage(),
            permission_denials=(),
            errors=(error,) if error else (),
            error=error or UNSET,
            structured_output=UNSET,
            context=self._run.data.get("context", UNSET),
        )
