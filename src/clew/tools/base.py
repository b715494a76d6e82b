"""What a tool is: typed parameters, words for the model, an access for permissions, a run, a result."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import Block, ChangesBlock, DiffBlock, TodoItem
from clew.protocol.events import Actor, AgentEnded, PlanAnswered, Question, RuleOffer
from clew.protocol.ids import AgentId, CallId, TaskId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import ResultContent
from clew.protocol.standing import Standing
from clew.tools.schema import decode_arguments, schema_of

P = TypeVar("P", bound=Struct)
Effect = Literal["none", "session", "world"]
"""What a run changes: nothing; only what this session knows of itself (its task list, a person's answer); or files,
processes and other machines."""


class ToolResult(Struct, frozen=True, kw_only=True):
    """`text` is for the model, `display` for people. Expected failures are results; exceptions are bugs."""

    text: str
    display: tuple[Block, ...] = ()
    is_error: bool = False
    media: tuple[ResultContent, ...] = ()
    """Images or documents that go to the model beside the text."""
    failed_command: bool = False
    """A shell command exited non-zero: its shell siblings are cancelled."""
    stopped: bool = False
    """Somebody stopped it before it ended: nothing failed."""
    offers: tuple[RuleOffer, ...] = ()
    """Rules the user could save so that the next such call is not held back: credential files a command needed."""
    notices: tuple[str, ...] = ()
    """Lines that a person sees outside the call: what the sandbox took away from what a command left."""


def with_changes(result: ToolResult, made: tuple[DiffBlock | ChangesBlock, ...]) -> ToolResult:
    """The result of a command that changed files: for people all of it, changed files like those of an edit; for the
    model only what cannot be brought back."""
    lost = [line for block in made if isinstance(block, ChangesBlock) for line in block.lost]
    text = f"{result.text}\nThis cannot be undone: {'; '.join(lost)}" if lost else result.text
    return replace(result, text=text, display=(*result.display, *made))


class PlanProposal(Struct, frozen=True, kw_only=True):
    """A plan for a person to look at."""

    plan: str
    path: str
    """Its file; empty: it has none."""
    mode_after: str
    """The permission mode that comes back when it is accepted."""
    as_it_stands: Callable[[], str]
    """What the file holds now: a person may have changed it meanwhile. Empty: that cannot be told."""


class TaskWork(Protocol):
    """A piece of work that runs beside the turn, as the registry of tasks sees it."""

    @property
    def task_id(self) -> TaskId:
        """Unique in the session."""
        ...

    @property
    def kind(self) -> str:
        """`shell`, `agent`, ..."""
        ...

    @property
    def title(self) -> str:
        """What it is, for people."""
        ...

    @property
    def standing(self) -> Standing:
        """How it stands."""
        ...

    @property
    def by(self) -> Actor:
        """Who brought it to stand so."""
        ...

    @property
    def exit_code(self) -> int | None:
        """Of a process that ended by itself."""
        ...

    @property
    def started_s(self) -> float:
        """When it began, on the monotonic clock."""
        ...

    @property
    def output_file(self) -> str:
        """Where all of its output is; empty: nowhere."""
        ...

    def more(self) -> dict[str, Any]:
        """What its row (`TaskRow`) tells besides: of an agent its name, kind, tokens and cost."""
        ...

    def text(self) -> str:
        """What it has put out, of long output both ends."""
        ...

    def last(self, max_chars: int) -> str:
        """The end of it, at the same cost for any output."""
        ...

    async def over(self) -> None:
        """Until it has ended, which whoever waits does not bring about."""
        ...

    async def stop(self, by: Actor) -> None:
        """End it and everything it started; return when it has ended."""
        ...


class TaskPort(Protocol):
    """Through which one agent's tools let work run on beside the turn."""

    def new_id(self, prefix: str) -> TaskId:
        """An id that no task of the session has or had."""
        ...

    def began(self, work: TaskWork) -> None:
        """It runs: people are told, and whoever closes the session ends it."""
        ...

    def changed(self, work: TaskWork) -> None:
        """It stands otherwise than before; when it has ended, that is told once."""
        ...

    def find(self, task_id: str) -> TaskWork | None:
        """A task of the session, whoever started it; None: there is none, or it is forgotten."""
        ...

    def known(self) -> tuple[str, ...]:
        """The ids of all of them."""
        ...


Isolation = Literal["", "worktree", "worktree+changes"]


class WorkPort(Protocol):
    """The list of work of a session, as TodoWrite of one agent reaches it."""

    async def write(self, todos: tuple[TodoItem, ...]) -> tuple[tuple[TodoItem, ...], str]:
        """The caller's own items are these now; all items, and what else the model is to know. Raises ValueError."""
        ...


class ChildOrder(Struct, frozen=True, kw_only=True):
    """How a child agent is wanted."""

    kind: str = ""
    """Empty: the general one."""
    title: str = ""
    background: bool = False
    name: str = ""
    model: str = ""
    fork: bool = False
    """It begins with all that its parent knows, and its kind and model are its parent's."""
    isolation: Isolation = ""
    """Whether it works in a checkout of its own, and whether with the uncommitted changes of its parent's."""
    team: str = ""
    """The team that it is to be a member of; empty: that of its session, where it has a name."""
    mode: str = ""
    """The permission mode of a member; it never makes rights wider."""


ORDINARY = ChildOrder()


class ChildAgent(Protocol):
    """A child agent at work."""

    @property
    def agent(self) -> AgentId:
        """Its id."""
        ...

    @property
    def background(self) -> bool:
        """Nobody waits for it."""
        ...

    @property
    def output_file(self) -> str:
        """Its transcript; empty: nothing is kept."""
        ...

    @property
    def place_note(self) -> str:
        """What its parent should know of the checkout that it works in; empty: nothing."""
        ...

    def text(self) -> str:
        """Its newest words."""
        ...

    async def outcome(self, *, up_to_s: float = 0.0) -> AgentEnded | None:
        """Wait for its end; None: it went on in the background, after this time or because somebody wanted that.
        Whoever is cancelled while waiting stops the child."""
        ...

    def report(self, ended: AgentEnded, max_bytes: int) -> str:
        """What a call that waited answers: its words within so many bytes, and the facts beside them."""
        ...


class AgentPort(Protocol):
    """Through which a tool reaches the agents below the one that called it."""

    async def start(self, prompt: str, order: ChildOrder = ORDINARY) -> ChildAgent:
        """A child at work on the prompt, or in line for a place. Raises ValueError for what cannot be, in words for the
        model."""
        ...

    def meant(self, order: ChildOrder) -> tuple[str, str]:
        """The kind and the model that an order comes to, for permissions."""
        ...

    @property
    def auto_background_s(self) -> float:
        """How long a call waits before its child goes on in the background; 0: until its end."""
        ...

    @property
    def result_bytes(self) -> int:
        """How much of a child's words a call gives back."""
        ...

    async def message(self, wanted: str, text: str) -> str:
        """Write to another agent by its id or name, or to a team; who got it, and what happens now. Raises ValueError
        with why nobody did."""
        ...

    def words_of(self, agent: AgentId) -> str:
        """All of an agent's last words. Raises ValueError."""
        ...


class ToolContext(Struct, kw_only=True):
    """What a running call may use besides its parameters. Built by the dispatcher for each call."""

    call_id: CallId
    cwd: str
    progress: Callable[[str], None]
    """Show output as it arrives."""
    ask: Callable[[tuple[Question, ...]], Awaitable[tuple[tuple[str, ...], ...] | None]]
    """Put questions to the user; None when nobody can answer or the user declined."""
    leave: Callable[[ToolResult], None] = lambda result: None
    """A call that is being cancelled says what it has brought so far, without a word on why it ends here."""
    propose: Callable[[PlanProposal], Awaitable[PlanAnswered]] | None = None
    """Put a plan to the user, and wait for what they say. None: nobody can be shown one here."""
    whole: Callable[[], Awaitable[Any]] | None = None
    """Waits until the reply that asked for the call is complete. None: it is."""
    agents: AgentPort | None = None
    """Starts agents. None: none can be started here."""
    work: "Callable[[], WorkPort | None]" = lambda: None
    """The list of work of the session, as the caller writes it; loaded by the first who asks. None: it has its own."""
    tasks: Callable[[], TaskPort] | None = None
    """Lets work run on beside the turn; its registry is loaded by the first who asks. None: nothing can."""


class Tool(ABC, Generic[P]):
    """One tool. Session state (read files, shells, todos) is given to the constructor, never global.

    A tool whose schema is known only at run time sets `name` in its constructor and brings `spec` and `decode` of its
    own; nothing else asks for `params`.
    """

    name: str
    source: str = ""
    """Who brought it: the name of an MCP server; empty: it is ours."""
    hint: str = ""
    """When to use it, in a few words; for the search among tools that the model was not told of in full."""
    params: ClassVar[type[Struct]]
    words_file: ClassVar[str] = ""
    """The file beside its module that holds its description; empty: the one of the module's name."""
    untold: ClassVar[frozenset[str]] = frozenset()
    """Parameters that it takes, because models of other programs give them, and that its schema does not name."""
    shell: ClassVar[bool] = False
    """A failing call cancels its siblings that are shell calls too."""
    max_result_chars: ClassVar[int] = 50_000
    """Longer text is spilled to a file and replaced by a preview; 0: the tool bounds itself."""
    effect: ClassVar[Effect] = "world"
    """The most a call may change. Once a call with an effect was let through, its reply is never withdrawn."""
    waits: ClassVar[bool] = False
    """Asking for the same thing again is how it is used (the output of a running command)."""

    @cached_property
    def description(self) -> str:
        """The words the model reads: the `.md` file beside the tool's module."""
        source = sys.modules[type(self).__module__].__file__
        assert source is not None
        file = Path(source).with_name(self.words_file) if self.words_file else Path(source).with_suffix(".md")
        return file.read_text(encoding="utf-8").strip()

    def spec(self) -> ToolSpec:
        """What the model is told. Constant within a session."""
        schema = schema_of(self.params)
        for name in self.untold:
            del schema["properties"][name]
        return ToolSpec(name=self.name, description=self.description, schema=schema)

    def decode(self, arguments: Mapping[str, Any]) -> P:
        """The typed parameters. Raises BadArguments with words for the model."""
        return cast("P", decode_arguments(self.name, self.params, arguments))

    def is_concurrency_safe(self, params: P) -> bool:
        """May overlap with other safe calls. An exception counts as no."""
        return False

    def accesses(self, params: P, context: ToolContext) -> tuple[Access, ...]:
        """What permissions must judge before `run`."""
        return (ToolAccess(tool=self.name),)

    async def impossible(self, params: P, context: ToolContext) -> ToolResult | None:
        """Why the call cannot do its work, as its result: looked up before a person is asked about it. Changes nothing,
        and tells nothing of files that the model may not know of. None: nothing speaks against it."""
        return None

    @abstractmethod
    async def run(self, params: P, context: ToolContext) -> ToolResult:
        """Do it. Cancellation must leave no process behind."""
