"""The door to other agents' sessions: find them, tell them apart, read them. Readers load when they are needed."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from clew.foreign.identify import identify
from clew.foreign.session import ForeignMeta, ForeignSession, ForeignTranscript, SkippedPiece

__all__ = ["READERS", "ForeignSession", "ForeignTranscript", "SkippedPiece", "discover", "identify", "read", "read_all"]


class Reader(Protocol):
    """What the module of one agent offers. Nothing it does writes to the source."""

    AGENT: str

    def homes(self, env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
        """Where the agent keeps its sessions by default."""
        ...

    def discover(self, home: Path) -> Iterator[ForeignSession]:
        """The sessions below a home, without reading bodies."""
        ...

    def read(self, path: Path, *, agent: str = "", session_id: str = "") -> ForeignTranscript:
        """One session. `session_id` chooses among several in one file; empty means the last with content."""
        ...


READERS: dict[str, str] = {
    "claude_code": "clew.foreign.claude.claude_code",
    "codex": "clew.foreign.readers.codex",
    "gemini_cli": "clew.foreign.readers.gemini_cli",
    "qwen_code": "clew.foreign.readers.qwen_code",
    "opencode": "clew.foreign.readers.opencode",
    "aider": "clew.foreign.readers.aider",
    "kimi_cli": "clew.foreign.readers.kimi_cli",
    "cursor": "clew.foreign.readers.cursor",
    "swe_agent": "clew.foreign.readers.swe_agent",
    "mini_swe_agent": "clew.foreign.readers.mini_swe_agent",
    "copilot_cli": "clew.foreign.readers.copilot_cli",
    "pi": "clew.foreign.readers.pi",
    "openclaw": "clew.foreign.readers.openclaw",
    "droid": "clew.foreign.readers.droid",
}
"""Agent name to module. A module is imported when its agent is first asked for."""

_READ_ONLY = {"clew": "clew.foreign.claude.claude_code"}
"""Our own files are found by the transcript package; here they can only be read."""

_ALIASES = {
    "claude": "claude_code",
    "gemini": "gemini_cli",
    "qwen": "qwen_code",
    "kimi": "kimi_cli",
    "copilot": "copilot_cli",
}


def agent_name(name: str) -> str:
    """The name we use for an agent: `Claude-Code` and `claude` are `claude_code`."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return _ALIASES.get(plain, plain)


def reader(agent: str) -> Reader:
    """The reader of an agent; KeyError for a name we do not know."""
    name = agent_name(agent)
    module = READERS.get(name) or _READ_ONLY[name]
    return cast(Reader, import_module(module))


def discover(
    homes: Mapping[str, Path] | None = None,
    env: Mapping[str, str] | None = None,
    *,
    agents: Sequence[str] | None = None,
    folders: Iterable[Path] = (),
    files: Mapping[str, Iterable[Path]] | None = None,
    on_problem: Callable[[str, Exception], None] | None = None,
) -> Iterator[ForeignSession]:
    """Sessions of all agents (or of `agents`) at their default places, or where `homes` points for an agent.

    Agents that leave their histories in the project are looked for in the working directory, above it, in `folders`,
    and at `files`, where they were found before. A place that cannot be read hides no other; `on_problem` is told."""
    given = {agent_name(name): folder for name, folder in (homes or {}).items()}
    here = working_directory(env)
    env = os.environ if env is None else env
    user_home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    above = [folder for folder in (here, *here.parents) if folder != user_home or folder == here] if here else []
    projects = list(dict.fromkeys((*above, *folders)))
    for name in [agent_name(name) for name in agents] if agents is not None else list(READERS):
        if name not in READERS:
            continue
        try:
            yield from _of_agent(name, given, env, user_home, projects, (files or {}).get(name, ()))
        except Exception as error:  # One agent's damaged or locked store must not hide the sessions of the others.
            if on_problem is not None:
                on_problem(name, error)


def _of_agent(
    name: str,
    given: Mapping[str, Path],
    env: Mapping[str, str],
    user_home: Path,
    projects: Sequence[Path],
    files: Iterable[Path],
) -> Iterator[ForeignSession]:
    module = reader(name)
    if name in given:
        places = [given[name]]
    else:
        in_folder = getattr(module, "in_folder", None)
        inside = [place for folder in projects for place in in_folder(folder)] if in_folder else []
        places = [*module.homes(env, user_home), *inside, *files]
    seen: set[tuple[Path, str]] = set()
    for place in dict.fromkeys(places):
        for session in module.discover(place):
            if (session.path, session.session_id) not in seen:
                seen.add((session.path, session.session_id))
                yield session


def lives_in_projects(agent: str) -> bool:
    """Whether an agent leaves its sessions in the directories it worked in."""
    return agent in READERS and hasattr(reader(agent), "in_folder")


def working_directory(env: Mapping[str, str] | None = None) -> Path | None:
    """Where the user is: by the shell's name for it while that is right, None when it was removed."""
    if env is not None:
        return Path(env["PWD"]) if env.get("PWD") else None
    try:
        here = Path.cwd()
    except OSError:
        return None
    named = os.environ.get("PWD", "")
    return Path(named) if named and os.path.isabs(named) and os.path.realpath(named) == str(here) else here


def read(path: Path, agent: str | None = None, *, session_id: str = "") -> ForeignTranscript:
    """One session as entries of ours. Never raises for what is in the file; an unknown format is a problem."""
    name = agent_name(agent) if agent else identify(path)
    if name is None or (name not in READERS and name not in _READ_ONLY):
        return _unknown(path, name or "unknown")
    try:
        return reader(name).read(path, agent=name, session_id=session_id)
    except Exception as error:  # One strange file must not hide the other sessions; it is told as a problem.
        return _failed(path, name, error)


def sessions_in(path: Path, agent: str) -> list[ForeignSession]:
    """The sessions of a file that may hold several; none where it can hold one only."""
    name = agent_name(agent)
    listed = getattr(reader(name), "in_file", None) if name in READERS else None
    try:
        return list(listed(path)) if listed is not None else []
    except Exception:  # As in `read`, which tells what is wrong with the file.
        return []


def read_each(path: Path, agent: str, session_ids: Sequence[str]) -> Iterator[ForeignTranscript]:
    """Several sessions of one file in turn; where the reader can, the file is read once for all."""
    name = agent_name(agent)
    every = getattr(reader(name), "read_each", None) if name in READERS and len(session_ids) > 1 else None
    if every is None:
        for session_id in session_ids:
            yield read(path, agent, session_id=session_id)
        return
    done = 0
    try:
        for transcript in every(path, session_ids):
            yield transcript
            done += 1
    except Exception as error:  # As in `read`; the rest is told with the same problem.
        for session_id in session_ids[done:]:
            yield msgspec.structs.replace(_failed(path, name, error), session_id=session_id)


def read_all(path: Path, agent: str | None = None) -> tuple[ForeignTranscript, ...]:
    """Every session of a file that may hold several (Aider's history, opencode's database)."""
    name = agent_name(agent) if agent else identify(path)
    if name is None:
        return (_unknown(path, "unknown"),)
    every = getattr(reader(name), "read_all", None) if name in READERS else None
    if every is None:
        return (read(path, name),)
    try:
        return every(path)
    except Exception as error:  # As in `read`.
        return (_failed(path, name, error),)


def _unknown(path: Path, agent: str) -> ForeignTranscript:
    return _empty(path, agent, "unknown_format", "no agent we know writes such a file")


def _failed(path: Path, agent: str, error: Exception) -> ForeignTranscript:
    return _empty(path, agent, "reader_failed", f"{type(error).__name__}: {error}"[:200])


def _empty(path: Path, agent: str, kind: str, detail: str) -> ForeignTranscript:
    problem = SkippedPiece(path=str(path), offset=0, kind=kind, detail=detail)
    meta = ForeignMeta()
    return ForeignTranscript(agent=agent, session_id=path.stem, path=path, entries=(), meta=meta, problems=(problem,))
