"""What a pipe hands on, as far as the deny side can tell it from the program before it."""

import re
from collections.abc import Iterable
from itertools import pairwise

from clew.permissions.shell.reading.glob import GLOB
from clew.permissions.shell.reading.lexer import Lexer
from clew.permissions.shell.reading.values import Value, Variables
from clew.permissions.shell.reading.words import Redirect, SimpleCommand
from clew.text.guarded_names import word_set

_MAX_WORDS = 64
_MAX_COMMANDS = 100
"""In a longer text nobody looks for what its substitutions print: that would cost the square of its length."""
_CONVERSION = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[sdqbixc%]")
_PASS_ON = word_set("tee head tail sort uniq grep sed nl column")
_LOOKED_UP = word_set("which command type whence realpath readlink")
_NAMED = word_set("-name -iname")
_FILTERS = word_set("-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -newer -newermt -size -empty")
_ACTIONS = word_set("-delete -exec -execdir -ok -okdir")
_ANYTHING = re.compile(r"[*?.+^$()\\/]*|\+0[a-zA-Z]?")
_WHOLE_PLACE = re.compile(r"(?:/[a-z0-9]+|/home/[^/*?\[]+|/Users/[^/*?\[]+)?/?\.?\*+")


def filtered_find(argv: list[Value]) -> bool:
    """The search for what its action takes is narrowed by more than depth, type and owner."""
    narrowed = negated = False
    level = 0
    for index, value in enumerate(argv):
        text = value.text
        level += (text == "(") - (text == ")")
        if text in _ACTIONS:
            return narrowed
        if text in ("-o", "-or", ",") and level == 0:
            narrowed = False
        elif text in _FILTERS and not negated:
            tested = argv[index + 1].text if index + 1 < len(argv) else ""
            whole = _ANYTHING.fullmatch(tested) or _WHOLE_PLACE.fullmatch(tested)
            narrowed = narrowed or text == "-empty" or not whole
        negated = text in ("!", "-not")
    return narrowed


def _source(command: SimpleCommand) -> SimpleCommand | None:
    """The program whose lines come down a pipe, through those that only hand lines on."""
    source = command.pipe_from
    for _ in range(8):
        if source is None or not source.words or source.pipe_from is None:
            return source
        name = source.words[0].text
        if name not in _PASS_ON and not (name == "cat" and len(source.words) == 1):
            return source
        source = source.pipe_from
    return source


def walks_from(command: SimpleCommand) -> bool:
    """A pipe hands on everything below the places that a search names."""
    source = _source(command)
    if source is None or not source.words:
        return False
    values = [Value(word.text) for word in source.words[1:]]
    name = source.words[0].text
    if name == "find":
        return not filtered_find(values)
    return name in ("ls", "du", "tree", "fd", "fdfind")


def printed_inside(command: SimpleCommand, lexer: Lexer, variables: Variables, cwd: str | None) -> str:
    """What programs inside the command's substitutions would print, as far as the text tells."""
    if len(lexer.commands) > _MAX_COMMANDS:
        return ""
    inner = [one for one in lexer.commands if len(one.scope) > len(command.scope) and one.words]
    return "\n".join(text for one in inner[:16] if (text := _printed(one, variables) or _told(one, variables, cwd)))


def _told(source: SimpleCommand, variables: Variables, cwd: str | None) -> str:
    """What programs print that tell of places and of the user."""
    name = source.words[0].text
    values = [value for word in source.words[1:] for value in variables.expand(word, cwd)]
    paths = [value.text for value in values if not value.text.startswith("-")]
    match name:
        case "pwd":
            return cwd or ""
        case "whoami" | "logname":
            return variables.text_of("USER", cwd)
        case "id" if any(value.text in ("-un", "-nu") for value in values):
            return variables.text_of("USER", cwd)
        case "printenv":
            return " ".join(variables.text_of(path, cwd) for path in paths)
        case "realpath" | "readlink":
            return " ".join(paths)
        case "dirname":
            return " ".join(path.rpartition("/")[0] or "/" for path in paths)
        case _:
            return ""


def piped_text(command: SimpleCommand, variables: Variables) -> str:
    """What a pipe would feed, where the program before it only prints its own words."""
    source = _source(command)
    return _printed(source, variables) if source is not None and source.words else ""


def _printed(source: SimpleCommand, variables: Variables) -> str:
    name = source.words[0].text
    values = [value for word in source.words[1:] for value in variables.expand(word, None)]
    if name in ("echo", "printf"):
        return _formatted([value.text for value in values if not value.text.startswith("-")], name)
    if name == "find":
        starts = [value.text for value in values[: _first_test(values)]] or ["."]
        named = [after.text for test, after in pairwise(values) if test.text in _NAMED and not GLOB.search(after.text)]
        if named:
            return " ".join(f"{start}/{name}" for start in starts for name in named[:4])
        return " ".join(f"{start}/x" if filtered_find(values) else start for start in starts)
    if name in ("ls", "du", "tree"):
        return " ".join(value.text for value in values if not value.text.startswith("-")) or "."
    if name in _LOOKED_UP and (name != "command" or any(value.text in ("-v", "-V") for value in values)):
        return " ".join(value.text for value in values if not value.text.startswith("-"))
    if name == "cat":
        return "\n".join(redirect.body for redirect in source.redirects if redirect.body)
    return ""


def _formatted(texts: list[str], name: str) -> str:
    """The words of echo, or those of printf in the places that its format leaves for them."""
    if name == "printf" and len(texts) > 1 and "%" in texts[0]:
        filled = iter(texts[1:])
        first = _CONVERSION.sub(lambda found: next(filled, "") if found[0] != "%%" else "%", texts[0])
        texts = [first, *filled]
    return " ".join(texts).replace("\\n", "\n")


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
    return (
        [Value(part, globs=bool(GLOB.search(part))) for part in text.split()[:_MAX_WORDS]]
        if text
        else [Value("", known=False)]
    )
