"""What is on disk of child agents: each has a transcript and a line about what it is, for ever."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from clew.engine.calls import describe
from clew.protocol.entries import AssistantEntry, ChainEntry, Entry
from clew.protocol.events import AgentEnded
from clew.protocol.ids import AgentId, CallId, EntryId
from clew.protocol.messages import text_of
from clew.protocol.state import AgentState, agent_after
from clew.protocol.tally import Tally
from clew.system.private_files import replace_private
from clew.transcript.log.store import subagent_meta_path, subagent_path
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import LoadedLog, iterate, load

MAX_LISTED = 10


class AgentMeta(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`agent-<id>.meta.json`: what a child is, beside its transcript."""

    agent_type: str
    description: str
    parent: AgentId
    call_id: CallId | None = None
    model: str = ""
    background: bool = False
    started_at: str = ""
    name: str = ""
    prompt: str = ""
    """Its whole task: it may be interrupted before its log has it."""
    isolated: bool = False
    """It works in a checkout of its own; its receipt says where."""
    team: str = ""
    """The team that it is a member of."""
    run_from: int = 0
    """Where in its transcript its newest run begins: what it used before is in its parent's books."""


class ChildFiles:
    """The children of one session, of this process and of earlier ones, as they are on disk."""

    def __init__(self, main: Path | None, session_id: str, warn: Callable[[str], None]) -> None:
        """`main`: the session's transcript; None: nothing is kept."""
        self._main = main
        self._session_id = session_id
        self._warn = warn
        self._met: dict[AgentId, AgentMeta] = {}
        """Children of this process; those of earlier ones are read where they are asked for."""

    def transcript(self, agent: AgentId) -> Path | None:
        """Where a child's transcript is; None: nothing is kept."""
        return subagent_path(self._main, agent) if self._main is not None else None

    def keep(self, agent: AgentId, meta: AgentMeta) -> None:
        """Write down what a child is. A disk that takes no more ends no child."""
        self._met[agent] = meta
        if self._main is None:
            return
        try:
            replace_private(subagent_meta_path(self._main, agent), encode(meta) + b"\n")
        except OSError as error:
            self._warn(f"what the agent {agent} is could not be written down: {describe(error)}")

    def meta(self, agent: AgentId) -> AgentMeta | None:
        """What a child is, of this process or an earlier one."""
        return self._met.get(agent) or self._read(agent)

    def past(self, agent: AgentId) -> LoadedLog:
        """A child's log. Raises ValueError, in words for the model, where there is none."""
        path = self.transcript(agent)
        if path is None or not path.exists():
            raise ValueError(f"there is no transcript of the agent {agent}: it can neither be read nor go on")
        return load(path, session_id=self._session_id, sidechain=True)

    def named(self, name: str) -> AgentId | None:
        """The child of this name."""
        return next((agent for agent, meta in self.all().items() if meta.name == name), None)

    def find(self, wanted: str) -> AgentId:
        """A child by its id or name. Raises ValueError that names those there are."""
        wanted = wanted.strip().removeprefix("@")
        met = self.all()
        if AgentId(wanted) in met:
            return AgentId(wanted)
        found = next((agent for agent, meta in met.items() if meta.name == wanted), None)
        if found is not None:
            return found
        newest = list(met.items())[-MAX_LISTED:]
        known = ", ".join(f"{agent} ({meta.name or meta.description[:40]})" for agent, meta in newest)
        raise ValueError(f"there is no agent {wanted!r} in this session; known: {known or 'none'}")

    def all(self) -> dict[AgentId, AgentMeta]:
        """Every child of the session, those of earlier processes first."""
        if self._main is None:
            return self._met
        try:
            names = sorted(os.listdir(subagent_meta_path(self._main, AgentId("0")).parent))
        except OSError:
            return self._met
        found: dict[AgentId, AgentMeta] = {}
        for name in names:
            agent = AgentId(name.removeprefix("agent-").removesuffix(".meta.json"))
            if name.endswith(".meta.json") and agent not in self._met and (meta := self._read(agent)) is not None:
                found[agent] = meta
        return found | self._met

    def _read(self, agent: AgentId) -> AgentMeta | None:
        if self._main is None:
            return None
        try:
            return decode(subagent_meta_path(self._main, agent).read_bytes(), type=AgentMeta)
        except (OSError, ValueError, DecodeError):
            return None  # no such child, a name that is no id, or a file that another program wrote


def past_state(past: LoadedLog) -> AgentState:
    """The fold of a child's log that is gone on with. What it used before is in its parent's books already."""
    state = AgentState()
    for entry in past.entries:
        for event in events_of(entry):
            state = agent_after(event, state)
    return AgentState(tasks=state.left_behind().tasks, owed=state.owed, files=state.files, todos=state.todos)


def last_words(chain: Sequence[Entry], *, since: EntryId | None = None) -> str:
    """The last thing that an agent said itself: `since` this entry, and nothing that it inherited as a fork."""
    parts: list[str] = []
    reply = ""
    for entry in reversed(chain):
        if isinstance(entry, ChainEntry) and (entry.uuid == since or entry.forked_from is not None):
            break
        if not isinstance(entry, AssistantEntry) or (reply and entry.message.id != reply):
            continue
        if words := text_of(entry.message.content):
            reply, parts = entry.message.id, [words, *parts]
    return "\n".join(parts)


def spent_in(path: Path, start: int = 0) -> Tally:
    """What a child used whose end nobody wrote down: its own log tells, from this byte on."""
    tally = Tally()
    for located in iterate(path, start=start):
        for event in events_of(located.entry) if located.entry is not None else ():
            tally = tally.after(event)
            tally = tally + event.tally if isinstance(event, AgentEnded) else tally
    return tally
