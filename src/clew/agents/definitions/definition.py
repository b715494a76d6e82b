"""One kind of agent as it is defined: its fields understood, and what does not count named.

A field that cannot be followed is never dropped in silence: it is a note of the definition, or the whole definition is
not used (`DefinitionProblem`) where a part of it would give the agent more than was meant.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from msgspec import Struct

from clew.agents.definitions.brought import Brought, UnreadableField, hooks_of, servers_of
from clew.permissions.access import Mode
from clew.prompts.memory import visible
from clew.protocol.event_kinds.programs import HookScope
from clew.protocol.meant_calls import CALL_TOOL, SEARCH_TOOLS
from clew.skills.definitions import EFFORTS, flag, one_line, tools_of
from clew.tools.base import Isolation
from clew.tools.registry import builtin_names

Level = Literal["given", "user", "project", "builtin"]
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1_024
MAX_PROMPT_CHARS = 100_000
MAX_TURNS = 100_000
MEMORY_SCOPES = ("user", "project", "local")
NOT_A_KIND = frozenset({"main", "all"})
"""Words that mean something else where kinds are named."""
_NAME = re.compile(r"[^\W_][\w.-]*")
_SERVER_TOOL = re.compile(r"mcp__[\w-]+(?:__[\w-]+|__\*)?")
_RENAMED = {
    "Task": "Agent",
    "BashOutput": "TaskOutput",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "MultiEdit": "Edit",
    "LS": "Glob",
    "NotebookRead": "Read",
    "AskUserQuestion": "AskUser",
}
"""What other agents call a tool that is here."""
_BROUGHT = frozenset({"Agent", "SendMessage", "TaskOutput", "TaskStop", "Skill", "Remember", SEARCH_TOOLS, CALL_TOOL})
"""Tools that parts of a session bring."""
_MODES: tuple[Mode, ...] = get_args(Mode)
_FIELDS = """name description tools disallowedTools prompt model effort permissionMode background isolation maxTurns
    color memory requiredMcpServers mcpServers hooks skills initialPrompt"""
FIELDS = {name.lower(): name for name in _FIELDS.split()}
"""Every field that a definition may have, as it is written, by its letters in lower case."""


class DefinitionProblem(Exception):
    """A definition that is not used; the words say why, without naming where it stands."""


class Origin(Struct, frozen=True, kw_only=True):
    """Who defined a kind, and where."""

    level: Level
    source: str
    """`built in`, `--agents`, `SDK`, or the file."""
    scope: HookScope = "given"
    """Who may have written what it runs: what is not the user's own in clew is approved by digest."""


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """One kind of agent, with all that its definition says and that counts."""

    name: str
    origin: Origin
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    """None: those of its parent."""
    without: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    mode: Mode | None = None
    background: bool = False
    isolation: Isolation = ""
    max_turns: int | None = None
    color: str = ""
    memory: str = ""
    needs_servers: tuple[str, ...] = ()
    brought: Brought = Brought()
    """The programs that it brings."""
    skills: tuple[str, ...] = ()
    initial_prompt: str = ""
    notes: tuple[str, ...] = ()
    """What of it does not count, a line each."""


class FieldChecks(Struct, frozen=True, kw_only=True):
    """What fields are held against at this place."""

    model: Callable[[str, Level], tuple[str, str]]
    """The model that a name means for a definition of this level, and a note; raises DefinitionProblem for none."""
    root: str = "/"
    """The project, whose files count into the digests of what a definition runs."""


def known_tools() -> frozenset[str]:
    """The tools that a definition may name besides those of MCP servers."""
    return frozenset(builtin_names()) | _BROUGHT


def understood(
    named: str, fields: Mapping[str, Any], body: str, origin: Origin, checks: FieldChecks
) -> AgentDefinition:
    """What a definition says. `named`: by its file or its key; `body`: the text of its file. Raises
    DefinitionProblem."""
    given, notes = _known_fields(fields)
    name = checked_name(_text(given, "name") or named)
    prompt = visible(_text(given, "prompt") or body).strip()
    if not prompt:
        raise DefinitionProblem("it has no prompt: write what the agent is to do below the front matter")
    if len(prompt) > MAX_PROMPT_CHARS:
        raise DefinitionProblem(f"its prompt is longer than {MAX_PROMPT_CHARS:,} characters")
    tools, without = _tools(given, notes)
    model, note = checks.model(_text(given, "model"), origin.level)
    notes += [note] if note else []
    brought = _brought(given, name, origin, checks.root, notes)
    return AgentDefinition(
        name=name,
        origin=origin,
        description=_description(given, prompt, notes),
        prompt=prompt,
        tools=tools,
        without=without,
        model=model,
        effort=_effort(given, notes),
        mode=_mode(given, notes),
        background=_yes(given, "background"),
        isolation=_isolation(given),
        max_turns=_turns(given),
        color=one_line(_text(given, "color"))[:20],
        memory=_memory(given, origin, notes),
        needs_servers=_names(given, "requiredMcpServers"),
        brought=brought,
        skills=_names(given, "skills"),
        initial_prompt=visible(_text(given, "initialPrompt")).strip(),
        notes=tuple(notes),
    )


def _known_fields(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields under the names that we write, and a note for each that nothing here knows."""
    found: dict[str, Any] = {}
    unknown: list[str] = []
    for key, value in fields.items():
        name = FIELDS.get(key.lower().replace("-", "").replace("_", ""))
        if name is None:
            unknown.append(one_line(key)[:40])
        elif name in found:
            raise DefinitionProblem(f"{name} is there twice, in two spellings")
        else:
            found[name] = value
    return found, [f"unknown fields, which do nothing: {', '.join(unknown)}"] if unknown else []


def checked_name(name: str) -> str:
    """A name that a kind can have. Raises DefinitionProblem."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        why = f"letters, digits, - . _ and no blanks, at most {MAX_NAME_CHARS}"
        raise DefinitionProblem(f"{one_line(name)[:60]!r} is no name for an agent: {why}")
    if name.casefold() in NOT_A_KIND:
        raise DefinitionProblem(f"an agent cannot be called {name!r}: that word means something else here")
    return name


def _description(given: Mapping[str, Any], prompt: str, notes: list[str]) -> str:
    text = one_line(_text(given, "description"))
    if not text:
        notes.append("it has no description, so the first line of its prompt stands for one")
        text = one_line(prompt.split("\n")[0].lstrip("#"))
    return text[:MAX_DESCRIPTION_CHARS]


def _tools(given: Mapping[str, Any], notes: list[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The tools it has and those it never has. A tool with a specifier would be had whole, which is more than was
    written, so it is left out; among those it never has, it is left out whole."""
    without = tuple(dict.fromkeys(_tool(name.partition("(")[0]) for name in _names(given, "disallowedTools")))
    if narrow := [name for name in _names(given, "disallowedTools") if "(" in name]:
        notes.append(f"it has none of {', '.join(narrow)}: parts of a tool are bounded by permission rules only")
    wanted = _names(given, "tools")
    if _is_unset(given.get("tools")) or "*" in wanted:
        return None, without
    known = known_tools()
    found: list[str] = []
    for name in wanted:
        tool = _tool(name)
        if "(" in name:
            notes.append(f"it does not have {name}: a definition names whole tools, rules bound their use")
        elif tool in known or _SERVER_TOOL.fullmatch(tool):
            found.append(tool)
        else:
            notes.append(f"there is no tool {tool!r} here")
    if wanted and not found:
        raise DefinitionProblem(f"none of its tools is here: {', '.join(wanted)}")
    return tuple(dict.fromkeys(found)), without


def _tool(name: str) -> str:
    """A tool by the name it has here."""
    return name if name in builtin_names() else _RENAMED.get(name, name)


def _effort(given: Mapping[str, Any], notes: list[str]) -> str:
    effort = _text(given, "effort").lower()
    if effort and effort not in EFFORTS:
        notes.append(f"its effort {effort!r} is none: efforts are {', '.join(EFFORTS)}")
        return ""
    return effort


def _mode(given: Mapping[str, Any], notes: list[str]) -> Mode | None:
    """Which mode it asks for; it never has more rights than its parent in any of them."""
    mode = _text(given, "permissionMode")
    if mode in ("dontAsk", "auto"):
        notes.append(f"permissionMode {mode} is not there: what would ask is asked")
        return "default"
    if mode and mode not in _MODES:
        raise DefinitionProblem(f"there is no permission mode {mode!r}; modes are {', '.join(_MODES)}")
    if mode == "bypassPermissions":
        notes.append("permissionMode bypassPermissions widens nothing: an agent has no more rights than its parent")
    return mode or None


def _isolation(given: Mapping[str, Any]) -> Isolation:
    match _text(given, "isolation"):
        case "" | "none":
            return ""
        case "worktree" | "worktree+changes" as isolation:
            return isolation
        case other:
            raise DefinitionProblem(f"there is no isolation {other!r}; there are worktree and worktree+changes")


def _memory(given: Mapping[str, Any], origin: Origin, notes: list[str]) -> str:
    """Where it keeps notes. What a project defines keeps none that agents of other projects would read."""
    scope = _text(given, "memory").lower()
    if scope in ("", "none", "false"):
        return ""
    if scope not in MEMORY_SCOPES:
        raise DefinitionProblem(f"there is no memory {one_line(scope)[:20]!r}; there are {', '.join(MEMORY_SCOPES)}")
    if scope == "user" and origin.level == "project":
        notes.append("its memory is for this project only (local): a project's file keeps nothing for others")
        return "local"
    return scope


def _turns(given: Mapping[str, Any]) -> int | None:
    value = given.get("maxTurns")
    if _is_unset(value):
        return None
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MAX_TURNS):
        raise DefinitionProblem(f"maxTurns is no number from 1 to {MAX_TURNS:,}")
    return int(text)


def _brought(given: Mapping[str, Any], name: str, origin: Origin, root: str, notes: list[str]) -> Brought:
    """The hooks and servers of a definition. Raises DefinitionProblem."""
    try:
        hooks = given.get("hooks")
        found, noted = (
            ((), ())
            if _is_unset(hooks)
            else hooks_of(hooks, agent=name, source=origin.source, scope=origin.scope, root=root)
        )
        named, servers, more = servers_of(given.get("mcpServers"), agent=name, source=origin.source, level=origin.level)
    except UnreadableField as problem:
        raise DefinitionProblem(str(problem)) from problem
    notes += (*noted, *more)
    return Brought(hooks=found, servers=servers, named=named)


def _text(given: Mapping[str, Any], name: str) -> str:
    """The text of a field. Raises DefinitionProblem for a value that is none."""
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DefinitionProblem(f"{name} is not a text")
    return value.strip()


def _names(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The words of a field: a list, or a text with commas or blanks. Raises DefinitionProblem."""
    value = given.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return tools_of(value)
    items = cast(Sequence[Any], value) if isinstance(value, list | tuple) else [None]
    if not all(isinstance(item, str) for item in items):
        raise DefinitionProblem(f"{name} is not a list of names")
    return tools_of(tuple(items))


def _yes(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name)
    return value if isinstance(value, bool) else flag(value if isinstance(value, str) else None, default=False)


def _is_unset(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
