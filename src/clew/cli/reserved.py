"""Sub-commands that are reserved and not there: what is said of each. Who builds one takes its row out."""

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
    "agents": "there are no agents of your own",
    "team": "there are no teams",
    "plugin": "skills, commands, hooks and MCP servers are files of your own (docs/skills.md, docs/mcp.md)",
    "vault": "keys are saved by `clew auth`",
    "memory": "/memory in a session lists the memory files and adds to them",
    "serve": "a session runs in a terminal only; `clew mcp serve` serves programs",
    "acp": "`clew -p --input-format stream-json` and the SDK drive a session (docs/control.md, docs/sdk.md)",
    "import": "`clew --resume` goes on with other agents' sessions (docs/other-agents.md)",
    "replay": "`clew show ID` prints a session",
    "completion": "`clew --help` lists commands and options",
}
"""What comes with a later version, and what there is until then."""

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
