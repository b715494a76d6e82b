"""Walks over the parts of an accepted text: directories, assignments, redirections, wrappers, then the tables.

Where the shell may be when a part runs: `cd` as bash does it, and what `&&`, `||` and `;` make of it (P5).

Bash keeps the name of its directory: `cd ..` after `cd link` goes back to where the link lies. So names are kept here
too, and the place behind a name is looked up when a part is judged. Which parts run depends on how they are joined, so
several directories may be possible at once; then a part must be harmless in each of them.
"""

import os
import re
from typing import NamedTuple

from clew.permissions.files import Places, judge_place
from clew.permissions.paths import real, resolve
from clew.permissions.shell.programs.program import Wrapper
from clew.permissions.shell.programs.table import PROGRAMS, program
from clew.permissions.shell.proof.fed import prove_find_exec, prove_xargs
from clew.permissions.shell.proof.prove import Proof, prove
from clew.permissions.shell.proof.reads import refuse_pattern, refuse_read, splits
from clew.permissions.shell.proof.trees import refuse_tree
from clew.permissions.shell.reading.lexer import Lexer
from clew.permissions.shell.reading.words import Redirect, SimpleCommand, Word, WordPiece, simple_braces

_MAX_POSSIBLE = 4


class _State(NamedTuple):
    """Names of directories that are possible after the last command succeeded, and after it failed."""

    succeeded: frozenset[str]
    failed: frozenset[str]

    @property
    def either(self) -> frozenset[str]:
        return self.succeeded | self.failed


class Directories:
    """Follows one text from its first directory. The grammar keeps `cd` out of pipes, loops, groups and conditions."""

    def __init__(self, names: frozenset[str], places: Places) -> None:
        """`names`: what the shell may call the directory it starts in."""
        self._places = places
        self._states: dict[tuple[int, ...], _State] = {(): _State(names, names)}

    def before(self, command: SimpleCommand) -> frozenset[str]:
        """The directories in which this command may start; none means that it cannot be known."""
        state = self._states.get(command.scope)
        if state is None:
            state = self._enter(command.scope)
            self._states[command.scope] = state
        if command.joined == "&&":
            return state.succeeded
        if command.joined == "||":
            return state.failed
        return state.either

    def after(self, command: SimpleCommand, started: frozenset[str], moved: frozenset[str] | None) -> None:
        """`moved`: where a `cd` leads; None for any other command, which may succeed or fail and moves nothing."""
        state = self._states[command.scope]
        succeeded, failed = (started, started) if moved is None else (moved, frozenset[str]())
        if command.joined == "&&":
            failed |= state.failed
        elif command.joined == "||":
            succeeded |= state.succeeded
        self._states[command.scope] = _State(succeeded, failed)

    def _enter(self, scope: tuple[int, ...]) -> _State:
        """A subshell starts where it stands; what comes after it cannot tell how it ended."""
        outer = scope
        while outer not in self._states:
            outer = outer[:-1]
        either = self._states[outer].either
        self._states[outer] = _State(either, either)
        return _State(either, either)

    def change(self, command: SimpleCommand, started: frozenset[str]) -> tuple[frozenset[str], str]:
        """The names after a `cd`, and why it is not proven harmless."""
        words = command.words
        if command.pipe_from is not None or command.conditional:
            return frozenset(), "a change of directory that may not happen"
        if len(words) != 2 or not words[1].known or words[1].globs or words[1].braces or words[1].text.startswith("-"):
            return frozenset(), "the directory cannot be known"
        text = words[1].text
        if not text or (words[1].tilde and not (text == "~" or text.startswith("~/"))):
            return frozenset(), "the directory cannot be known"
        names: set[str] = set()
        for start in started:
            name, why = self._target(text, start, home=words[1].tilde)
            if why:
                return frozenset(), why
            names.add(name)
        if len(names) > _MAX_POSSIBLE:
            return frozenset(), "the directory cannot be known"
        return frozenset(names), ""

    def _target(self, text: str, start: str, *, home: bool) -> tuple[str, str]:
        given = self._places.home + text[1:] if home else text
        if len(given) > 4095:
            return "", "the directory cannot be known"
        name = os.path.normpath(os.path.join(start, given))
        # Bash checks what stands before `..` and else goes the kernel's way: both must lead to the same kind of place.
        for path in dict.fromkeys((name, os.path.join(start, given))):
            finding = judge_place("list", path, "/", self._places)
            if finding.decision != "allow":
                return "", f"cd: {finding.why}"
            if resolve(path, cwd="/", home=self._places.home).kind != "directory":
                return "", "the directory does not exist"
        return name, ""


_SAFE_NAMES = re.compile(r"LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|CLICOLOR|COLUMNS|LINES")
_PAGERS = re.compile(r"(?:GIT_|MAN|SYSTEMD_)?PAGER")
_SAFE_VALUE = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9_.@+/-]*|")
_SYSTEM_BIN = re.compile(r"/(?:usr/)?bin/([A-Za-z0-9_.+-]+)")
_LOOP_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MAX_LOOP_VALUES = 24


class CommandPart:
    """One simple command of the text with a directory it may run in, loop variables filled in."""

    __slots__ = ("command", "cwd", "forms", "outputs", "why")

    def __init__(self, command: SimpleCommand, cwd: str | None) -> None:
        self.command = command
        self.cwd = cwd
        self.forms: list[list[Word]] = []
        """The word lists it may become; more than one inside a loop."""
        self.why = ""
        """Why redirections, assignments or the directory are not proven; rules do not lift this."""
        self.outputs: list[Word] = []
        """Files that it would write by redirection, where that alone is why it is not proven."""

    @property
    def text(self) -> str:
        return " ".join(word.raw for word in self.command.words)


def parts_of(lexer: Lexer, names: frozenset[str], places: Places) -> list[CommandPart]:
    """The parts in order, once for each directory they may run in. `names`: what the shell may call the first one.

    The text has passed the grammar, so there is no substitution and no unknown variable.
    """
    loops: dict[str, list[Word]] = {}
    broken = {id(command): _bind(command.words, loops) for command in lexer.commands if _is_loop(command)}
    # The lexer tells what a pipe joins; the tree takes `cd x && a 2>&1 | b` for a pipe of both.
    piped = {id(command.pipe_from) for command in lexer.commands if command.pipe_from is not None}
    directories = Directories(names, places)
    parts: list[CommandPart] = []
    for command in lexer.commands:
        started = directories.before(command)
        moved: frozenset[str] | None = None
        why = broken.get(id(command), "")
        if command.words and command.words[0].raw == "cd":
            moved, why = directories.change(command, started)
            if id(command) in piped:
                moved, why = frozenset[str](), "a change of directory that may not happen"
        for place in sorted({real(name) for name in started}) or (None,):
            part = CommandPart(command, place)
            part.forms = [] if id(command) in broken else _forms(command.words, loops, place)
            part.why = why or _listed(command, place, places) or _shape(command, place, places, part.outputs)
            parts.append(part)
        directories.after(command, started, moved)
    return parts


def _listed(command: SimpleCommand, cwd: str | None, places: Places) -> str:
    """Why a loop's list would list a directory that is not to be listed unasked, or an empty string."""
    if cwd is None or not _is_loop(command):
        return ""
    globs = (word for word in command.words[3:] if word.globs)
    return next((why for word in globs if (why := refuse_pattern(word, cwd, places))), "")


def _is_loop(command: SimpleCommand) -> bool:
    return bool(command.words) and command.words[0].raw == "for"


def _bind(words: list[Word], loops: dict[str, list[Word]]) -> str:
    """Loops over the same name may nest in any order: inside them it may hold a value of either."""
    if len(words) < 4 or words[2].raw != "in":
        return "the loop has no list"
    if not _LOOP_NAME.fullmatch(words[1].raw):
        # PATH, IFS and their like steer what the body runs; the shell's own variables are all upper case.
        return "the loop sets a variable that programs may read"
    values: list[Word] = []
    for word in words[3:]:
        expanded = simple_braces(word) if ".." in word.raw else (word,)
        values += expanded or (word,)
    if len(values) > _MAX_LOOP_VALUES or any(not value.known or value.braces for value in values):
        return "the loop's list is not written out"
    loops.setdefault(words[1].text, []).extend(values)
    return ""


def _forms(words: list[Word], loops: dict[str, list[Word]], cwd: str | None) -> list[list[Word]]:
    names = {piece.text for word in words for piece in word.pieces if piece.kind == "var"}
    if not names:
        return [words]
    if len(names) > 1 or not names <= loops.keys():
        return [words]
    name = names.pop()
    return [[_filled(word, value, cwd) for word in words] for value in loops[name]]


def _filled(word: Word, value: Word, cwd: str | None) -> Word:
    """The word with the loop's value in place. An unquoted variable whose value could split stays unknown, and asks."""
    if word.known:
        return word
    if not word.raw.startswith('"') and (cwd is None or splits(value, cwd)):
        return word
    pieces: list[WordPiece] = []
    for piece in word.pieces:
        pieces += value.pieces if piece.kind == "var" else (piece,)
    return Word(word.raw, tuple(pieces))


def _shape(command: SimpleCommand, cwd: str | None, places: Places, outputs: list[Word]) -> str:
    if cwd is None:
        return "the directory cannot be known"
    if command.background:
        return "the command runs in the background"
    for name, value in command.assigns:
        if not command.words:
            return "the command sets a variable"
        if not value.known or not _is_safe_setting(name, value.text):
            return f"the command sets {name}"
    for redirect in command.redirects:
        if why := _refuse_redirect(redirect, cwd, places, outputs):
            outputs.clear()
            return why
    return "the command writes to a file" if outputs else ""


def _is_safe_setting(name: str, value: str) -> bool:
    """A variable that steers no program, or that names `cat` (or nothing) as the pager."""
    if _PAGERS.fullmatch(name):
        return value in ("cat", "")
    return _SAFE_NAMES.fullmatch(name) is not None and _SAFE_VALUE.fullmatch(value) is not None


def _refuse_redirect(redirect: Redirect, cwd: str, places: Places, outputs: list[Word]) -> str:
    target = redirect.target
    if redirect.op in ("<<", "<<-"):
        return "" if redirect.quoted and redirect.fd in ("", "0") else "the text below is expanded by the shell"
    if redirect.fd not in ("", "0", "1", "2"):
        return "the command opens another descriptor"
    if redirect.op in (">&", "<&") and target.plain and target.text in ("1", "2"):
        return ""
    if redirect.op in (">", ">>", "&>", "&>>", ">|"):
        if not (target.plain and target.text == "/dev/null"):
            outputs.append(target)
        return ""
    if redirect.op == "<" and redirect.fd in ("", "0") and target.known and not target.globs and not target.braces:
        return refuse_read(target, cwd, places)
    return "the command writes to a file"


def prove_part(part: CommandPart, places: Places) -> Proof:
    """The strictest proof over everything the part may become."""
    words = part.command.words
    if (words and words[0].raw in ("cd", "for")) or not words:
        return Proof("", words[0].raw if words else "")
    assert part.cwd is not None
    row = ""
    for form in part.forms:
        found = _unwrapped(form, part, part.cwd, places)
        if found.refused:
            return found
        row = found.row
    return Proof("", row)


def _unwrapped(words: list[Word], part: CommandPart, cwd: str, places: Places) -> Proof:
    for _ in range(4):
        if not words:
            return Proof("nothing to run")
        name = words[0].text
        by_path = _SYSTEM_BIN.fullmatch(name)
        if by_path and words[0].plain and (by_path[1] in PROGRAMS):
            words = [Word(by_path[1], (WordPiece("bare", by_path[1]),)), *words[1:]]
            name = by_path[1]
        if name == "xargs" and words[0].plain and len(words) > 2:
            return prove_xargs(words, part.command, cwd, places)
        if name == "find" and words[0].plain and any(word.text == "-exec" for word in words):
            return prove_find_exec(words, cwd, places)
        wraps = program(name).wraps
        if wraps is None or wraps.proven is None or not words[0].plain:
            found = prove(words, cwd, places)
            if found.refused:
                return found
            return Proof(refuse_tree(words, cwd, places, piped=part.command.pipe_from is not None), found.row)
        if len(words) > 1 and words[1].text in ("--version", "--help", "-v", "-V") and name in ("env", "command"):
            return prove(words, cwd, places)
        inner = _inside_wrapper(name, wraps, wraps.proven, words)
        if inner is None:
            return Proof(f"this use of {name} is not proven harmless")
        words = inner
    return Proof("too many wrappers")


def _inside_wrapper(name: str, row: Wrapper, allowed: frozenset[str], words: list[Word]) -> list[Word] | None:
    at = 1
    while at < len(words):
        text = words[at].text
        if not words[at].known or words[at].globs:
            return None
        if text.startswith("-") and len(text) > 1:
            flag = text.partition("=")[0] if text.startswith("--") else text[:2]
            if name == "nice" and text[1:].isdigit():
                at += 1
                continue
            if flag not in allowed:
                return None
            at += 2 if text in row.valued else 1
            continue
        assign = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", text, re.DOTALL)
        if name == "env" and assign:
            if not _is_safe_setting(assign[1], assign[2]):
                return None
            at += 1
            continue
        break
    if row.operands and not (at < len(words) and re.fullmatch(r"\d+(\.\d+)?[smhd]?", words[at].text)):
        return None
    return words[at + row.operands :] or None
