"""Slash names that users bring, beside clew's own commands: how they are told, and what typing one asks for."""

from clew.commands.base import CommandHelp, CommandResult, SessionFacts, usage_lines
from clew.protocol.invocables import InvocableKind, InvocableRow, meant
from clew.protocol.lookups.session import InvocablesListed
from clew.protocol.op_kinds.slash_names import use_of
from clew.text.terminal_text import sanitize

KINDS: dict[InvocableKind, str] = {"command": "command", "skill": "skill", "prompt": "prompt"}
MAX_SUMMARY_CHARS = 200


def help_of(row: InvocableRow) -> CommandHelp:
    """The row as a command is told of; its words are somebody else's."""
    name, hint = safe(row.name), safe(row.argument_hint)
    words = safe(row.description) or f"A {KINDS[row.kind]} without a description."
    return CommandHelp(
        name=name,
        usage=f"/{name} {hint}".rstrip(),
        summary=f"{clipped(words)} ({safe(row.source)})",
        details=(f"A {KINDS[row.kind]} of yours: {safe(row.path) or safe(row.source)}",),
    )


def helps_of(facts: SessionFacts) -> tuple[CommandHelp, ...]:
    """All that can be typed besides clew's own commands."""
    return tuple(help_of(row) for row in facts.invocables)


def invoked(text: str, facts: SessionFacts) -> CommandResult | None:
    """What a typed name that is none of clew's own asks for; None where nobody brought it."""
    used = use_of(text, facts.invocables)
    if used is None:
        return None
    row = meant(used.name, facts.invocables)
    if row is not None and used.arguments.strip() in ("--help", "-h"):
        return CommandResult(lines=usage_lines(help_of(row)))
    return CommandResult(ops=(used,))


def listing(event: InvocablesListed) -> tuple[str, ...]:
    """What InvocablesListed says: by level, with what hides what."""
    what = "skills" if event.kinds == ("skill",) else "commands"
    lines: list[str] = []
    for row in event.invocables:
        about = help_of(row)
        mark = "" if row.for_user else " (the model's to use)"
        lines.append(f"  {about.usage if row.for_user else about.name}{mark} - {about.summary}")
        if row.hidden:
            lines.append(f"      not in use: {safe(row.hidden)}")
        lines += [f"      {safe(note)}" for note in row.notes]
        if row.path:
            lines.append(f"      {safe(row.path)}")
    if not lines:
        lines.append(f"There are no {what} here. See docs/{'skills' if what == 'skills' else 'custom-commands'}.md.")
    else:
        lines.insert(0, f"{what.capitalize()}:")
    lines += [f"Not used: {safe(problem)}" for problem in event.problems]
    return tuple(lines)


def clipped(words: str) -> str:
    """The first sentence or so."""
    return words if len(words) <= MAX_SUMMARY_CHARS else f"{words[: MAX_SUMMARY_CHARS - 1].rstrip()}…"


def safe(text: str) -> str:
    """One line without anything that a terminal would obey."""
    return sanitize(text, one_line=True).strip()
