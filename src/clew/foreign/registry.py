"""The door to other agents' sessions: find them, tell them apart, read them. Readers load when they are needed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from clew.foreign.identify import identify
from clew.foreign.session import ForeignMeta, ForeignSession, ForeignTranscript, Problem

__all__ = ["READERS", "ForeignSession", "ForeignTranscript", "Problem", "discover", "identify", "read", "read_all"]


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
    "claude_code": "clew.foreign.claude_code",
    "codex": "clew.foreign.codex",
    "gemini_cli": "clew.foreign.gemini_cli",
    "qwen_code": "clew.foreign.qwen_code",
    "opencode": "clew.foreign.opencode",
    "aider": "clew.foreign.aider",
    "kimi_cli": "clew.foreign.kimi_cli",
    "cursor": "clew.foreign.cursor",
    "swe_agent": "clew.foreign.swe_agent",
    "mini_swe_agent": "clew.foreign.mini_swe_agent",
    "copilot_cli": "clew.foreign.copilot_cli",
    "pi": "clew.foreign.pi",
    "openclaw": "clew.foreign.openclaw",
    "droid": "clew.foreign.droid",
}
"""Agent name to module. A module is imported when its agent is first asked for."""

_READ_ONLY = {"clew": "clew.foreign.claude_code"}
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
) -> Iterator[ForeignSession]:
    """Sessions of all agents (or of `agents`) at their default places, or where `homes` points for an agent."""
    env = os.environ if env is None else env
    given = {agent_name(name): folder for name, folder in (homes or {}).items()}
    user_home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    chosen = [agent_name(name) for name in agents] if agents is not None else list(READERS)
    for name in chosen:
        if name not in READERS:
            continue
        module = reader(name)
        folders = (given[name],) if name in given else module.homes(env, user_home)
        for folder in folders:
            yield from module.discover(folder)


def read(path: Path, agent: str | None = None, *, session_id: str = "") -> ForeignTranscript:
    """One session as entries of ours. Never raises for what is in the file; an unknown format is a problem."""
    name = agent_name(agent) if agent else identify(path)
    if name is None or (name not in READERS and name not in _READ_ONLY):
        return _unknown(path, name or "unknown")
    try:
        return reader(name).read(path, agent=name, session_id=session_id)
    except Exception as error:  # One strange file must not hide the other sessions; it is told as a problem.
        return _failed(path, name, error)


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
    problem = Problem(path=str(path), offset=0, kind=kind, detail=detail)
    meta = ForeignMeta()
    return ForeignTranscript(agent=agent, session_id=path.stem, path=path, entries=(), meta=meta, problems=(problem,))
