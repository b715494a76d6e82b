"""What a definition of an agent brings that runs programs: hooks around its own calls, and MCP servers of its own."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from clew.hooks.definitions import HookDefinition
from clew.hooks.digests import TooManyNames, digest_of, project_program
from clew.hooks.parsing import HookSource, read_hooks, shown
from clew.mcp.approvals import digest_of as server_digest
from clew.mcp.definitions import BadDefinition, ServerDefinition, check_name, read_server
from clew.protocol.event_kinds.programs import HookScope, McpScope

MOMENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop")
"""What there is in the life of one agent: around its calls, and at the end of its work."""
MAX_SERVERS = 20
SERVER_SCOPES: dict[str, McpScope] = {"given": "given", "user": "user", "project": "project", "builtin": "user"}


class Brought(Struct, frozen=True, kw_only=True):
    """The programs of one definition, as they are written."""

    hooks: tuple[HookDefinition, ...] = ()
    servers: tuple[ServerDefinition, ...] = ()
    """Defined here: connected for agents of this kind only."""
    named: tuple[str, ...] = ()
    """Servers of the session that it has besides."""

    @property
    def sorts(self) -> frozenset[str]:
        """Whether it brings `hooks`, and whether `servers`."""
        found = {"hooks": self.hooks, "servers": self.servers or self.named}
        return frozenset(name for name, some in found.items() if some)


class UnreadableField(Exception):
    """A field that cannot be followed: a part of it could be a guard that would be missing."""


def hooks_of(
    value: Any, *, agent: str, source: str, scope: HookScope, root: str
) -> tuple[tuple[HookDefinition, ...], tuple[str, ...]]:
    """The hooks of a definition, and notes. `Stop` means the end of this agent's work. Raises UnreadableField: a hook
    may be a guard, so an agent without one of its hooks is not what was meant."""
    if not isinstance(value, Mapping):
        raise UnreadableField("hooks is not an object of moments")
    moments: dict[str, list[Any]] = {}
    for moment, groups in cast("Mapping[str, Any]", value).items():
        name = "SubagentStop" if moment == "Stop" else moment
        if name not in MOMENTS:
            raise UnreadableField(f"hooks.{shown(moment)}: an agent has the moments {', '.join(MOMENTS)} and Stop")
        if not isinstance(groups, list | tuple):
            raise UnreadableField(f"hooks.{shown(moment)} is not a list")
        given = cast("Sequence[Any]", groups)
        # Stop has nothing to match, whatever stands there.
        moments.setdefault(name, []).extend(_unmatched(one) if moment == "Stop" else one for one in given)
    found, problems = read_hooks(moments, HookSource(place=source, scope=scope, root=root, agent=agent))
    notes = tuple(problem.removeprefix(f"{source}: ") for problem in problems)
    if len(found) < sum(_count(group) for groups in moments.values() for group in groups):
        raise UnreadableField(notes[0] if notes else "hooks cannot be read")
    return tuple(found), notes


def _count(group: Any) -> int:
    """How many hooks a group means to define; what is none counts as one."""
    listed: Any = cast("Mapping[str, Any]", group).get("hooks") if isinstance(group, Mapping) else None
    return len(cast("list[Any]", listed)) if isinstance(listed, list) else 1


def _unmatched(group: Any) -> Any:
    if not isinstance(group, Mapping):
        return group
    return {key: value for key, value in cast("Mapping[str, Any]", group).items() if key != "matcher"}


def hooks_now(hooks: Sequence[HookDefinition], root: str, *, trusted: bool) -> tuple[HookDefinition, ...]:
    """The same with the digests that they have now; without those that run a file of a project that is not trusted."""
    found: list[HookDefinition] = []
    for hook in hooks:
        if not trusted and project_program(hook, root):
            continue
        try:
            found.append(replace(hook, digest=digest_of(hook, root)))
        except TooManyNames:
            found.append(replace(hook, digest=""))
    return tuple(found)


def servers_of(
    value: Any, *, agent: str, source: str, level: str
) -> tuple[tuple[str, ...], tuple[ServerDefinition, ...], tuple[str, ...]]:
    """The servers that a definition names, those that it defines, and notes. A list holds names and objects of
    definitions by name; an object holds definitions. Raises UnreadableField."""
    if isinstance(value, str):
        value = [name for name in value.replace(",", " ").split() if name]
    entries: list[Any] = [value] if isinstance(value, Mapping) else list(cast("Sequence[Any]", value or ()))
    named: list[str] = []
    defined: dict[str, ServerDefinition] = {}
    notes: list[str] = []
    for entry in entries:
        if isinstance(entry, str) and not check_name(entry):
            named.append(entry)
            continue
        if not isinstance(entry, Mapping):
            raise UnreadableField(f"mcpServers: {shown(entry)!r} is neither the name of a server nor a definition")
        for name, fields in cast("Mapping[str, Any]", entry).items():
            if name in defined:
                raise UnreadableField(f"mcpServers.{shown(name)} is there twice")
            try:
                one = read_server(name, fields, scope=SERVER_SCOPES[level], source=source, problem=notes.append)
            except BadDefinition as error:
                raise UnreadableField(f"mcpServers.{shown(name)}: {error}") from error
            if one.kind == "sdk":
                raise UnreadableField(f"mcpServers.{name}: a server of a program belongs to the session, name it")
            defined[name] = replace(one, agent=agent)
    if len(named) + len(defined) > MAX_SERVERS:
        raise UnreadableField(f"mcpServers holds more than {MAX_SERVERS} servers")
    notes = [note.removeprefix(f"{source}: ") for note in notes]
    return tuple(dict.fromkeys(named)), tuple(defined.values()), tuple(notes)


def servers_now(servers: Sequence[ServerDefinition], root: str) -> tuple[ServerDefinition, ...]:
    """The same with the digests that they have now, where they are approved by one."""
    return tuple(
        replace(server, digest=server_digest(server, root)) if server.needs_approval else server for server in servers
    )
