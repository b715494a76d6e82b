"""The `hooks` object of a settings file as hooks. What cannot be understood is one line each; the rest still counts."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from clew.hooks.definitions import (
    DEFAULT_TIMEOUT_S,
    MATCHLESS,
    MAX_TIMEOUT_S,
    MIN_TIMEOUT_S,
    MOMENTS,
    HookDefinition,
)
from clew.hooks.digests import TooManyNames, digest_of
from clew.hooks.matching import problem_with
from clew.protocol.event_kinds.programs import HookScope

MAX_COMMAND_CHARS = 20_000
MAX_HOOKS = 500
MAX_PROBLEMS = 50
MAX_SHOWN_CHARS = 60
OTHER_KINDS = ("prompt", "http", "agent", "mcp_tool")
WITHOUT_EFFECT = ("statusMessage", "once", "description", "async", "asyncRewake", "asyncTimeout")
"""Keys of Claude Code that may stand there and change nothing here."""
KNOWN_KEYS = ("type", "command", "args", "timeout", "shell", "sandbox", *WITHOUT_EFFECT)
_NAMES_PROJECT = re.compile(r"\$(?:\{(?:CLAUDE|CLEW)_PROJECT_DIR\}|(?:CLAUDE|CLEW)_PROJECT_DIR\b)")


class HookSource(Struct, frozen=True, kw_only=True):
    """Where a `hooks` object stands."""

    place: str
    """The file, or `--settings`."""
    scope: HookScope
    root: str
    """The project, whose files count into digests."""
    agent: str = ""
    """The kind of agent whose definition it is part of."""


class _Bad(ValueError):
    """One piece that cannot be used, and why."""


def read_hooks(value: object, source: HookSource) -> tuple[list[HookDefinition], list[str]]:
    """The hooks of one object, in its order, and a line for each piece that is none."""
    reader = _Reader(source)
    reader.read(value)
    if len(reader.problems) > MAX_PROBLEMS:
        left = len(reader.problems) - MAX_PROBLEMS
        reader.problems[MAX_PROBLEMS:] = [f"{source.place}: {left} more problems"]
    return reader.hooks, reader.problems


def shown(value: object) -> str:
    """A value from a file, short and on one line."""
    text = value if isinstance(value, str) else type(value).__name__
    text = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


class _Reader:
    """Goes through an object and keeps what can be used."""

    def __init__(self, source: HookSource) -> None:
        self._source = source
        self._full = False
        self.hooks: list[HookDefinition] = []
        self.problems: list[str] = []

    def read(self, value: object) -> None:
        moments = _members(value)
        if moments is None:
            self._complain("hooks", "is not an object of moments")
            return
        for moment, groups in moments.items():
            path = f"hooks.{shown(moment)}"
            if moment not in MOMENTS:
                self._complain(path, "is no moment that clew knows; its hooks are not run")
                continue
            listed = _items(groups)
            if listed is None:
                self._complain(path, "is not a list")
                continue
            for number, group in enumerate(listed):
                self._group(moment, group, f"{path}[{number}]")

    def _group(self, moment: str, value: object, path: str) -> None:
        group = _members(value)
        if group is None:
            self._complain(path, "is not an object with a list of hooks")
            return
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            self._complain(f"{path}.matcher", "is not a string")
            return
        matcher = "" if moment in MATCHLESS else matcher or ""
        if problem := problem_with(matcher):
            self._complain(f"{path}.matcher", f'"{shown(matcher)}" matches nothing: {problem}')
            return
        for key in group:
            if key not in ("matcher", "hooks", "description"):
                self._complain(f"{path}.{shown(key)}", "is not known; it has no effect")
        listed = _items(group.get("hooks"))
        if listed is None:
            self._complain(f"{path}.hooks", "is missing or not a list")
            return
        for number, one in enumerate(listed):
            self._hook(moment, matcher, one, f"{path}.hooks[{number}]")

    def _hook(self, moment: str, matcher: str, value: object, path: str) -> None:
        if len(self.hooks) >= MAX_HOOKS:
            if not self._full:
                self._complain(path, f"and what follows is beyond the {MAX_HOOKS} hooks that one file may have")
            self._full = True
            return
        try:
            hook = self._made(moment, matcher, value, path)
            self.hooks.append(replace(hook, digest=digest_of(hook, self._source.root)))
        except _Bad as problem:
            self._complain(path, str(problem))
        except TooManyNames:
            self._complain(f"{path}.command", "names too many things; it is not run")

    def _made(self, moment: str, matcher: str, value: object, path: str) -> HookDefinition:
        fields = _members(value)
        if fields is None:
            raise _Bad("is not an object")
        kind = fields.get("type")
        if kind != "command":
            known = isinstance(kind, str) and kind in OTHER_KINDS
            words = f'has the type "{shown(kind)}"' if kind is not None else "has no type"
            raise _Bad(f"{words}, which is not {'supported' if known else 'known'}; only command hooks run")
        if fields.get("if") is not None:
            raise _Bad('has a condition ("if"), which is not supported; it is not run')
        command = _command(fields)
        timeout_s = self._timeout(fields.get("timeout"), f"{path}.timeout")
        self._remark(fields, path)
        return HookDefinition(
            moment=moment,
            matcher=matcher,
            command=command,
            source=self._source.place,
            scope=self._source.scope,
            digest="",
            timeout_s=timeout_s,
            shell=_shell(fields.get("shell")),
            sandbox=self._sandbox(fields.get("sandbox"), f"{path}.sandbox"),
            agent=self._source.agent,
        )

    def _timeout(self, value: object, path: str) -> float:
        """A hook with a wrong limit still runs: it may be a guard."""
        if value is None:
            return DEFAULT_TIMEOUT_S
        number = None if isinstance(value, bool) or not isinstance(value, (int, float)) else value
        if number is None or (isinstance(number, float) and not math.isfinite(number)) or number <= 0:
            self._complain(path, f"is not a number of seconds; {DEFAULT_TIMEOUT_S:g} are used")
            return DEFAULT_TIMEOUT_S
        bounded = max(float(min(number, MAX_TIMEOUT_S)), MIN_TIMEOUT_S)
        if bounded != number:
            self._complain(path, f"is in seconds, from {MIN_TIMEOUT_S:g} to {MAX_TIMEOUT_S:g}; {bounded:g} are used")
        return bounded

    def _sandbox(self, value: object, path: str) -> bool:
        """A hook with a wrong word here is held: that is the stricter reading."""
        if value is not None and not isinstance(value, bool):
            self._complain(path, "is neither true nor false; the hook runs in the sandbox")
        return value is not False

    def _remark(self, fields: dict[str, Any], path: str) -> None:
        """What is set and has no effect, said once per key."""
        for key, value in fields.items():
            if key not in KNOWN_KEYS:
                self._complain(f"{path}.{shown(key)}", "is not known; it has no effect")
            elif key in ("async", "asyncRewake") and value:
                self._complain(f"{path}.{key}", "has no effect: the hook is waited for")

    def _complain(self, path: str, words: str) -> None:
        self.problems.append(f"{shown_place(self._source.place)}: {path} {words}")


def shown_place(place: str) -> str:
    """A file name on one line, whole."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in place)


def _command(fields: dict[str, Any]) -> str:
    command = fields.get("command")
    if not isinstance(command, str) or not command.strip():
        raise _Bad("has no command")
    args = fields.get("args")
    if args is not None:
        words = _items(args)
        if words is None or not all(isinstance(word, str) for word in words):
            raise _Bad("has args that are not a list of strings")
        command = " ".join(_quoted(word) for word in (command, *cast("list[str]", words)))
    if len(command) > MAX_COMMAND_CHARS:
        raise _Bad(f"has a command longer than {MAX_COMMAND_CHARS:,} characters")
    if "\0" in command or any("\ud800" <= letter <= "\udfff" for letter in command):
        raise _Bad("has a command with characters that no command can have")
    return command


def _quoted(word: str) -> str:
    """A word of a command without a shell, for a shell: only the project's directory is still put in."""
    parts = list(_pieces(word))
    return "".join(parts) or "''"


def _pieces(word: str) -> Iterator[str]:
    at = 0
    for match in _NAMES_PROJECT.finditer(word):
        yield _single_quoted(word[at : match.start()])
        yield f'"{match[0]}"'
        at = match.end()
    yield _single_quoted(word[at:])


def _single_quoted(text: str) -> str:
    if not text or re.fullmatch(r"[\w@%+=:,./-]+", text, re.ASCII):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _shell(value: object) -> str:
    if value is None or value == "sh":
        return "sh"
    if value == "bash":
        return "bash"
    raise _Bad(f'wants the shell "{shown(value)}"; only sh and bash are supported')


def _members(value: object) -> dict[str, Any] | None:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None


def _items(value: object) -> list[Any] | None:
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None
