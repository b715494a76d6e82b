"""Which hooks there are: from the user's settings, from `--settings`, from the project's files, and from Claude Code's.

Files of a project are read only when it is trusted, and never through a link that leads out of it. What is wrong with
a file is a line, never the end: `config/` has already refused what clew's own settings may not say.
"""

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from clew.config.load import LoadedSettings
from clew.hooks.definitions import USER_SCOPES, HookDefinition
from clew.hooks.digests import project_program
from clew.hooks.parsing import HookSource, read_hooks, shown_place
from clew.protocol.event_kinds.programs import HookScope

MAX_BYTES = 1_000_000
SOURCES = ("user", "project", "local")
OFF = "disableAllHooks"


class FoundHooks(Struct, frozen=True, kw_only=True):
    """All hooks that are defined, approved or not, and what could not be understood."""

    hooks: tuple[HookDefinition, ...] = ()
    problems: tuple[str, ...] = ()


class _Place(Struct, frozen=True):
    """A file that may define hooks."""

    path: str
    scope: HookScope
    source: str


def hooks_in_force(
    loaded: LoadedSettings,
    *,
    home: Path,
    root: Path,
    trusted: bool,
    env: Mapping[str, str],
    sources: Collection[str] = SOURCES,
) -> FoundHooks:
    """As `find_hooks`, for settings that are loaded already: what `--settings` gave, and whether the user's own file
    says anything about hooks at all."""
    settings = loaded.settings
    return find_hooks(
        home=home,
        root=root,
        trusted=trusted,
        env=env,
        given=loaded.given_hooks,
        disabled=settings.disable_all_hooks,
        sources=sources,
        own_file=bool(settings.hooks or loaded.problems),
    )


def find_hooks(
    *,
    home: Path,
    root: Path,
    trusted: bool,
    env: Mapping[str, str],
    given: Mapping[str, Any] | None = None,
    disabled: bool = False,
    sources: Collection[str] = SOURCES,
    own_file: bool = True,
) -> FoundHooks:
    """Every hook, the user's own first. `given`: the `hooks` object of `--settings`. `disabled`: no hook at all.
    `sources`: which of the user's, the project's and its local files are read. `own_file`: `$CLEW_HOME/settings.json`
    is worth a look."""
    search = _Search(root=os.path.realpath(root), trusted=trusted)
    places = [place for place in _places(home, root, env) if place.source in sources]
    if own_file:
        search.read(*(place for place in places if place.scope == "user"))
    if given is not None:
        search.take(given, "--settings", "given")
    search.read(*(place for place in places if place.scope == "claude_user"))
    if trusted:
        search.read(*(place for place in places if place.scope not in USER_SCOPES))
    hooks = [hook for hook in search.hooks if not (search.claude_off and hook.scope.startswith("claude"))]
    if disabled or search.all_off:
        return FoundHooks(problems=(f"no hook runs: {OFF} is set",) if hooks else ())
    return FoundHooks(hooks=tuple(hooks), problems=tuple(search.problems))


def _places(home: Path, root: Path, env: Mapping[str, str]) -> list[_Place]:
    """The files that are there, each once: a project that is the home directory has the user's own."""
    claude_home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".claude")
    listed = [
        _Place(str(home / "settings.json"), "user", "user"),
        _Place(os.path.join(claude_home, "settings.json"), "claude_user", "user"),
        _Place(str(root / ".clew" / "settings.json"), "project", "project"),
        _Place(str(root / ".clew" / "settings.local.json"), "local", "local"),
        _Place(str(root / ".claude" / "settings.json"), "claude_project", "project"),
        _Place(str(root / ".claude" / "settings.local.json"), "claude_local", "local"),
    ]
    seen: set[str] = set()
    kept: list[_Place] = []
    for place in listed:
        if os.path.lexists(place.path):
            real = os.path.realpath(place.path)
            if real not in seen:
                kept.append(place)
            seen.add(real)
    return kept


class _Search:
    """Reads file after file and keeps what they say."""

    def __init__(self, *, root: str, trusted: bool) -> None:
        self._root = root
        self._trusted = trusted
        self.hooks: list[HookDefinition] = []
        self.problems: list[str] = []
        self.all_off = False
        self.claude_off = False
        """The user wants no hooks at all, or none of those that were written for Claude Code."""

    def read(self, *places: _Place) -> None:
        for place in places:
            self._read(place)

    def _read(self, place: _Place) -> None:
        try:
            data = _bytes_of(place, self._root)
            if data is None:
                return
            values = _decoded(data)
        except _Unreadable as problem:
            self.problems.append(f"{shown_place(place.path)}: {problem}")
            return
        if values.get(OFF) is True:
            # A project may switch off what it brought, never what the user wants.
            self.all_off = self.all_off or place.scope == "user"
            self.claude_off = self.claude_off or place.scope == "claude_user"
            return
        if "hooks" in values:
            self.take(values["hooks"], place.path, place.scope)

    def take(self, value: object, place: str, scope: HookScope) -> None:
        """What one `hooks` object defines."""
        hooks, problems = read_hooks(value, HookSource(place=place, scope=scope, root=self._root))
        self.problems += problems
        for hook in hooks:
            named = "" if self._trusted else project_program(hook, self._root)
            if named:
                words = f"a {hook.moment} hook runs {shown_place(named)}, of a project that is not trusted"
                self.problems.append(f"{shown_place(place)}: {words}; left out")
            else:
                self.hooks.append(hook)


class _Unreadable(ValueError):
    """A file that tells nothing, and why."""


def _bytes_of(place: _Place, root: str) -> bytes | None:
    """The content of a regular file; None when there is none. Never waits on a pipe."""
    path = place.path
    if place.scope not in USER_SCOPES and os.path.lexists(path):
        real = os.path.realpath(path)
        if not real.startswith(root.rstrip("/") + "/"):
            raise _Unreadable("is a link that leads out of the project; its hooks are not read")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _Unreadable(f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise _Unreadable("is not a regular file")
        if info.st_size > MAX_BYTES:
            raise _Unreadable(f"has {info.st_size:,} bytes; settings may have at most {MAX_BYTES:,}")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _Unreadable(f"cannot be read ({error.strerror})") from error
    finally:
        os.close(descriptor)


def _decoded(data: bytes) -> dict[str, Any]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _Unreadable("is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
        value: object = msgspec.json.decode(text) if text.strip() else {}
    except UnicodeDecodeError as error:
        raise _Unreadable(f"byte {error.start} is not UTF-8") from error
    except msgspec.DecodeError as error:
        raise _Unreadable(f"is not JSON ({error})") from error
    except RecursionError:
        raise _Unreadable("is nested too deeply") from None
    if not isinstance(value, dict):
        raise _Unreadable("is not a JSON object")
    return cast("dict[str, Any]", value)
