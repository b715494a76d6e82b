"""What a pipe hands on, as far as the deny side can tell it from the program before it."""

from clew.permissions.shell.values import Value, Variables
from clew.permissions.shell.words import Command
from clew.system.word_set import word_set

_MAX_WORDS = 64
_FILTERS = word_set(
    """-name -iname -path -ipath -regex -iregex -mtime -mmin -newer -size -user -empty -perm"""
)  # fmt: skip


def filtered_find(argv: list[Value]) -> bool:
    """The search is narrowed by more than depth and type."""
    for index, value in enumerate(argv):
        if value.text in _FILTERS and not (index + 1 < len(argv) and argv[index + 1].text in ("*", ".*")):
            return True
    return False


def piped_text(command: Command, variables: Variables) -> str:
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
        return " ".join(f"{start}/x" if filtered_find(values) else start for start in starts)
    if name == "cat":
        return "\n".join(redirect.body for redirect in source.redirects if redirect.body)
    return ""


def _first_test(values: list[Value]) -> int:
    return next((at for at, value in enumerate(values) if value.text.startswith(("-", "(", "!"))), len(values))


def piped_words(command: Command, variables: Variables) -> list[Value]:
    """The words that xargs would add; one that is not known where the pipe cannot be read."""
    text = piped_text(command, variables)
    return [Value(part) for part in text.split()[:_MAX_WORDS]] if text else [Value("", known=False)]
