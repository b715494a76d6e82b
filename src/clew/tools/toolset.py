"""The tools of one agent: what the model is told stays the same, what can be called may come and go.

Tools that come while a session runs: who brings them, who is still on the way, and how long that is waited for.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from clew.protocol.meant_calls import SEARCH_TOOLS, ToolSpec
from clew.tools.base import Tool

WORKTREE_TOOLS = ("EnterWorktree", "ExitWorktree")
"""Tools that many models know, and that only the main conversation has, behind a search."""
WAIT_S = 10.0
"""How long a call or a search waits for a source that is still connecting."""


class LateTools(Protocol):
    """Whoever adds tools to a `ToolSet` later. A source is what stands in the names of its tools:
    `mcp__<source>__<tool>`, and in `Tool.source`."""

    def known_tools(self) -> tuple[Tool[Any], ...]:
        """What is known of them before the session starts, from an earlier time. They are never run: only their specs
        are used, to decide whether tools are searched for or told in full."""
        ...

    def connecting(self) -> tuple[str, ...]:
        """The sources whose tools may still come."""
        ...

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        """Until none of these is connecting any more, or the time is over. Raises nothing for a source that failed."""
        ...


class NoLateTools:
    """Nothing comes later."""

    def known_tools(self) -> tuple[Tool[Any], ...]:
        """None."""
        return ()

    def connecting(self) -> tuple[str, ...]:
        """None."""
        return ()

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        """Nothing to wait for."""


def source_in(name: str) -> str:
    """The source that a tool's name says; empty for one of another form."""
    kind, _, rest = name.partition("__")
    source, cut, _ = rest.partition("__")
    return source if kind == "mcp" and cut else ""


MAX_GONE = 500
OWN_SOURCE = "clew"
"""The source of deferred tools that are clew's own."""


def any_tool(name: str) -> bool:
    """Every tool."""
    return True


class ToolSet:
    """`specs` are fixed when the set is made, so that bytes already sent never change; `find` knows what is here.

    A tool that is here and not among `specs` is deferred: the model finds it with SearchTools, runs it with CallTool.
    """

    def __init__(
        self,
        tools: Iterable[Tool[Any]] = (),
        *,
        told: Iterable[ToolSpec] = (),
        late: LateTools | None = None,
        in_short: Callable[[ToolSpec], ToolSpec] = lambda spec: spec,
        takes: Callable[[str], bool] = any_tool,
        shelf: "Mapping[str, Callable[[], Tool[Any]]] | None" = None,
    ) -> None:
        """`told`: tools that may come later and are among `specs` all the same. `late`: who brings them. `in_short`:
        how a spec is told where the model has little room. `takes`: which of those that come later the agent has.
        `shelf`: deferred tools of clew's own, by name, each made when it is first looked for."""
        self.aside: dict[str, Tool[Any]] = {}
        """Tools that are not its own and that its children have: it delegates."""
        self._before: tuple[ToolSpec, ...] = ()
        """What was told before it began to delegate."""
        self._in_short = in_short
        self.takes = takes
        self._tools: dict[str, Tool[Any]] = {tool.name: tool for tool in tools}
        more = (spec for spec in told if spec.name not in self._tools and takes(spec.name))
        self.specs: tuple[ToolSpec, ...] = (*(in_short(tool.spec()) for tool in self._tools.values()), *more)
        self._told = frozenset(spec.name for spec in self.specs)
        self._own = frozenset(self._tools)
        self._shelf = {name: make for name, make in (shelf or {}).items() if takes(name)}
        self._gone: dict[str, None] = {}
        self.late: LateTools = late or NoLateTools()
        self.changes = 0
        """How often something came or went."""

    def find(self, name: str) -> Tool[Any] | None:
        """The tool of this name, if it is there now."""
        if name in self._shelf:
            self._take_off_the_shelf(name)
        return self._tools.get(name)

    def _take_off_the_shelf(self, name: str) -> None:
        self._tools.setdefault(name, self._shelf.pop(name)())
        self.changes += 1

    def take_all_off_the_shelf(self) -> None:
        """Make every deferred tool of clew's own: somebody looks through all tools."""
        for name in list(self._shelf):
            self._take_off_the_shelf(name)

    async def awaited(self, name: str) -> Tool[Any] | None:
        """The same, once its source is no longer connecting; that is not waited for longer than `WAIT_S`."""
        source = source_in(name)
        if name not in self._tools and source in self.late.connecting():
            await self.late.wait((source,), WAIT_S)
        return self.find(name)

    def add(self, tool: Tool[Any]) -> None:
        """A tool that came later: it can be called, the model learns of it by other ways. Raises ValueError when the
        name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"there is already a tool named {tool.name}")
        self._tools[tool.name] = tool
        self._gone.pop(tool.name, None)
        self.changes += 1

    def remove(self, name: str) -> None:
        """It went away; a call of it is answered with an error. One that was there from the start stays."""
        if name in self._own or self._tools.pop(name, None) is None:
            return
        self._gone[name] = None
        if len(self._gone) > MAX_GONE:
            del self._gone[next(iter(self._gone))]
        self.changes += 1

    def tell(self, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Name more tools in full. Only before the first request, while no bytes were sent; the ones that are new."""
        new = tuple(spec for spec in specs if spec.name not in self._told and self.takes(spec.name))
        self.specs = (*self.specs, *new)
        self._told |= {spec.name for spec in new}
        return new

    def tell_the_same_as(self, other: "ToolSet") -> None:
        """Be told of as another set is, byte for byte, whatever is here."""
        self.specs, self._told = other.specs, other._told

    def delegate(self, has: Callable[[str], bool]) -> None:
        """Keep only these tools; the others are for children. What the model is told changes: a new prefix."""
        self._before = self.specs
        whole = self._tools | self.aside
        self._tools = {name: tool for name, tool in whole.items() if has(name)}
        self.aside = {name: tool for name, tool in whole.items() if not has(name)}
        self.takes = has
        self._tell_anew(tuple(spec for spec in self.specs if has(spec.name)))

    def take_all(self) -> None:
        """Have again what was for children only, and tell it as it was told before."""
        self._tools, self.aside = self._tools | self.aside, {}
        self.takes = any_tool
        told = [self._in_short(tool.spec()) for tool in self._tools.values() if tool.name in self._own]
        self._tell_anew(self._before or tuple(told))

    def _tell_anew(self, specs: tuple[ToolSpec, ...]) -> None:
        self.specs = specs
        self._told = frozenset(spec.name for spec in specs)
        self.changes += 1

    def is_told(self, name: str) -> bool:
        """Whether the model was told of this one in full."""
        return name in self._told

    @property
    def deferred(self) -> tuple[Tool[Any], ...]:
        """What is here and must be searched for."""
        return tuple(tool for tool in self._tools.values() if tool.name not in self._told)

    def missing(self, name: str) -> str:
        """Why there is no such tool, and what to do next: words for the model."""
        source = source_in(name)
        if source in self.late.connecting():
            return (
                f"{name} was not run: its server {source!r} is still connecting. Do something else first, then call "
                "it again."
            )
        searched = SEARCH_TOOLS in self._told
        if name in self._gone or name in self._told:
            instead = f"look for another one with {SEARCH_TOOLS}, or go on without it" if searched else "go on without"
            whose = f" (server {source!r})" if source else ""
            return f"{name} was not run: it is not there any more{whose}. Do not call it again; {instead}."
        words = f"There is no tool named {name!r}, so nothing was run."
        if name in WORKTREE_TOOLS:
            return (
                f"{words} The user moves the conversation with /worktree; an agent gets a checkout when it is started."
            )
        near = [tool.name for tool in self._tools.values() if bare(tool.name) == bare(name)]
        if near := [one for one in near if bool(source_in(one)) == bool(source)] or near:
            return f"{words} Did you mean {' or '.join(near[:3])}?"
        return f"{words} Find the right one with {SEARCH_TOOLS}." if searched else words

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What can be called now."""
        return tuple(self._tools)


def bare(name: str) -> str:
    """A tool's name without what says whose it is, and without the ways to write words."""
    return name.rpartition("__")[2].replace("_", "").replace("-", "").lower()


def is_chosen(tool: str, names: tuple[str, ...] | None, without: tuple[str, ...] = ()) -> bool:
    """Whether an agent has a tool: among `names` (None: all) and not `without`. `mcp__server` names all of a server."""

    def named(among: tuple[str, ...]) -> bool:
        return tool in among or any(
            tool.startswith(f"{name.removesuffix('__*')}__") for name in among if name.startswith("mcp__")
        )

    return (names is None or named(names)) and not named(without)
