"""All slash commands by name: telling them from prompts, running them, suggesting what was meant."""

from msgspec.structs import replace

from clew.commands import (
    agents,
    branch,
    clear,
    commands,
    compact,
    config,
    context,
    coordinator,
    copy,
    cost,
    diff,
    doctor,
    effort,
    export,
    fork,
    hooks,
    keys,
    mcp,
    memory,
    mode,
    model,
    mouse,
    new,
    permissions,
    pin,
    plan,
    quit,
    recall,
    recap,
    redo,
    reopen,
    resume,
    rewind,
    search,
    sessions,
    skills,
    stats,
    status,
    tasks,
    team,
    theme,
    title,
    todos,
    undo,
    unpin,
    version,
    vim,
    worktree,
)
from clew.commands import help as help_command
from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, SessionFacts, usage_lines
from clew.commands.intents import meant_by, not_there, one_edit
from clew.commands.slash_names import helps_of, invoked

COMMANDS: tuple[Command, ...] = (
    help_command.COMMAND,
    agents.COMMAND,
    tasks.COMMAND,  # where programs that list commands know it as /bashes
    branch.COMMAND,
    clear.COMMAND,
    commands.COMMAND,
    compact.COMMAND,
    config.COMMAND,
    context.COMMAND,
    coordinator.COMMAND,
    copy.COMMAND,
    cost.COMMAND,
    diff.COMMAND,
    doctor.COMMAND,
    effort.COMMAND,
    export.COMMAND,
    fork.COMMAND,
    hooks.COMMAND,
    keys.COMMAND,
    mcp.COMMAND,
    memory.COMMAND,
    mode.COMMAND,
    model.COMMAND,
    mouse.COMMAND,
    new.COMMAND,
    permissions.COMMAND,
    pin.COMMAND,
    plan.COMMAND,
    quit.COMMAND,
    recall.COMMAND,
    recap.COMMAND,
    redo.COMMAND,
    reopen.COMMAND,
    resume.COMMAND,
    rewind.COMMAND,
    search.COMMAND,
    sessions.COMMAND,
    skills.COMMAND,
    stats.COMMAND,
    status.COMMAND,
    team.COMMAND,
    theme.COMMAND,
    title.COMMAND,
    todos.COMMAND,
    undo.COMMAND,
    unpin.COMMAND,
    version.COMMAND,
    vim.COMMAND,
    worktree.COMMAND,
)

BY_NAME: dict[str, Command] = {
    name: command for command in COMMANDS for name in (command.help.name, *command.help.aliases)
}


def catalogue(facts: SessionFacts) -> tuple[CommandHelp, ...]:
    """All that can be typed after a slash: clew's own commands, then what the user brought."""
    return (*(command.help for command in COMMANDS), *helps_of(facts))


def is_command(text: str) -> bool:
    """A slash starts a command; two slashes start a prompt."""
    return text.startswith("/") and not text.startswith("//")


def known_command(text: str) -> bool:
    """Whether a line starts with the name of a command; a path does not."""
    return is_command(text) and (text[1:].split() or [""])[0].lower() in BY_NAME


def as_prompt(text: str) -> str:
    """The words to send of a text that is no command: one of two leading slashes is dropped."""
    return text[1:] if text.startswith("//") else text


def suggestions(name: str, facts: SessionFacts | None = None) -> tuple[str, ...]:
    """The commands that are meant: of the same intent, else those whose name was begun, else a single slip of the
    fingers. At most three, and only such as can be typed in this session."""
    own = {known: command.help.name for known, command in BY_NAME.items()}
    known_names = {**{about.name.lower(): about.name for about in helps_of(facts or SessionFacts())}, **own}
    meant = meant_by(name)
    if meant in known_names:
        return (meant,)
    begun = [known for known in known_names if len(name) > 1 and known.startswith(name)]
    typos = [known for known in known_names if len(name) > 2 and known[0] == name[0] and one_edit(name, known)]
    swapped = [known for known in typos if sorted(known) == sorted(name)]
    found: dict[str, None] = {}
    for known in swapped or (*typos, *begun):
        found.setdefault(known_names[known])
    return tuple(found)[:3]


def unknown(name: str, facts: SessionFacts) -> CommandResult:
    """The answer to a name that is none: what is meant by it, or that it is not there."""
    word = name.lower()
    near = suggestions(word, facts)
    honest = "" if meant_by(word) in near else not_there(word)
    near = () if honest else near
    meant = "Did you mean " + " or ".join(f"/{known}" for known in near) + "? " if near else ""
    first = honest or f"Unknown command /{name}. {meant}"
    return CommandResult(
        lines=(
            f"{first.strip()} /help lists all commands.",
            "Nothing was sent. For a prompt that starts with a slash, type it twice: //" + name,
        ),
        is_error=True,
    )


def run_command(text: str, about: CommandContext) -> CommandResult:
    """Run a line for which `is_command` is true. Never calls a model; unknown names get suggestions."""
    name, _, argument = text[1:].partition("\n")[0].strip().partition(" ")
    rest = text.partition("\n")[2]
    command = BY_NAME.get(name.lower())
    if command is None:
        return invoked(text, about.facts) or unknown(name, about.facts)
    if "--help" in argument.split() or argument.strip() == "-h":
        return CommandResult(lines=usage_lines(command.help))
    full = replace(about, catalogue=catalogue(about.facts))
    return command.run(full, f"{argument}\n{rest}" if rest else argument)
