"""Lookups about kinds of agents: which there are, what one is, and new ones of a person or a program."""

from typing import Any, ClassVar

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.lookups.base import Answer, Lookup


class AgentKindRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind of agent, as it is defined."""

    name: str
    description: str
    level: str
    """`given`, `user`, `project` or `builtin`."""
    source: str
    """`built in`, `--agents`, `SDK`, or the file."""
    tools: tuple[str, ...] | None = None
    """None: those of its parent."""
    without: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    permission_mode: str = ""
    background: bool = False
    isolation: str = ""
    max_turns: int | None = None
    color: str = ""
    servers: tuple[str, ...] = ()
    """MCP servers that it needs."""
    hooks: tuple[str, ...] = ()
    """Hooks that its definition brings, each with how it stands."""
    own_servers: tuple[str, ...] = ()
    """MCP servers that its definition brings or names, each with how it stands."""
    memory: str = ""
    """Where it keeps a memory of its own: `user`, `project` or `local`; empty: it keeps none."""
    skills: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What of its definition does not count, a line each."""
    hidden: str = ""
    """Why another definition counts in its place; empty: this one counts."""


class AgentKindsListed(Answer, frozen=True, kw_only=True, tag="agent_kinds.listed"):
    """All kinds there are, those that win first."""

    kinds: tuple[AgentKindRow, ...]
    problems: tuple[str, ...] = ()
    """Definitions that are not used, a line each."""
    unread: tuple[str, ...] = ()
    """Folders of the project that are not read before it is trusted."""


class ListAgentKinds(Lookup[AgentKindsListed], frozen=True, kw_only=True, tag="agent_kinds.list"):
    """Ask which kinds of agents there are."""


class DefineAgentKinds(Lookup[AgentKindsListed], frozen=True, kw_only=True, tag="agent_kinds.define"):
    """Add kinds for this session only, as a program defines them: an object with its fields by each name."""

    needs: ClassVar[Rights] = Rights.DRIVE

    definitions: dict[str, Any]


class AgentKindShown(Answer, frozen=True, kw_only=True, tag="agent_kind.shown"):
    """One kind with its words."""

    kind: AgentKindRow
    prompt: str
    initial_prompt: str = ""


class ShowAgentKind(Lookup[AgentKindShown], frozen=True, kw_only=True, tag="agent_kind.show"):
    """Ask what one kind of agent is."""

    name: str


class AgentKindDrafted(Answer, frozen=True, kw_only=True, tag="agent_kind.drafted"):
    """A definition that is not written yet."""

    name: str
    text: str
    path: str
    """Where it would stand."""
    model: str = ""
    """Which model worded it; empty: none did, and it is a skeleton."""
    why: str = ""
    """Why no model did."""


class DraftAgentKind(Lookup[AgentKindDrafted], frozen=True, kw_only=True, tag="agent_kind.draft"):
    """Draft a definition from a description, by one call of the fast model where there is one."""

    needs: ClassVar[Rights] = Rights.DRIVE

    name: str
    description: str


class AgentKindWritten(Answer, frozen=True, kw_only=True, tag="agent_kind.written"):
    """A drafted definition is a file of the user's now."""

    name: str
    path: str


class WriteAgentKind(Lookup[AgentKindWritten], frozen=True, kw_only=True, tag="agent_kind.write"):
    """Write the definition of this name that was drafted last."""

    needs: ClassVar[Rights] = Rights.DRIVE

    name: str
