"""What an input means by its first characters: a command, a shell line, a line to remember, or words for the model."""

from typing import Literal

from msgspec import Struct

from clew.commands.registry import as_prompt, is_command

Mode = Literal["prompt", "command", "shell", "memory"]


class PromptWords(Struct, frozen=True):
    """Words for the model."""

    text: str


class CommandLine(Struct, frozen=True):
    """A slash command, with its slash."""

    text: str


class ShellLine(Struct, frozen=True):
    """A command for the shell, typed by the person."""

    command: str


class MemoryLine(Struct, frozen=True):
    """A line to keep in a memory file."""

    text: str


Meaning = PromptWords | CommandLine | ShellLine | MemoryLine


def mode_of(first_line: str, *, one_line: bool) -> Mode:
    """What the text is going to be, seen from its first line alone: cheap enough for every key.

    Doubled marks are words: `//x` sends /x, `!!x` sends !x, `## x` is a heading. So is `# x` over several lines, and
    a path: a command's name holds no second slash.
    """
    if is_command(first_line):
        name = first_line[1:].partition(" ")[0]
        return "prompt" if "/" in name else "command"
    if first_line.startswith("!") and not first_line.startswith("!!"):
        return "shell"
    if one_line and first_line.startswith("#") and not first_line.startswith("##"):
        return "memory"
    return "prompt"


def meaning_of(text: str) -> Meaning | None:
    """What to do with a whole input; None when there is nothing in it."""
    if not text.strip():
        return None
    first, newline, _ = text.partition("\n")
    match mode_of(first, one_line=not newline):
        case "command":
            return CommandLine(text)
        case "shell":
            command = text[1:].strip()
            return ShellLine(command) if command else None
        case "memory":
            line = text[1:].strip()
            return MemoryLine(line) if line else None
        case "prompt":
            return PromptWords(text[1:] if text.startswith("!!") else as_prompt(text))
