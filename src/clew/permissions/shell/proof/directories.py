"""Where the shell may be when a part runs: `cd` as bash does it, and what `&&`, `||` and `;` make of it (P5).

Bash keeps the name of its directory: `cd ..` after `cd link` goes back to where the link lies. So names are kept here
too, and the place behind a name is looked up when a part is judged. Which parts run depends on how they are joined, so
several directories may be possible at once; then a part must be harmless in each of them.
"""

import os
from typing import NamedTuple

from clew.permissions.files import Places, judge_place
from clew.permissions.paths import resolve
from clew.permissions.shell.reading.words import Command

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

    def before(self, command: Command) -> frozenset[str]:
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

    def after(self, command: Command, started: frozenset[str], moved: frozenset[str] | None) -> None:
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

    def change(self, command: Command, started: frozenset[str]) -> tuple[frozenset[str], str]:
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
