"""What a pipe hands on, as far as the deny side can tell it from the program before it."""

from collections.abc import Iterable
from itertools import pairwise

from clew.permissions.shell.reading.glob import GLOB
from clew.permissions.shell.reading.values import Value, Variables
from clew.permissions.shell.reading.words import Redirect, SimpleCommand
from clew.text.guarded_names import word_set

_MAX_WORDS = 64
_NAMED = word_set("-name -iname")
_FILTERS = word_set(
    """-name -iname -path -ipath -regex -iregex -mtime -mmin -newer -size -user -empty -perm"""
)  # fmt: skip


def filtered_find(argv: list[Value]) -> bool:
    """The search is narrowed by more than depth and type."""
    for index, value in enumerate(argv):
        if value.text in _FILTERS and not (index + 1 < len(argv) and argv[index + 1].text in ("*", ".*")):
            return True
    return False


def piped_text(command: SimpleCommand, variables: Variables) -> str:
    """What a pipe would feed, where the program before it only prints its own words."""
    source = command.pipe_from
    if source is None or not source.words:
        return ""
    name = source.words[0].text
    values = [value for word in source.words[1:] for value in variables.expand(word, None)]
    if name in ("echo", "printf"):
        return " ".join(value.text for value in values if not value.text.startswith("-")).replace("\\n", "\n")
    if name == "find":
        starts = [value.text for value in values[: _first_test(values)]] or ["."]
        named = [after.text for test, after in pairwise(values) if test.text in _NAMED and not GLOB.search(after.text)]
        if named:
            return " ".join(f"{start}/{name}" for start in starts for name in named[:4])
        return " ".join(f"{start}/x" if filtered_find(values) else start for start in starts)
    if name == "cat":
        return "\n".join(redirect.body for redirect in source.redirects if redirect.body)
    return ""


def _first_test(values: list[Value]) -> int:
    return next((at for at, value in enumerate(values) if value.text.startswith(("-", "(", "!"))), len(values))


def fed_text(
    command: SimpleCommand, redirects: Iterable[tuple[Redirect, tuple[Value, ...]]], variables: Variables
) -> str:
    """What a command gets to read, where it stands in the text itself."""
    found = [
        redirect.body if redirect.op in ("<<", "<<-") else " ".join(value.text for value in values)
        for redirect, values in redirects
        if redirect.op in ("<<", "<<-", "<<<")
    ]
    return "\n".join(found) or piped_text(command, variables)


def replace_mark(flags: list[str]) -> str:
    """The word that xargs fills in, or nothing."""
    for at, text in enumerate(flags):
        if text == "-I" and at + 1 < len(flags):
            return flags[at + 1]
        if text.startswith(("-I", "-i")):
            return text[2:] or "{}"
        if text.startswith("--replace"):
            return text.partition("=")[2] or "{}"
    return ""


def text_behind(word: str, flags: tuple[str, ...]) -> str | None:
    """The text that a flag carries in its own word; empty where it is the next word, None where it is no such flag."""
    name, attached, text = word.partition("=")
    if name in flags:
        return text if attached else ""
    if word.startswith("--") or not word.startswith("-"):
        return None
    for flag in flags:
        before, letter, text = word[1:].partition(flag[1:])
        if len(flag) == 2 and letter and (not before or before.isalpha()):
            return text
    return None


def piped_words(command: SimpleCommand, fed: str, variables: Variables) -> list[Value]:
    """The words that xargs would add; one that is not known where the pipe cannot be read."""
    text = fed or piped_text(command, variables)
    return [Value(part) for part in text.split()[:_MAX_WORDS]] if text else [Value("", known=False)]
