"""Every command a text would run, seen through wrappers, shells, xargs, find, substitutions and variables (P7).

This is the deny side: it over-estimates. What cannot be known is marked `opaque`, and then the verdict cannot be allow
by rule, mode or sandbox while deny rules exist.
"""

import os
from typing import NamedTuple

from clew.permissions.shell.lexer import Lexer
from clew.permissions.shell.values import Value, Variables
from clew.permissions.shell.words import Command, Redirect
from clew.permissions.shell.wrappers import SHELLS, WRAPPERS, base_name, inner_command
from clew.permissions.word_set import word_set

_MAX_TEXTS = 64
_MAX_EFFECTIVE = 20_000
_MAX_WORK = 150_000
"""Characters of texts inside texts; the first text is always read."""
_TEXT_FLAGS: dict[str, tuple[str, ...]] = {
    "su": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "script": ("-c", "--command"),
    "flock": ("-c", "--command"),
    "env": ("-S", "--split-string"),
    "mapfile": ("-C",),
    "readarray": ("-C",),
    "compgen": ("-C", "-W"),
    "complete": ("-C",),
    "git": ("-x", "--exec"),
    "rsync": ("-e", "--rsh"),
    "zip": ("-TT", "--unzip-command"),
    "sort": ("--compress-program",),
    "rg": ("--pre",),
}
_ALL_TEXT = word_set("""eval watch parallel trap tmux screen""")
_DECLARES = word_set("export declare readonly typeset local")
_EXEC_FLAGS = word_set("""-exec -execdir -ok -okdir -x -X --exec --exec-batch""")


class Effective(NamedTuple):
    """One command as it would take effect. `cwd` is None where the directory cannot be known."""

    argv: list[Value]
    cwd: str | None
    redirects: tuple[tuple[Redirect, tuple[Value, ...]], ...] = ()
    wrapped: bool = False

    @property
    def name(self) -> str:
        return base_name(self.argv[0].text) if self.argv and self.argv[0].known else ""


class Scan:
    """Reads a text and all texts inside it."""

    def __init__(self, text: str, cwd: str, home: str) -> None:
        self.effective: list[Effective] = []
        self.opaque = False
        self.fork_bomb = False
        self._home = home
        self._texts: list[tuple[str, str | None]] = [(text, cwd)]
        self._read = 0
        work = 0
        while self._texts and self._read < _MAX_TEXTS and len(self.effective) < _MAX_EFFECTIVE and work < _MAX_WORK:
            body, place = self._texts.pop(0)
            self._read += 1
            work += len(body)
            self._scan(Lexer(body), place)
        self.opaque = self.opaque or bool(self._texts)

    def _scan(self, lexer: Lexer, cwd: str | None) -> None:
        self.opaque = self.opaque or not lexer.complete
        variables = Variables(self._home)
        places: dict[tuple[int, ...], str | None] = {(): cwd}
        for command in lexer.commands:
            place = _inherit(places, command.scope)
            argv = [value for word in command.words for value in variables.expand(word, place)]
            for name, word in command.assigns:
                variables.bind(name, variables.expand(word, place))
            if argv and argv[0].text in _DECLARES:
                for value in argv[1:]:
                    name, given, rest = value.text.partition("=")
                    if given:
                        rest = self._home + rest[1:] if rest == "~" or rest.startswith("~/") else rest
                        variables.bind(name, [value._replace(text=rest)])
            if len(argv) > 2 and argv[0].text == "for" and argv[2].text == "in":
                variables.bind(argv[1].text, argv[3:])
            redirects = tuple((one, tuple(variables.expand(one.target, place))) for one in command.redirects)
            self._bomb(command, lexer)
            self._unwrap(Effective(argv, place, redirects), command, variables)
            if argv and argv[0].text in ("cd", "pushd"):
                places[command.scope] = _moved(argv, place, self._home)

    def _bomb(self, command: Command, lexer: Lexer) -> None:
        source = command.pipe_from
        if source is None or not source.words or not command.words:
            return
        name = command.words[0].text
        if name == source.words[0].text and name in lexer.functions:
            self.fork_bomb = True

    def _unwrap(self, found: Effective, command: Command, variables: Variables) -> None:
        """Record the command, then whatever it would run in turn."""
        for _ in range(12):
            self.effective.append(found)
            argv = found.argv
            if not argv:
                return
            if not argv[0].known:
                self.opaque = True
                return
            self._texts_of(found, command, variables)
            inner = self._inner(found, command, variables)
            if not inner:
                return
            found = Effective(inner, found.cwd, found.redirects, wrapped=True)
        self.opaque = True

    def _inner(self, found: Effective, command: Command, variables: Variables) -> list[Value]:
        name, argv = found.name, found.argv
        if name in ("find", "fd", "fdfind"):
            return self._find_exec(found)
        if name == "git" and any(value.text in ("run", "foreach") for value in argv[1:4]):
            at = next(index for index, value in enumerate(argv) if value.text in ("run", "foreach"))
            self._queue(" ".join(value.text for value in argv[at + 1 :]), found.cwd, known=True)
            return argv[at + 1 :]
        if name not in WRAPPERS:
            return []
        inner = inner_command(name, argv)
        if name == "xargs" and inner:
            return [*inner, *_piped_words(command, variables)]
        return inner

    def _find_exec(self, found: Effective) -> list[Value]:
        argv = found.argv
        starts = [value for value in argv[1:] if not value.text.startswith(("-", "(", "!"))]
        at = next((index for index, value in enumerate(argv) if value.text in _EXEC_FLAGS), 0)
        if not at:
            return []
        rest = argv[at + 1 :]
        end = next((index for index, value in enumerate(rest) if value.text in (";", "+")), len(rest))
        roots = [value for value in starts if value in argv[1:at]][:4]
        if filtered_find(argv[1:at]):
            # Only something below the roots is meant, so the roots themselves are not at stake.
            roots = [value._replace(text=f"{value.text}/x") for value in roots if value.text.startswith("/")]
        if roots and rest and base_name(rest[0].text) == "rm":
            # find itself descends, so the inner rm need not be recursive to empty the tree.
            rest = [rest[0], Value("-r"), *rest[1:]]
            end += 1
        body = [one for value in rest[:end] for one in (roots if value.text == "{}" and roots else [value])]
        if end < len(rest) - 1:
            self._unwrap_more(Effective([argv[0], *rest[end + 1 :]], found.cwd))
        return body

    def _unwrap_more(self, found: Effective) -> None:
        if len(self.effective) < _MAX_EFFECTIVE and any(value.text in _EXEC_FLAGS for value in found.argv):
            self._unwrap(found, Command(0, ()), Variables(self._home))

    def _texts_of(self, found: Effective, command: Command, variables: Variables) -> None:
        """Queue the strings that this command would read as shell text."""
        name, argv = found.name, found.argv
        if name in SHELLS:
            self._shell_texts(found, command, variables)
        elif name in _ALL_TEXT:
            self._queue(" ".join(value.text for value in argv[1:]), found.cwd, known=all(value.known for value in argv))
            if name == "trap" and len(argv) > 1:
                self._queue(argv[1].text, found.cwd, known=argv[1].known)
        elif name == "alias":
            for value in argv[1:]:
                self._queue(value.text.partition("=")[2], found.cwd, known=value.known)
        elif name in ("source", "."):
            self.opaque = True
        for flag in _TEXT_FLAGS.get(name, ()):
            for index, value in enumerate(argv[1:], 1):
                if value.text == flag and index + 1 < len(argv):
                    self._queue(argv[index + 1].text, found.cwd, known=argv[index + 1].known)
                elif value.text.startswith(flag + "="):
                    self._queue(value.text[len(flag) + 1 :], found.cwd, known=value.known)

    def _shell_texts(self, found: Effective, command: Command, variables: Variables) -> None:
        argv = found.argv
        for index, value in enumerate(argv[1:], 1):
            text = value.text
            if text.startswith("-") and not text.startswith("--") and "c" in text[1:]:
                body = next((one for one in argv[index + 1 :] if not one.text.startswith("-")), None)
                if body is None:
                    self.opaque = True
                else:
                    self._queue(body.text, found.cwd, known=body.known)
                return
        for redirect, values in found.redirects:
            if redirect.op in ("<<", "<<-"):
                self._queue(redirect.body, found.cwd, known=True)
                return
            if redirect.op == "<<<":
                self._queue(
                    " ".join(value.text for value in values), found.cwd, known=all(value.known for value in values)
                )
                return
        fed = _piped_text(command, variables)
        if fed:
            self._queue(fed, found.cwd, known=True)
        else:
            self.opaque = True

    def _queue(self, text: str, cwd: str | None, *, known: bool) -> None:
        self.opaque = self.opaque or not known
        if text.strip():
            self._texts.append((text, cwd))


def filtered_find(argv: list[Value]) -> bool:
    """The search is narrowed by more than depth and type."""
    filters = {
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-newer",
        "-size",
        "-user",
        "-empty",
        "-perm",
    }
    for index, value in enumerate(argv):
        if value.text in filters and not (index + 1 < len(argv) and argv[index + 1].text in ("*", ".*")):
            return True
    return False


def _piped_text(command: Command, variables: Variables) -> str:
    """What a pipe would feed, where the program before it only prints its own words."""
    source = command.pipe_from
    if source is None or not source.words:
        return ""
    name = source.words[0].text
    if name in ("echo", "printf"):
        values = [value for word in source.words[1:] for value in variables.expand(word, None)]
        return " ".join(value.text for value in values if not value.text.startswith("-")).replace("\\n", "\n")
    if name == "find":
        values = [value for word in source.words[1:] for value in variables.expand(word, None)]
        starts = [value.text for value in values if value.text.startswith("/")]
        return " ".join(f"{start}/x" if filtered_find(values) else start for start in starts)
    if name == "cat":
        return "\n".join(redirect.body for redirect in source.redirects if redirect.body)
    return ""


def _piped_words(command: Command, variables: Variables) -> list[Value]:
    return [Value(part) for part in _piped_text(command, variables).split()[:64]]


def _inherit(places: dict[tuple[int, ...], str | None], scope: tuple[int, ...]) -> str | None:
    outer = scope
    while outer not in places:
        outer = outer[:-1]
    places[scope] = places[outer]
    return places[scope]


def _moved(argv: list[Value], cwd: str | None, home: str) -> str | None:
    targets = [value for value in argv[1:] if not (value.text.startswith("-") and value.text != "-")]
    if not targets:
        return home
    target = targets[0]
    if not target.known or target.globs or target.text == "-":
        return None
    if target.text.startswith("/"):
        return os.path.normpath(target.text)
    return os.path.normpath(os.path.join(cwd, target.text)) if cwd is not None else None
