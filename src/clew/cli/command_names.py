"""The names of the sub-commands: those that are there, and those that are reserved with what is said of each."""

import argparse
from importlib import import_module
from typing import Protocol, cast

COMMANDS = {
    "recap": "where did I leave off: one session, or all",
    "sessions": "list and search sessions, clew's and other agents'",
    "show": "a session as readable text",
    "export": "a session in another format",
    "ledger": "the facts of a session, with their sources",
    "attach": "the screen of a session that runs in another terminal",
    "answer": "what a session waits for, and your answer to it",
    "rewind": "files of a session back to an earlier moment",
    "auth": "the ways to a model, and the one in use",
    "config": "read and change settings",
    "permissions": "what would be allowed, asked or denied, and why",
    "agents": "kinds of agents: list, show, check their definitions",
    "team": "teams of agents: list, show their mail, delete one",
    "hooks": "your programs at set moments: list, approve, revoke",
    "mcp": "MCP servers: list, add, sign in; and clew as one of them",
    "tour": "two minutes through clew, without a model",
    "doctor": "what works here and what is enforced",
}
"""Each is a module of `cli/sub`."""

NOT_BUILT = {
    "board": "`clew sessions` lists all sessions, and `clew recap` tells where they stand",
    "start": "`clew -p PROMPT` answers once and exits",
    "ps": "`clew sessions` lists all sessions and whether they are at work",
    "logs": "`clew show ID` prints a session",
    "kill": "a session ends where it runs, by Ctrl-C",
    "daemon": "there are no background sessions",
    "triggers": "a scheduler of your system can run `clew -p PROMPT`",
    "autofix": "ask for the fix in a session",
    "workflow": "ask for the steps in a session",
    "plugin": "skills, commands, hooks and MCP servers are files of your own (docs/skills.md, docs/mcp.md)",
    "vault": "keys are saved by `clew auth`",
    "memory": "/memory in a session lists the memory files and adds to them",
    "serve": "a session runs in a terminal only; `clew mcp serve` serves programs",
    "acp": "`clew -p --input-format stream-json` and the SDK drive a session (docs/control.md, docs/sdk.md)",
    "import": "`clew --resume` goes on with other agents' sessions (docs/other-agents.md)",
    "replay": "`clew show ID` prints a session",
    "completion": "`clew --help` lists commands and options",
}
"""What comes with a later version, and what there is until then. Who builds one takes its row out."""

_UPDATE = (
    "`git pull` in its source folder, then install it again: `pip install .`, `uv tool install --reinstall .` or "
    "`pipx install --force .`"
)
NOT_OURS = {
    "login": "`clew auth` shows the ways to a model and saves a key",
    "logout": "`clew auth remove PROVIDER` forgets a saved key",
    "update": _UPDATE,
    "upgrade": _UPDATE,
}
"""What people try and clew calls otherwise."""

RESERVED = {
    **{name: f"clew {name} is not built yet: {instead}" for name, instead in NOT_BUILT.items()},
    **{name: f"there is no clew {name}: {instead}" for name, instead in NOT_OURS.items()},
}


class SubCommand(Protocol):
    """The module of a subcommand."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments."""
        ...

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit code."""
        ...


def sub_command(name: str) -> SubCommand:
    """The module of a sub-command, loaded when it is meant."""
    return cast(SubCommand, import_module(f"clew.cli.sub.{name}"))
