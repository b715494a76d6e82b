"""What exactly is approved: a hook's definition, and the project's files that its command names.

Which words of a shell command may name files. Tolerant: whatever the text, there are words.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec import Struct

from clew.hooks.definitions import HookDefinition
from clew.permissions.named_content import MAX_FILE_BYTES, MAX_TOTAL_BYTES, content_at, is_inside
from clew.protocol.event_kinds.programs import HookScope

PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "CLEW_PROJECT_DIR")
MAX_DEPTH = 4
_TOKEN = re.compile(
    r"""(?P<operator>[();<>|&\n]+)|[ \t\r]+"""
    r"""|(?P<word>(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s();<>|&'"\\])+)|(?P<rest>.)""",
    re.DOTALL,
)
_QUOTE = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ESCAPE = re.compile(r"""\\([\\"$`\n])""")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^{}]*\})")
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|fi)?sh|python[\d.]*|pypy[\d.]*|node|deno|bun|tsx|ruby|perl|php|lua|awk|source|\."
)
_OUTPUT_PROGRAMS = frozenset({"tee"})


class HookWord(Struct, frozen=True):
    """One word without its quotes."""

    text: str
    runs: bool
    """It stands where the path of a program stands, or a script's after its interpreter."""


def words_of(command: str) -> list[HookWord]:
    """The words, those inside quoted words, and what follows a `=` or `:` in them.

    The target of an output redirection is left out, and so are tee's: a log that a hook writes is not what it runs.
    """
    return list(dict.fromkeys(word for word in _words(command, MAX_DEPTH) if word.text and "\0" not in word.text))


def expanded(text: str, root: str) -> list[str]:
    """What a word may stand for: with the project's directory and the home put in, and, where it begins with something
    that only a shell can know (`$(git rev-parse --show-toplevel)/x`), what is left of it as seen from the root."""
    for name in PROJECT_VARIABLES:
        text = text.replace(f"${{{name}}}", root).replace(f"${name}", root)
    home = os.path.expanduser("~")
    text = text.replace("${HOME}", home).replace("$HOME", home)
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    found = [text]
    bare = _VARIABLE.sub("", text)
    if bare.startswith("/"):
        found.append(bare.lstrip("/"))
    return [one for one in found if one]


def _words(command: str, depth: int) -> Iterator[HookWord]:
    program, before, is_target = "", "", False
    for match in _TOKEN.finditer(command):
        if operator := match["operator"]:
            is_target = ">" in operator and "<" not in operator and operator.rstrip("|&").endswith(">")
            if set(operator) - set("<>"):
                program, before = ("", "") if not is_target else (program, before)
            continue
        quoted = match["word"] or match["rest"]
        if not quoted or is_target:
            is_target = is_target and not quoted
            continue
        text = _unquoted(quoted)
        is_program = not program and not re.match(r"\w+=", text)
        if program not in _OUTPUT_PROGRAMS or is_program:
            runs = "/" in text if is_program else _INTERPRETER.fullmatch(program) is not None
            yield from _parts(text, quoted, before, runs=runs, depth=depth)
        if is_program:
            program = os.path.basename(text) or text
        before = text


def _parts(text: str, quoted: str, before: str, *, runs: bool, depth: int) -> Iterator[HookWord]:
    """A word, and what it holds."""
    yield HookWord(text, runs)
    for separator in "=:":
        if separator in text:
            yield from (HookWord(part, runs) for part in text.split(separator))
    if before == "-m" and re.fullmatch(r"[\w.]+", text):
        path = text.replace(".", "/")
        yield from (HookWord(f"{path}.py", runs), HookWord(f"{path}/__main__.py", runs))
    if depth > 0 and (quoted != text or "`" in text) and re.search(r"[\s();<>|&`$]", text):
        yield from _words(re.sub(r"\$?\(|\)|`", " ; ", text), depth - 1)


def _unquoted(word: str) -> str:
    def inside(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        return _ESCAPE.sub(r"\1", match[2]) if match[2] is not None else match[3]

    return _QUOTE.sub(inside, word)


VERSION = "1"
MAX_NAMES = 2_000
MAX_FOLDERS = 8
FAMILIES: dict[HookScope, str] = {"user": "user", "given": "user", "claude_user": "claude_user"}
"""All others are the project's: the same hook in two of its files is one decision."""
_PATTERN = re.compile(r"[*?[]")


class TooManyNames(ValueError):
    """A command that names more things than anybody would look at."""


def digest_of(hook: HookDefinition, root: str) -> str:
    """Of the definition and of what its words name below `root` now. Another digest is another decision.

    Raises TooManyNames.
    """
    summary = hashlib.sha256()
    family = FAMILIES.get(hook.scope, "project")
    parts = [VERSION, family, hook.moment, hook.matcher, hook.command, f"{hook.timeout_s:g}", hook.shell]
    if not hook.sandbox:
        parts.append("outside the sandbox")
    if hook.agent:
        parts.append(f"of the agent {hook.agent}")
    named = list(_named(hook, root)) if hook.needs_approval else []
    for part in (
        *(part.encode(errors="surrogatepass") for part in parts),
        *(piece for pair in named for piece in pair),
    ):
        summary.update(len(part).to_bytes(8, "big") + part)
    return summary.hexdigest()


def named_files(hook: HookDefinition, root: str) -> list[str]:
    """What stands inside the project and is named by the command. Raises TooManyNames."""
    return [path for path in _paths(hook, root) if os.path.lexists(path)]


def project_program(hook: HookDefinition, root: str) -> str:
    """A program or script of the project that the command runs by its path. Empty: there is none."""
    place = os.path.realpath(root)
    if _holds_home(hook, place):
        return ""
    for word in words_of(hook.command):
        for text in expanded(word.text, place) if word.runs else ():
            path = os.path.normpath(os.path.join(place, text))
            if is_inside(path, place) and os.path.isfile(path):
                return path
    return ""


def stray_file(hook: HookDefinition, root: str, cwd: str) -> str:
    """A program or script that a relative word means from `cwd`, other than the one it means from the project's root,
    where it was looked at. Empty: there is none."""
    place, here = os.path.realpath(root), os.path.realpath(cwd)
    if here == place:
        return ""
    for word in words_of(hook.command):
        found = os.path.join(here, word.text)
        if not os.path.isfile(found) or word.text.startswith("/") or not (word.runs or os.access(found, os.X_OK)):
            continue
        meant = os.path.join(place, word.text)
        if not os.path.isfile(meant) or not os.path.samefile(found, meant):
            return os.path.relpath(found, place)
    return ""


def _named(hook: HookDefinition, root: str) -> Iterator[tuple[bytes, bytes]]:
    """Each named thing, as seen from the root, with what it is: a file's own digest, or its kind. What does not exist
    adds nothing, so that its coming changes the whole."""
    place, left = os.path.realpath(root), MAX_TOTAL_BYTES
    for path in _paths(hook, root):
        content, size = content_at(path, place, min(left, MAX_FILE_BYTES))
        left -= size
        if content:
            yield os.fsencode(os.path.relpath(path, place)), content


def _paths(hook: HookDefinition, root: str) -> list[str]:
    """Where the words may lead inside the project: from its root, and from each folder that they name
    (`cd scripts && ./check.sh`)."""
    place = os.path.realpath(root)
    if _holds_home(hook, place):
        return []
    words = dict.fromkeys(text for word in words_of(hook.command) for text in expanded(word.text, place))
    folders = [place]
    for word in words:
        path = os.path.normpath(os.path.join(place, word))
        if len(folders) < MAX_FOLDERS and path not in folders and os.path.isdir(path):
            folders.append(path)
    named = {os.path.normpath(os.path.join(folder, word)) for word in words for folder in folders}
    inside = {path for path in named if path != place and is_inside(path, place)}
    found = inside.union(*(_matching(path) for path in inside if _PATTERN.search(os.path.basename(path))))
    if len(found) > MAX_NAMES:
        raise TooManyNames
    return sorted(found)


def _matching(pattern: str) -> list[str]:
    """What a pattern in the last part of a path stands for. One in its folders is not followed: that may be much."""
    folder, name = os.path.split(pattern)
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if fnmatchcase(entry.name, name)]
    except (OSError, ValueError):
        return []


def _holds_home(hook: HookDefinition, place: str) -> bool:
    """The project holds the home directory: what the user's own hook names there is the user's own too."""
    return hook.of_user and is_inside(os.path.realpath(os.path.expanduser("~")), place)
