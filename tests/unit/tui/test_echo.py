"""One rule for the whole registry: a slash command stands above what it brings, unless it opens something."""

from typing import Any

import pytest

from clew.commands.base import CommandContext, CommandResult, SessionFacts
from clew.commands.registry import COMMANDS
from clew.tui.inputs import Commanding

OPENS = {"help", "theme", "mode", "config", "resume", "sessions", "model", "tasks", "team", "rewind"}
"""Without an argument: a list or the help is opened, and closed again without a trace."""
LEAVES = {"quit"}
"""The session ends, and so does its screen."""


class Listening:
    """A conversation that only writes down."""

    def __init__(self) -> None:
        self.echoed: list[str] = []
        self.said: list[Any] = []

    def remark(self, lines: tuple[str, ...], *, is_error: bool = False, command: str = "") -> None:
        self.echoed.append(command)

    def send(self, op: Any) -> None:
        self.said.append(op)

    def look_up(self, lookup: Any, then: Any = None) -> None:
        self.said.append(lookup)


def ran(line: str) -> tuple[Listening, list[Any]]:
    conversation: Any = Listening()
    opened: list[Any] = []

    def effect(result: CommandResult) -> None:
        if result.leave or result.ends:
            opened.append("leaves")

    commanding = Commanding(
        conversation,
        context=lambda: CommandContext(facts=SessionFacts(permission_mode="default", model="a/b")),
        effect=effect,
        offer=opened.append,
        open_dialog=opened.append,
        open_help=lambda: opened.append("help"),
    )
    commanding.run(line)
    return conversation, opened


@pytest.mark.parametrize("name", [command.help.name for command in COMMANDS])
def test_every_command_is_echoed_once_or_opens_something(name: str) -> None:
    conversation, opened = ran(f"/{name}")
    if name in OPENS:
        assert conversation.echoed == []
        assert opened or conversation.said
    elif name in LEAVES:
        assert conversation.echoed == []
        assert opened == ["leaves"]
    else:
        assert conversation.echoed == [f"/{name}"], name


@pytest.mark.parametrize("line", ["/mode plan", "/model a/c", "/title A name", "/theme clew-light", "/effort high"])
def test_a_command_that_changes_something_is_echoed(line: str) -> None:
    assert ran(line)[0].echoed == [line]
