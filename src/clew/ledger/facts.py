"""The facts of a session: plain data, each with the ids of the entries it came from."""

from typing import Literal

from msgspec import Struct

from clew.protocol.display import TodoItem
from clew.protocol.ids import CallId, EntryId, RequestId
from clew.protocol.standing import Actor, Standing
from clew.protocol.usage import Usage

RequestKind = Literal["request", "reply", "command"]
Sources = tuple[EntryId, ...]


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something code read in the log. `source` names the entries that show it."""

    source: Sources = ()
    turn: int = 0
    """The request it belongs to, counted from 1."""


class Request(Fact, frozen=True, kw_only=True):
    """Words of the user."""

    text: str
    """What was typed, without what the program wrapped around it; bounded."""
    kind: RequestKind
    at: str = ""
    question: str = ""
    """For a short message: the agent's question that it may answer."""
    command: str = ""
    """For a slash command: its name with the slash."""


class StandingRule(Fact, frozen=True, kw_only=True):
    """A standing rule, verbatim."""

    text: str


class FileFact(Fact, frozen=True, kw_only=True):
    """One file and what was done to it, over the whole session."""

    path: str
    reads: int = 0
    edits: int = 0
    created: bool = False
    deleted: bool = False
    added: int = 0
    removed: int = 0
    failed_edits: int = 0
    order: int = 0
    """Position of the last change among all changes; 0 when it was only read."""


class CommandFact(Fact, frozen=True, kw_only=True):
    """A shell command and how it ended."""

    command: str
    exit_code: int | None = None
    """None: still running, moved to the background, or not told."""
    failed: bool = False
    background: bool = False


class TestResult(Fact, frozen=True, kw_only=True):
    """Counts of a test run as its runner printed them; None where it printed none."""

    __test__ = False
    runner: str
    command: str = ""
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    ok: bool | None = None
    order: int = 0
    """Position among changes: a run with a lower order than the last change is out of date."""

    @property
    def total(self) -> int | None:
        """How many tests ran; None when that was not told."""
        return None if self.passed is None else self.passed + (self.failed or 0)

    def settled(self, later: "TestResult") -> bool:
        """Whether a later run speaks about the same tests: the same command, or at least as many of the same runner.
        Once files changed any runner's will do."""
        if self.command == later.command:
            return True
        enough = self.total is None or later.total is None or later.total >= self.total
        return enough and (self.runner == later.runner or later.order > self.order)


class CheckResult(Fact, frozen=True, kw_only=True):
    """A build, lint or type check."""

    kind: Literal["build", "lint"]
    command: str
    ok: bool | None
    detail: str = ""
    order: int = 0


class CommitFact(Fact, frozen=True, kw_only=True):
    """A commit, tag, push or pull request, as git or a forge told it."""

    kind: Literal["commit", "tag", "push", "pr", "merge"]
    ref: str
    """Short hash, tag name, branch or PR number."""
    subject: str = ""
    branch: str = ""
    url: str = ""
    order: int = 0


class TodoList(Fact, frozen=True, kw_only=True):
    """The agent's task list, as last written."""

    items: tuple[TodoItem, ...]
    worked_since: bool = False
    """Files were changed or commands run after it was written."""

    @property
    def done(self) -> int:
        """How many items are completed."""
        return sum(item.status == "completed" for item in self.items)

    @property
    def open_items(self) -> tuple[TodoItem, ...]:
        """Items not completed, the one in progress first."""
        current = tuple(item for item in self.items if item.status == "in_progress")
        return current + tuple(
            item for item in self.items if item.status not in ("completed", "in_progress", "cancelled")
        )


class PlanFact(Fact, frozen=True, kw_only=True):
    """A plan the agent put forward."""

    text: str
    approved: bool | None = None


class ApprovalFact(Fact, frozen=True, kw_only=True):
    """A call that needed a person."""

    tool: str
    subject: str
    decision: Literal["pending", "allow", "allow_always", "deny"]
    reason: str = ""
    by_rule: bool = False
    """A rule or a mode refused it; no person was asked."""
    worked_since: bool = False
    """Files were changed or commands run after it was refused."""
    request_id: RequestId = RequestId("")


class AgentFact(Fact, frozen=True, kw_only=True):
    """An agent started by this session."""

    name: str
    task: str
    standing: Standing
    """Stopped: it had not told its end when its turn ended. Interrupted: when its session's process did."""
    call_id: CallId = CallId("")
    background: bool = False
    """Nobody waits for it; known only of agents whose log tells of their start and end."""
    ended_turn: int = -1
    """The turn in which such a one ended."""
    team: str = ""
    """It is a member of this team, by its name: where it completed, it is idle."""


class ErrorFact(Fact, frozen=True, kw_only=True):
    """Something that went wrong, and whether a later call of the same kind went right."""

    where: str
    text: str
    is_command: bool = False
    resolved: bool = False
    resolved_by: Sources = ()
    order: int = 0
    """Position among changes, as with tests."""


class Said(Fact, frozen=True, kw_only=True):
    """Words of the agent: an open question, or its last message."""

    text: str


class UnfinishedCall(Fact, frozen=True, kw_only=True):
    """A call without a result: what was under way when the session stopped."""

    text: str
    """The command or file."""
    note: str = ""
    """How the agent itself described the call, in its own language."""


class Limit(Fact, frozen=True, kw_only=True):
    """A cap or quota that ended work."""

    kind: str
    text: str = ""


class Costs(Struct, frozen=True, kw_only=True):
    """What the session used. `usd` is None when no price is known."""

    usage: Usage = Usage()
    usd: float | None = None
    side_usd: dict[str, float] = {}
    side_calls: dict[str, int] = {}
    turns: int = 0
    duration_ms: int = 0


class Recap(Fact, frozen=True, kw_only=True):
    """The last recap in the log."""

    text: str
    at: str = ""


class Ledger(Struct, frozen=True, kw_only=True):
    """All facts of a session at one moment. Equal entries give an equal ledger."""

    session_id: str = ""
    cwd: str = ""
    branch: str = ""
    model: str = ""
    language: str = "en"
    title: str = ""
    title_by: Literal["", "user", "facts", "model"] = ""
    first_at: str = ""
    last_at: str = ""
    last_entry_id: EntryId = EntryId("")
    entries: int = 0
    user_turns: int = 0
    """Prompts a person sent, slash commands without words not counted."""
    turns_since_recap: int = 0
    state: Standing = Standing.IDLE
    """As people read it: who rests after a question in plain words is asking."""
    state_source: Sources = ()
    state_detail: str = ""
    state_by: Actor | Literal[""] = ""
    """Who stopped it; empty unless it is stopped."""
    restore_cut_off: bool = False
    """Files were being restored when the process ended, and that was not completed; the log does not tell it."""
    turn: int = 0
    """The request under way or answered last; facts of earlier turns may be out of date."""
    work_turn: int = 0
    """The last request for which something was run, changed or refused: talk alone settles nothing."""
    goal: Request | None = None
    """The session's task as the user put it first."""
    goals: tuple[Request, ...] = ()
    """Requests in order, the first included."""
    last_request: Request | None = None
    """The user's last message to the agent, a nod included."""
    rules: tuple[StandingRule, ...] = ()
    files: tuple[FileFact, ...] = ()
    commands: tuple[CommandFact, ...] = ()
    """The most recent ones."""
    command_count: int = 0
    tests: tuple[TestResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    commits: tuple[CommitFact, ...] = ()
    changes: int = 0
    """Order of the last change; compare with `order` of tests and commits."""
    todos: TodoList | None = None
    plan: PlanFact | None = None
    approvals: tuple[ApprovalFact, ...] = ()
    agents: tuple[AgentFact, ...] = ()
    errors: tuple[ErrorFact, ...] = ()
    question: Said | None = None
    said: Said | None = None
    """The agent's last message on the last request; None when it has said nothing to it."""
    doing: UnfinishedCall | None = None
    """The call that was under way, when the session was stopped or interrupted."""
    limit: Limit | None = None
    recap: Recap | None = None
    costs: Costs = Costs()

    @property
    def changed_files(self) -> tuple[FileFact, ...]:
        """Files created, changed or deleted, the latest change last."""
        changed = [file for file in self.files if file.edits or file.created or file.deleted]
        return tuple(sorted(changed, key=lambda file: file.order))

    @property
    def current_test(self) -> TestResult | None:
        """The last test run, unless files changed after it."""
        run = self.tests[-1] if self.tests else None
        return run if run and run.order >= self.changes else None

    @property
    def current_tests(self) -> tuple[TestResult, ...]:
        """The last test run and the red ones of the same files that no later run speaks about."""
        runs = [run for run in self.tests if run.order >= self.changes]
        red = [run for at, run in enumerate(runs[:-1]) if run.ok is False and not any(map(run.settled, runs[at + 1 :]))]
        return (*red, *runs[-1:])

    @property
    def failing_checks(self) -> tuple[CheckResult, ...]:
        """Builds and lints whose last run failed, unless files changed after it."""
        latest = {check.kind: check for check in self.checks}
        return tuple(check for check in latest.values() if check.ok is False and check.order >= self.changes)

    @property
    def current_todos(self) -> TodoList | None:
        """The task list, while it is the one being worked on: not once a later request came, and not when the turn
        ended well after more work, because then nobody kept it."""
        todos = self.todos
        if todos is None or todos.turn != self.turn:
            return None
        ended = self.state in (Standing.IDLE, Standing.ASKING)
        return None if ended and todos.worked_since else todos

    @property
    def running_agents(self) -> tuple[AgentFact, ...]:
        """Agents at work now."""
        return tuple(agent for agent in self.agents if agent.standing.open)

    @property
    def current_errors(self) -> tuple[ErrorFact, ...]:
        """What went wrong on the last request and was not made good."""
        return tuple(error for error in self.errors if not error.resolved and error.turn == self.turn)

    @property
    def refused(self) -> tuple[ApprovalFact, ...]:
        """What was refused on the last request."""
        return tuple(item for item in self.approvals if item.decision == "deny" and item.turn == self.turn)

    @property
    def pending_approval(self) -> ApprovalFact | None:
        """The approval someone must still give."""
        return next((item for item in reversed(self.approvals) if item.decision == "pending"), None)
