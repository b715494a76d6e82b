"""Arguments within a command that a body runs: words for it, whatever signs they hold, and never more shell."""

import re
import shlex

from clew.skills.templates import ARGUMENT, TemplateError, with_arguments, words_of

_HARMLESS = re.compile(r"[\w./:=@%+,\- ]*", re.ASCII)
_STEPS = {
    "": re.compile(r"""(?P<odd><<|\$['"{]|[`#])|\\.|(?P<quote>['"])""", re.DOTALL),
    '"': re.compile(r"""(?P<odd>\$[({]|`)|\\.|(?P<quote>")""", re.DOTALL),
    "'": re.compile(r"(?P<odd>(?!))|(?P<quote>')"),
}
"""By the quote that is open: what may not be there since other rules begin with it, and what ends or begins a quote."""


def with_shell_words(command: str, arguments: str) -> str:
    """The command with `$ARGUMENTS` and `$1` to `$9` filled in, quoted for where they stand. Raises TemplateError where
    that cannot be told and the arguments hold signs that a shell reads."""
    if _HARMLESS.fullmatch(arguments) or not ARGUMENT.search(command):
        return with_arguments(command, arguments)
    filled: list[str] = []
    at, quote = 0, ""
    while at < len(command):
        if found := ARGUMENT.match(command, at):
            filled.append("$" if found[0] == "\\$" else _filled(found[1], arguments, quote))
            at = found.end()
            continue
        step = _STEPS[quote].match(command, at)
        if step is not None and step["odd"]:
            raise TemplateError(f"its command !`{command}` takes only arguments of plain letters, because of {step[0]}")
        if step is not None and step["quote"]:
            quote = "" if quote else step["quote"]
        text = command[at] if step is None else step[0]
        filled.append(text)
        at += len(text)
    return "".join(filled)


def _filled(number: str | None, arguments: str, quote: str) -> str:
    words = words_of(arguments)
    words = words if number is None else words[int(number) - 1 : int(number)]
    text = arguments if number is None else "".join(words)
    match quote:
        case "'":
            return text.replace("'", "'\\''")
        case '"':
            return re.sub(r'([\\"$`])', r"\\\1", text)
        case _:
            return shlex.join(words)
