"""Every command a text would run, seen through wrappers, shells, xargs, find, substitutions and variables (P7).

This is the deny side: it over-estimates. What cannot be known is marked: `opaque` where some program may run that is
not seen here (a script, a sourced file), `hidden` where the text itself hides which one (a substitution as the
program, a pipe into a shell), `cut` where a limit was hit.
"""

import os
import re
from collections import deque
from itertools import islice, pairwise, product

from clew.permissions.shell.programs.table import SHELLS, base_name, program
from clew.permissions.shell.proof.fed_words import (
    fed_text,
    piped_text,
    piped_words,
    printed_inside,
    replace_mark,
    text_behind,
    walks_from,
)
from clew.permissions.shell.reading.elsewhere import foreign_texts
from clew.permissions.shell.reading.fork_bomb import is_fork_bomb
from clew.permissions.shell.reading.glob import bash_match, matching_names
from clew.permissions.shell.reading.lexer import Lexer
from clew.permissions.shell.reading.unwrap import (
    MAX_ARGUMENTS,
    Effective,
    directory_after,
    directory_of,
    found_commands,
    inner_command,
    printed_words,
)
from clew.permissions.shell.reading.values import Value, Variables
from clew.permissions.shell.reading.words import SimpleCommand
from clew.text.guarded_names import word_set

_MAX_TEXTS = 64
_MAX_EFFECTIVE = 6_000
_MAX_WORK = 150_000
"""Characters of texts inside texts; the first text is always read."""
_MAX_PLACES = 3
_MAX_UNWRAPPED = 14
_DECIDING = 4
"""The words at the start that decide what runs: wrapper, program, subcommand, and one more."""
_MAX_ALTERNATIVES = 16
_NAMES_PROGRAM = re.compile(
    r"GIT_\w+|\w*(?:PAGER|EDITOR|ASKPASS|BROWSER)|\w+_COMMAND|VISUAL|LESSOPEN|LESSCLOSE|BASH_ENV|ENV|SHELL"
)
_DECLARES = word_set("export declare readonly typeset local")
_SETS_UNSEEN = word_set("read mapfile readarray getopts let unset")

_Places = tuple[str | None, ...]


class Scan:
    """Reads a text and all texts inside it."""

    def __init__(self, text: str, cwd: str, home: str) -> None:
        self.effective: list[Effective] = []
        self.opaque = False
        self.hidden = False
        self.cut = False
        self.fork_bomb = False
        self.fault: Exception | None = None
        """What went wrong in a part; the others were read all the same."""
        self._home = home
        self._texts: deque[tuple[str, str | None, tuple[Value, ...]]] = deque([(text, cwd, ())])
        texts, work = 0, 0
        while self._texts and not self.cut:
            if texts >= _MAX_TEXTS or work >= _MAX_WORK:
                self.cut = True
                break
            body, place, arguments = self._texts.popleft()
            texts += 1
            work += len(body)
            lexer = Lexer(body)
            self.fork_bomb = self.fork_bomb or is_fork_bomb(body, lexer)
            self._scan(lexer, place, arguments)
        self.opaque = self.opaque or self.cut

    def _scan(self, lexer: Lexer, cwd: str | None, arguments: tuple[Value, ...]) -> None:
        if not lexer.complete:
            self.opaque = True
            self.cut = self.cut or lexer.cut
        called = self._pass(lexer, cwd, arguments)
        if called:
            # A function's body is read once more with what it is called with.
            self._pass(lexer, cwd, tuple(called))

    def _pass(self, lexer: Lexer, cwd: str | None, arguments: tuple[Value, ...]) -> list[Value]:
        """Read all commands in order; the words that functions of the text are called with are returned."""
        variables = Variables(self._home)
        variables.bind_arguments(arguments)
        places: dict[tuple[int, ...], _Places] = {(): (cwd,)}
        called: list[Value] = []
        for command in lexer.commands:
            if len(self.effective) >= _MAX_EFFECTIVE:
                self.cut = True
                break
            try:
                argv = self._read(command, lexer, variables, places)
            except Exception as broken:
                # A part that cannot be read asks (verdict.py); what the others do is judged all the same.
                self.fault = self.fault or broken
                continue
            if argv and argv[0].text in lexer.functions and not arguments:
                called += argv[1 : 1 + MAX_ARGUMENTS]
        return called[:MAX_ARGUMENTS]

    def _read(
        self, command: SimpleCommand, lexer: Lexer, variables: Variables, places: dict[tuple[int, ...], _Places]
    ) -> list[Value]:
        possible = _inherit(places, command.scope)
        read = [variables.choices(word, possible[0]) for word in command.words]
        argv = [value for choices in read for choice in choices for value in choice]
        self._bind(command, argv, variables, possible[0])
        redirects = tuple((one, tuple(variables.expand(one.target, possible[0]))) for one in command.redirects)
        fed = fed_text(command, redirects, variables)
        for words in [*self._alternatives(argv, read), *printed_words(argv, command, lexer, variables, possible[0])]:
            for place in possible:
                self._unwrap(Effective(words, place, redirects, fed), command, variables, lexer)
        if argv and argv[0].text in ("cd", "pushd", "popd"):
            places[command.scope] = _moved(argv, command, possible, self._home)
        return argv

    def _alternatives(self, argv: list[Value], read: list[list[list[Value]]]) -> list[list[Value]]:
        """All values at once, as operands; and each by itself where it decides which program runs, and what of it."""
        several = [at for at, choices in enumerate(read[:_DECIDING]) if len(choices) > 1]
        if not several:
            return [argv]
        rest = [value for choices in read[_DECIDING:] for choice in choices for value in choice]
        combined = list(islice(product(*read[:_DECIDING]), _MAX_ALTERNATIVES + 1))
        if len(combined) > _MAX_ALTERNATIVES:
            self.opaque = True
            self.hidden = self.hidden or several[0] == 0
        return [argv, *([value for choice in one for value in choice] + rest for one in combined[:_MAX_ALTERNATIVES])]

    def _bind(self, command: SimpleCommand, argv: list[Value], variables: Variables, cwd: str | None) -> None:
        certain = not (command.conditional or command.joined in ("&&", "||"))
        for name, words in command.arrays:
            variables.bind(name, [value for word in words for value in variables.expand(word, cwd)], certain=certain)
        arrays = {name for name, _ in command.arrays}
        for name, word in command.assigns:
            if name in arrays:
                continue
            values = variables.expand(word, cwd)
            variables.bind(name, values, certain=certain)
            self._program_variable(name, values, cwd)
        if not argv:
            return
        name = argv[0].text
        if name in _DECLARES:
            for value in argv[1:]:
                variable, given, rest = value.text.partition("=")
                if given:
                    rest = self._home + rest[1:] if rest == "~" or rest.startswith("~/") else rest
                    variables.bind(variable, [value._replace(text=rest)], certain=certain)
                    self._program_variable(variable, [value._replace(text=rest)], cwd)
        elif name in _SETS_UNSEEN or (name == "printf" and len(argv) > 2 and argv[1].text == "-v"):
            for value in argv[1:]:
                variables.forget(value.text.partition("=")[0])
        elif name == "set" and any(value.text == "--" for value in argv):
            at = next(index for index, value in enumerate(argv) if value.text == "--")
            variables.bind_arguments(tuple(argv[at + 1 :]))
        elif name in ("for", "select") and len(argv) > 2 and argv[2].text == "in":
            variables.bind(argv[1].text, argv[3:])

    def _program_variable(self, name: str, values: list[Value], cwd: str | None) -> None:
        """Some variables name programs that others start."""
        if _NAMES_PROGRAM.fullmatch(name):
            for value in values:
                self._queue(value.text, cwd, known=value.known)

    def _unwrap(self, first: Effective, command: SimpleCommand, variables: Variables, lexer: Lexer) -> None:
        """Record the command, then whatever it would run in turn."""
        waiting = [first]
        for _ in range(_MAX_UNWRAPPED):
            if not waiting or len(self.effective) >= _MAX_EFFECTIVE:
                break
            found = waiting.pop()
            self.effective.append(found)
            if not found.argv:
                continue
            name = found.argv[0]
            if not name.known:
                self.opaque = self.hidden = True
                continue
            if name.globs:
                waiting += self._by_pattern(found)
                continue
            for foreign in foreign_texts(found, self._home):
                self._queue(foreign.text, foreign.cwd, known=True)
            self._texts_of(found, command, variables, lexer)
            waiting += self._inner(found, command, variables)
        if waiting:
            self.cut = True

    def _by_pattern(self, found: Effective) -> list[Effective]:
        """A program written as a pattern: every file that it matches may be the one."""
        folder, _, pattern = found.argv[0].text.rpartition("/")
        self.opaque = self.hidden = True
        matched = matching_names(os.path.join(found.cwd or "/", folder or "."), pattern)[:16] if found.cwd else []
        return [Effective([Value(name), *found.argv[1:]], found.cwd, found.redirects) for name in matched]

    def _inner(self, found: Effective, command: SimpleCommand, variables: Variables) -> list[Effective]:
        name, argv = found.name, found.argv
        if name in ("find", "fd", "fdfind"):
            inner, whole = found_commands(found)
            self.cut = self.cut or not whole
            return inner
        if name == "git" and any(value.text in ("run", "foreach") for value in argv[1:4]):
            at = next(index for index, value in enumerate(argv) if value.text in ("run", "foreach"))
            self._queue(" ".join(value.text for value in argv[at + 1 :]), found.cwd, known=True)
            return [Effective(argv[at + 1 :], found.cwd)]
        row = program(name).wraps
        if row is None:
            return []
        inner = inner_command(row, argv)
        for value in argv[1 : len(argv) - len(inner)] if row.assigns else ():
            variable, given, text = value.text.partition("=")
            if given:
                self._program_variable(variable, [value._replace(text=text)], found.cwd)
        walks = found.walks
        cwd = directory_of(row, argv[1 : len(argv) - len(inner)], found.cwd)
        if name in ("xargs", "parallel") and inner:
            self._replaced(argv[1 : len(argv) - len(inner)], inner)
            inner = [*inner, *piped_words(command, found.fed, variables)]
            walks = walks or walks_from(command)
        return [Effective(inner, cwd, found.redirects, found.fed, walks)] if inner else []

    def _replaced(self, flags: list[Value], inner: list[Value]) -> None:
        """Where xargs puts its input into the program's name, or into a shell's text, nobody knows what runs."""
        mark = replace_mark([value.text for value in flags])
        if mark and mark in inner[0].text:
            self.opaque = self.hidden = True
        elif mark and base_name(inner[0].text) in SHELLS and any(mark in value.text for value in inner):
            self.opaque = True

    def _texts_of(self, found: Effective, command: SimpleCommand, variables: Variables, lexer: Lexer) -> None:
        """Queue the strings that this command would read as shell text."""
        name, argv = found.name, found.argv
        flags = program(name).shell_texts
        if name == "git":
            self._git_settings(found)
        if name in SHELLS:
            self._shell_texts(found, command, variables, lexer)
        elif "*" in flags:
            known = all(value.known for value in argv)
            self._queue(" ".join(value.text for value in argv[1:]), found.cwd, known=known)
            if not known:
                self._queue(printed_inside(command, lexer, variables, found.cwd), found.cwd, known=True)
            row = program(name).wraps
            behind = inner_command(row, argv) if row is not None else []
            if len(behind) != len(argv) - 1:
                self._queue(" ".join(value.text for value in behind), found.cwd, known=True)
            self._tails(found, deep="+" in flags)
            if name == "trap" and len(argv) > 1:
                self._queue(argv[1].text, found.cwd, known=argv[1].known)
        elif name == "alias":
            for value in argv[1:]:
                self._queue(value.text.partition("=")[2], found.cwd, known=value.known)
        elif name in ("source", "."):
            self._sourced(found, command, variables, lexer)
        elif flags:
            for index, value in enumerate(argv[1:], 1):
                text = text_behind(value.text, flags)
                if text:
                    self._queue(text, found.cwd, known=value.known)
                elif text is not None and index + 1 < len(argv):
                    self._queue(argv[index + 1].text, found.cwd, known=argv[index + 1].known)

    def _tails(self, found: Effective, *, deep: bool) -> None:
        """Each word that could be a text of its own, and each with what follows it."""
        for at, value in list(enumerate(found.argv))[1:MAX_ARGUMENTS] if deep else ():
            self._queue(value.text if " " in value.text else "", found.cwd, known=True)
            self._queue(" ".join(one.text for one in found.argv[at:]), found.cwd, known=True)

    def _sourced(self, found: Effective, command: SimpleCommand, variables: Variables, lexer: Lexer) -> None:
        """A file that the shell reads as its own text; where that is a pipe, what it would say."""
        self.opaque = True
        given = next((value for value in found.argv[1:] if not value.text.startswith("-")), None)
        if given is None or not given.known or given.text.startswith(("/dev/", "/proc/")):
            self.hidden = True
            self._queue(found.fed or printed_inside(command, lexer, variables, found.cwd), found.cwd, known=True)

    def _git_settings(self, found: Effective) -> None:
        """Settings on git's own command line can be an alias, a pager, an editor."""
        for before, value in pairwise(found.argv):
            if before.text != "-c":
                self.opaque = self.opaque or value.text.startswith(("--config-env", "alias."))
                continue
            key, _, text = value.text.partition("=")
            is_alias = key.lower().startswith("alias.")
            self.opaque = self.opaque or is_alias
            as_git = is_alias and not text.startswith("!")
            self._queue(f"git {text}" if as_git else text.removeprefix("!"), found.cwd, known=value.known)

    def _shell_texts(self, found: Effective, command: SimpleCommand, variables: Variables, lexer: Lexer) -> None:
        argv = found.argv
        for index, value in enumerate(argv[1:], 1):
            text = value.text
            if text.startswith("-") and not text.startswith("--") and "c" in text[1:]:
                body = next((one for one in argv[index + 1 :] if not one.text.startswith("-")), None)
                if body is None:
                    self.opaque = True
                else:
                    behind = argv[argv.index(body) + 1 :]
                    self._queue(body.text, found.cwd, known=body.known, arguments=tuple(behind[:MAX_ARGUMENTS]))
                return
        for redirect, values in found.redirects:
            if redirect.op in ("<<", "<<-"):
                self._queue(redirect.body, found.cwd, known=True)
                return
            if redirect.op == "<<<":
                known = all(value.known for value in values)
                self._queue(" ".join(value.text for value in values), found.cwd, known=known)
                return
        self.opaque = True
        scripts = [value for value in argv[1:] if not value.text.startswith("-")]
        if any(not value.known for value in scripts):
            # A script that is itself the output of a command.
            self.hidden = True
            self._queue(printed_inside(command, lexer, variables, found.cwd), found.cwd, known=True)
        if scripts:
            return  # a script, by its name
        fed = piped_text(command, variables)
        self._queue(fed, found.cwd, known=bool(fed) or command.pipe_from is None)

    def _queue(self, text: str, cwd: str | None, *, known: bool, arguments: tuple[Value, ...] = ()) -> None:
        if not known:
            self.opaque = self.hidden = True
        if text.strip():
            self._texts.append((text, cwd, arguments))


def could_be(value: Value, word: str) -> bool:
    """The value is this word, or a pattern that may become it."""
    return value.text == word or (value.globs and bash_match(word, value.text))


def _inherit(places: dict[tuple[int, ...], _Places], scope: tuple[int, ...]) -> _Places:
    outer = scope
    while outer not in places:
        outer = outer[:-1]
    places[scope] = places[outer]
    return places[scope]


def _moved(argv: list[Value], command: SimpleCommand, possible: _Places, home: str) -> _Places:
    """Where the shell may be afterwards. A change that may not happen leaves the old places possible too."""
    after: list[str | None] = [directory_after(argv, place, home) for place in possible]
    if command.conditional or command.joined in ("&&", "||"):
        after += possible
    return tuple(dict.fromkeys(after))[:_MAX_PLACES]
