"""Regular expressions of others, judged by RE2, which reads a text once and never tries a way again.

Matchers of hooks and patterns of JSON Schemas come from files and programs that nobody has looked at. RE2 knows no
looking around and no references to groups. One use of looking ahead is common and needs none of it: right after a `^`
at the start each such group is a question of its own about the same text, and is asked as one.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

MAX_EXPRESSION_CHARS = 500
MAX_MEMORY_BYTES = 1 << 20
"""What one compiled expression may take; RE2 refuses one that would take more."""
MAX_STEPS = 2_000_000_000
"""Some seconds of work at the very most; a text that could take more matches nothing."""

_NUMBERED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]|.", re.DOTALL)
"""An escaped character, a class or one character: brackets within the first two open nothing."""


class BadPattern(ValueError):
    """An expression that cannot be understood, and why."""


class _Question(NamedTuple):
    """One expression without looking ahead, and whether it has to be found."""

    expression: str
    wanted: bool


def compiled(expression: str) -> Callable[[str], bool]:
    """Whether some part of a text matches. Raises BadPattern."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise BadPattern(f"longer than {MAX_EXPRESSION_CHARS} characters")
    tests = [(_test(question.expression), question.wanted) for question in _questions(expression)]
    return lambda text: all(test(text) is wanted for test, wanted in tests)


def _test(expression: str) -> Callable[[str], bool]:
    re2: Any = import_module("re2")  # 13 ms, for those who have such an expression; it has no types
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MAX_MEMORY_BYTES
    try:
        program: Any = re2.compile(_with_braces(expression).encode(), options)
    except UnicodeEncodeError:
        raise BadPattern("it holds half a character") from None
    except re2.error as error:
        raise BadPattern(_reason(error.args[0])) from None
    size: int = program.programsize

    def found(text: str) -> bool:
        data = text.encode(errors="replace")
        return size * (len(data) + 1) <= MAX_STEPS and program.search(data) is not None

    return found


def _with_braces(expression: str) -> str:
    """Numbered characters as RE2 writes them: `\\u00e4` is `\\x{00e4}`."""
    return _NUMBERED.sub(lambda found: f"\\x{{{found[1]}}}" if found[1] else found[0], expression)


def _reason(told: bytes | str) -> str:
    """RE2's words, where those do not say it, ours."""
    words = told.decode(errors="replace") if isinstance(told, bytes) else told
    if words.endswith(("(?=", "(?!")):
        return "looking ahead is understood only right after a ^ at the start, without a | outside groups"
    if words.endswith(("(?<=", "(?<!")):
        return "looking behind is not understood"
    if re.search(r"sequence: \\[1-9k]$", words):
        return "references to groups are not understood"
    return words


def _questions(expression: str) -> list[_Question]:
    """`^(?!a)(?=b)c` as three questions: no `^(?:a)`, a `^(?:b)` and a `^c`; any other expression as it is."""
    questions: list[_Question] = []
    rest = expression.removeprefix("^")
    if rest != expression and rest.startswith(("(?=", "(?!")) and not _has_outer_choice(expression):
        while rest.startswith(("(?=", "(?!")):
            end = _end_of_group(rest)
            if end == 0 or rest[end : end + 1] in ("*", "+", "?", "{"):
                return [_Question(expression, wanted=True)]
            questions.append(_Question(f"^(?:{rest[3 : end - 1]})", wanted=rest[2] == "="))
            rest = rest[end:]
        return [*questions, _Question(f"^{rest}", wanted=True)]
    return [_Question(expression, wanted=True)]


def _end_of_group(expression: str) -> int:
    """Where the group ends that the expression begins with; 0: nowhere."""
    depth = 0
    for token in _TOKEN.finditer(expression):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return 0


def _has_outer_choice(expression: str) -> bool:
    depth = 0
    for token in _TOKEN.finditer(expression):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0] == "|":
            return True
    return False
