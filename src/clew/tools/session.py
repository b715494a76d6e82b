"""The state tools share within one session (directory, roots, files read, shells, todos), its sandbox, and the base of
builtin tools, which work in it."""

import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from clew.protocol.display import TodoItem
from clew.protocol.ids import CallId
from clew.tools.base import Tool
from clew.tools.extras import sandbox_policy, sandbox_status, shells

if TYPE_CHECKING:
    from clew.protocol.events import PlanAnswered
    from clew.system.http_fetch import Fetcher
    from clew.system.sandbox.policy import Sandbox
    from clew.system.sandbox.tree import WorkspaceTree
    from clew.tools.base import PlanProposal, TaskPort, ToolResult
    from clew.tools.shells import Background, Shells


MAX_CLAIMS = 1_000


class PlanPort(Protocol):
    """What the tools of plan mode need of their session."""

    @property
    def planning(self) -> bool:
        """Plan mode is on."""
        ...

    def enter(self) -> str:
        """Turn it on; what the model is told."""
        ...

    async def propose(self, plan: str, propose: "Callable[[PlanProposal], Awaitable[PlanAnswered]]") -> "ToolResult":
        """Put a plan to the user, and do as they say."""
        ...

    @property
    def carried(self) -> str:
        """The plan that must not be forgotten; empty: there is none."""
        ...


class ReadState(Struct, frozen=True, kw_only=True):
    """What a file looked like when the model last saw it."""

    mtime_ns: int
    size: int
    inode: int
    digest: bytes
    """Empty for a file too large to be hashed; then the time and size decide."""


GIT_PLACES = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    }
)
"""Variables that lead git to another repository than the one it is called in."""


class WorkPlace(Struct, frozen=True, kw_only=True):
    """Where an agent's tools work, and what holds its commands there."""

    cwd: str
    roots: tuple[str, ...]
    env: Mapping[str, str]
    sandbox: "Sandbox | None"
    shared_sandbox: bool
    checkout: str = ""
    branch: str = ""
    """What is checked out in a checkout of its own, as far as it is known."""


class ToolSession:
    """One per agent. Tools hold it; nothing here is global."""

    def __init__(
        self,
        *,
        cwd: str,
        roots: tuple[str, ...] = (),
        results_dir: Path | None = None,
        env: Mapping[str, str] | None = None,
        key_variables: Collection[str] = (),
        keep_variables: Collection[str] = (),
        sandbox: "Sandbox | None" = None,
        shared_sandbox: bool = False,
        running: "Shells | None" = None,
        fetcher: "Fetcher | None" = None,
        rg_mode: str = "auto",
        withheld: Callable[[str], bool] | None = None,
        tasks: "Callable[[], TaskPort] | None" = None,
        checkout: str = "",
    ) -> None:
        """`shared_sandbox`: other agents' commands are held by it too, so it outlives this one. `checkout`: the root of
        the agent's own checkout; empty: it works in the user's."""
        self.start_dir = os.path.realpath(cwd)
        self.cwd = self.start_dir
        self.roots = tuple(os.path.realpath(root) for root in roots) or (self.start_dir,)
        """Where the user lets the agent work; never widened by a model's words."""
        self.checkout = os.path.realpath(checkout) if checkout else ""
        self.branch = ""
        """What is checked out there; empty: it works in the user's checkout, or nobody knows."""
        self.results_dir = results_dir
        self.env: dict[str, str] = dict(os.environ if env is None else env)
        """The environment tools start from; shells get it without keys and without names that change programs."""
        self.key_variables = frozenset(key_variables)
        """Variables that hold our providers' keys; no command ever sees them."""
        self.keep_variables = frozenset(keep_variables)
        """Variables the user lets through although they look like secrets."""
        self.sandbox = sandbox
        self._shared_sandbox = shared_sandbox
        self.fetcher = fetcher
        self.rg_mode = rg_mode
        self.withheld = withheld
        """Whether a search leaves out the content of a file (by its path); None: names that hold secrets."""
        self.trees: dict[str, WorkspaceTree] = {}
        """What searches know of the names below a directory."""
        self.search_note_given = False
        self.sandbox_note_given = ""
        """The state of the sandbox that the user has last been told of."""
        self.tasks: Callable[[], TaskPort] | None = tasks
        """Where commands in the background are told of; None: nobody is told."""
        self.todos: tuple[TodoItem, ...] = ()
        self.remembered: list[tuple[str, str]] = []
        """Lines that this session put into memory files: the file and the line, newest last."""
        self._plan: PlanPort | None = None
        """Plan mode; None where nobody can be shown a plan."""
        self._shells = running
        self._reads: dict[str, ReadState] = {}
        self._claims: dict[CallId, tuple[str, ...]] = {}
        self._held: dict[CallId, bool] = {}

    @property
    def place(self) -> WorkPlace:
        """Where it works now, for an agent that works there too."""
        return WorkPlace(
            cwd=self.cwd,
            roots=self.roots,
            env=self.env,
            sandbox=self.sandbox,
            shared_sandbox=True,
            checkout=self.checkout,
            branch=self.branch,
        )

    def work_in(self, place: WorkPlace) -> None:
        """Go on in another place. What the model read stays known by its path; nothing may run meanwhile."""
        if self.sandbox is not None and not self._shared_sandbox and self.sandbox is not place.sandbox:
            self.sandbox.close()
        self.start_dir = self.cwd = os.path.realpath(place.cwd)
        self.roots = tuple(os.path.realpath(root) for root in place.roots)
        self.checkout = os.path.realpath(place.checkout) if place.checkout else ""
        self.branch = place.branch
        self.env = dict(place.env)
        self.sandbox, self._shared_sandbox = place.sandbox, place.shared_sandbox
        self.sandbox_note_given = ""
        self.trees.clear()

    @property
    def plan(self) -> PlanPort | None:
        """Plan mode, where the session has it."""
        return self._plan

    def use_plan(self, plan: PlanPort) -> None:
        """The session has plan mode."""
        self._plan = plan

    @property
    def shells(self) -> "Shells":
        """Running commands; made when the first one starts."""
        if self._shells is None:
            self._shells = shells().Shells(self)
        return self._shells

    def shells_at_work(self) -> "tuple[Background, ...]":
        """Commands in the background that have not ended, oldest first."""
        if self._shells is None:
            return ()
        return tuple(shell for shell in self._shells.background.values() if shell.ended is None)

    def sent_to_background(self) -> int:
        """Let the calls that wait for a command wait no longer; how many did."""
        return self._shells.send_to_background() if self._shells is not None else 0

    def all_shells(self) -> "dict[str, Background]":
        """Every command that was started in the background, by its id."""
        return self._shells.background if self._shells is not None else {}

    def locate(self, path: str, cwd: str) -> str:
        """The absolute form of a path the model wrote; nothing is resolved yet."""
        if path.startswith("~"):
            path = os.path.expanduser(path)
        return os.path.normpath(os.path.join(cwd, path)) if ".." not in path.split("/") else os.path.join(cwd, path)

    def known_target(self, path: str, cwd: str) -> str:
        """The real path of a file that the model read, or that lies in the workspace; empty: of neither kind."""
        target = os.path.realpath(self.locate(path, cwd))
        inside = any(target.startswith(root.rstrip("/") + "/") for root in self.roots)
        return target if inside or self.last_seen(target) is not None else ""

    def claim(self, call_id: CallId, *paths: str) -> tuple[str, ...]:
        """Fix the real targets of a call before they are judged; `run` opens exactly these, without following links."""
        if len(self._claims) >= MAX_CLAIMS:
            self._claims.pop(next(iter(self._claims)))
        targets = tuple(os.path.realpath(path) for path in paths)
        self._claims[call_id] = targets
        return targets

    def claimed(self, call_id: CallId, *paths: str) -> tuple[str, ...]:
        """The targets fixed by `claim`, or the real paths now when nothing was judged."""
        return self._claims.pop(call_id, None) or tuple(os.path.realpath(path) for path in paths)

    def claim_sandbox(self, call_id: CallId, *, held: bool) -> None:
        """Remember what permissions were told: a command judged as held never runs free."""
        if len(self._held) >= MAX_CLAIMS:
            self._held.pop(next(iter(self._held)))
        self._held[call_id] = held

    def sandbox_claimed(self, call_id: CallId) -> bool:
        """Whether this call was judged as held by the sandbox; unjudged calls are held when there is one."""
        return self._held.pop(call_id, self.sandbox is not None and self.sandbox.enforced)

    def saw(self, path: str, state: ReadState) -> None:
        """The model knows this content of the file."""
        self._reads[path] = state

    def last_seen(self, path: str) -> ReadState | None:
        """What the model knows of the file, if it ever read it."""
        return self._reads.get(path)

    def forget_reads(self, paths: Collection[str] | None = None) -> None:
        """What left the view, the model no longer holds: an edit of these files needs a new read. None: of all."""
        if paths is None:
            self._reads.clear()
        else:
            for path in paths:
                self._reads.pop(os.path.realpath(path), None)

    async def close(self) -> None:
        """End everything that still runs."""
        if self._shells is not None:
            await self._shells.close()
        if self.sandbox is not None and not self._shared_sandbox:
            self.sandbox.close()


P = TypeVar("P", bound=Struct)


class BuiltinTool(Tool[P]):
    """A tool of ours; made once per session by the registry."""

    def __init__(self, session: ToolSession) -> None:
        self.session = session


def open_sandbox(
    *,
    mode: str,
    network: bool,
    writable: Sequence[str] = (),
    home: str = "",
    search_path: str = "",
    clew_home: Path,
    sockets: Path | None = None,
    allowed: Callable[[str], bool] | None = None,
    max_memory_mb: int = 0,
    max_processes: int = 0,
) -> "Sandbox | None":
    """None when the user switched it off. `mode` is auto, required or off, as in the settings.

    The machine is tested when the first command comes, once per boot; our own state, and
    `sockets`, where sessions can be reached, are hidden from commands.
    `allowed` says which credential files of the workspace the user lets commands read.
    """
    if mode == "off":
        return None
    return sandbox_policy().Sandbox(
        lambda: sandbox_status().current_status(clew_home / "cache"),
        network=network,
        required=mode == "required",
        writable=writable,
        hidden=(str(clew_home), *((str(sockets),) if sockets is not None else ())),
        home=home,
        search_path=search_path,
        aside=str(clew_home / "taken"),
        allowed=allowed,
        max_memory=max_memory_mb * 1_000_000 or machine_memory() * 3 // 4,
        max_processes=max_processes,
    )


def in_checkout(
    place: WorkPlace, checkout: str, workspace: Sequence[str], *, seen: Sequence[str] = (), branch: str = ""
) -> WorkPlace:
    """The same in a checkout of its own: the workspace (its root first), and what else is `seen` from there, is
    read-only to its commands."""
    sandbox = place.sandbox.apart((*workspace, *seen)) if place.sandbox is not None else None
    return WorkPlace(
        cwd=same_place(place.cwd, workspace[0], checkout),
        roots=(checkout,),
        env=without_places(place.env),
        sandbox=sandbox,
        shared_sandbox=False,
        checkout=checkout,
        branch=branch,
    )


def same_place(cwd: str, root: str, checkout: str) -> str:
    """The directory of a checkout that lies in it as `cwd` lies in the workspace; its top, where there is none."""
    place = os.path.normpath(os.path.join(checkout, os.path.relpath(os.path.realpath(cwd), os.path.realpath(root))))
    return place if f"{place}/".startswith(f"{checkout}/") and os.path.isdir(place) else checkout


def without_places(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables that lead git to another repository."""
    return {key: value for key, value in env.items() if key not in GIT_PLACES}


def machine_memory() -> int:
    """Bytes of memory that the machine has; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
