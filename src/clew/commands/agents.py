"""/agents: which kinds of agents there are and where each comes from, one of them, and a new one from a description."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.agents import (
    AgentKindDrafted,
    AgentKindRow,
    AgentKindShown,
    AgentKindsListed,
    AgentKindWritten,
    DraftAgentKind,
    ListAgentKinds,
    ShowAgentKind,
    WriteAgentKind,
)

ABOUT = CommandHelp(
    name="agents",
    usage="/agents [NAME | new NAME DESCRIPTION | write NAME]",
    summary="List the kinds of agents, show one, or draft one of your own.",
    details=(
        "A kind is a Markdown file: its fields between two lines of dashes, and below them what the agent is told.",
        "They lie in agents/ of $CLEW_HOME and ~/.claude, and of .clew and .claude in a trusted project.",
        "new drafts a definition and shows it; write puts the draft into your own folder.",
    ),
)
LEVEL_WORDS = {"given": "for this session", "user": "yours", "project": "the project's", "builtin": "built in"}


def kind_lines(event: AgentKindsListed | AgentKindShown | AgentKindDrafted | AgentKindWritten) -> Iterator[str]:
    """What an answer about kinds says."""
    match event:
        case AgentKindsListed():
            yield from listing(event)
        case AgentKindShown():
            yield from shown(event)
        case AgentKindDrafted():
            yield from drafted(event)
        case AgentKindWritten():
            yield f"Written to {event.path}. The model can start it from now on; /agents {event.name} shows it."


def listing(event: AgentKindsListed) -> Iterator[str]:
    """All kinds, those that count first, then what is not used and why."""
    if not any(not row.hidden for row in event.kinds):
        yield "There are no agents: built-in ones are switched off (agents.builtin) and none is defined."
    for row in event.kinds:
        if not row.hidden:
            yield f"{row.name}  ({origin_words(row)})  {row.description}"
    for row in event.kinds:
        if row.hidden:
            yield f"Not used: {row.name} of {row.source}: {row.hidden}"
    yield from (f"Not used: {problem}" for problem in event.problems)
    yield from (f"Not read before the directory is trusted: {folder}" for folder in event.unread)
    noted = [row.name for row in event.kinds if row.notes and not row.hidden]
    if noted:
        yield f"Not all of the definition counts: {', '.join(noted)}. /agents NAME says what."


def shown(event: AgentKindShown) -> Iterator[str]:
    """One kind: its fields, then its words."""
    row = event.kind
    yield f"{row.name}  ({origin_words(row)})"
    yield row.description
    yield from (f"{name}: {value}" for name, value in field_words(row) if value)
    yield from (f"Note: {note}" for note in row.notes)
    if event.initial_prompt:
        yield f"As the main conversation it begins with: {' '.join(event.initial_prompt.split())}"
    yield ""
    yield from event.prompt.splitlines()


def field_words(row: AgentKindRow) -> Iterator[tuple[str, str]]:
    """The fields of a kind, each in words; empty where it says nothing."""
    yield "Tools", ", ".join(row.tools) or "none" if row.tools is not None else "those of its parent"
    yield "Never", ", ".join(row.without)
    yield "Model", row.model or "its parent's"
    yield "Effort", row.effort
    yield "Mode", f"{row.permission_mode}, and never more rights than its parent" if row.permission_mode else ""
    yield "Steps", f"at most {row.max_turns} in one turn" if row.max_turns is not None else ""
    yield "Runs", "in the background" if row.background else ""
    yield "Works", "in a worktree of its own" if row.isolation else ""
    yield "Needs", ", ".join(f"the MCP server {name}" for name in row.servers)
    yield "Hooks", "; ".join(row.hooks)
    yield "MCP servers", "; ".join(row.own_servers)
    yield "Memory", f"of its own ({row.memory})" if row.memory else ""
    yield "Skills", ", ".join(row.skills)
    yield "Color", row.color


def origin_words(row: AgentKindRow) -> str:
    """Whose it is, and where it stands."""
    words = LEVEL_WORDS.get(row.level, row.level)
    return words if row.level == "builtin" else f"{words}: {row.source}"


def drafted(event: AgentKindDrafted) -> Iterator[str]:
    """The text as it would be written."""
    by = f"Drafted by {event.model}" if event.model else f"A skeleton, since no model worded it ({event.why})"
    yield f"{by}. Nothing is written yet:"
    yield ""
    yield from event.text.splitlines()
    yield ""
    yield f"/agents write {event.name} puts it into {event.path}."


def run(context: CommandContext, argument: str) -> CommandResult:
    """What is looked up."""
    words = argument.split(maxsplit=2)
    match words:
        case [] | ["list"]:
            return CommandResult(lookups=(ListAgentKinds(),))
        case ["new", name, description]:
            return CommandResult(lookups=(DraftAgentKind(name=name, description=description),))
        case ["new", *_]:
            return usage_error(ABOUT, "A new agent needs a name and a description.")
        case ["write", name]:
            return CommandResult(lookups=(WriteAgentKind(name=name),))
        case ["show", name] | [name]:
            return CommandResult(lookups=(ShowAgentKind(name=name),))
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


COMMAND = Command(help=ABOUT, run=run)
