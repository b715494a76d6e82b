"""What an agent was in the middle of: the call that has no result, in a few words."""

from typing import Any

from clew.ledger.calls import EDIT_TOOLS, SHELL_TOOLS
from clew.ledger.commits import MESSAGE
from clew.ledger.facts import Doing, Sources
from clew.ledger.words import flat

_MAX_CHARS = 160
_SUBJECTS = ("file_path", "notebook_path", "path", "url", "pattern", "query", "description", "prompt", "skill")


def doing(name: str, arguments: dict[str, Any], source: Sources) -> Doing:
    """The call as it would be told to someone who comes back."""
    if name in SHELL_TOOLS:
        command = _text(arguments, "command", "cmd", "script")
        note = flat(_text(arguments, "description"))[:_MAX_CHARS]
        return Doing(text=f"`{shell_words(command)}`" if command else name, note=note, source=source)
    subject = _text(arguments, *_SUBJECTS).replace("\\", "/").rstrip("/")
    if name in EDIT_TOOLS:
        return Doing(text=subject.rsplit("/", 1)[-1] or name, source=source)
    return Doing(text=f"{name} {flat(subject)[:_MAX_CHARS]}".strip(), source=source)


def shell_words(command: str) -> str:
    """A commit by its subject, else the command line: nobody knows which of its parts was under way."""
    told = MESSAGE.search(command)
    if told:
        return f"git commit: {told.group('subject').strip()}"
    return flat(command.split("<<", 1)[0]).replace("`", "'")[:_MAX_CHARS].strip()


def _text(arguments: dict[str, Any], *names: str) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""
