"""What the tools did: calls paired with their results and handed to the families of facts.

Builds, linters and type checks.

What an agent was in the middle of: the call that has no result, in a few words.
"""

import re
from collections import deque
from typing import Any, Literal, NamedTuple

from clew.ledger.agents import ASKED, AgentsFold
from clew.ledger.approvals import ApprovalsFold, not_run
from clew.ledger.calls import AGENT_TOOLS, EDIT_TOOLS, READ_TOOLS, SHELL_TOOLS, EndedCall, tool_name
from clew.ledger.commands import CommandsFold, first_program, purposes_of, tells_its_end
from clew.ledger.commits import MESSAGE, CommitsFold
from clew.ledger.facts import CheckResult, CommandFact, Sources, UnfinishedCall
from clew.ledger.failures import FailuresFold
from clew.ledger.files import FilesFold
from clew.ledger.shell_files import moved_files, removed_files, written_files
from clew.ledger.taken_back import take_back
from clew.ledger.test_results import TestsFold
from clew.ledger.todos import TodosFold, heading_of
from clew.ledger.words import flat
from clew.protocol.entries import ApprovalEntry
from clew.protocol.events import PlanAnswered, PlanProposed
from clew.protocol.ids import CallId, EntryId, SessionId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import ToolCallPart, ToolResultPart, result_text
from clew.transcript.chain.standing import QUESTION_TOOLS

_MAX_CHARS = 160
_SUBJECTS = ("file_path", "notebook_path", "path", "url", "pattern", "query", "description", "prompt", "skill")


def doing(name: str, arguments: dict[str, Any], source: Sources) -> UnfinishedCall:
    """The call as it would be told to someone who comes back."""
    if name in SHELL_TOOLS:
        command = _text(arguments, "command", "cmd", "script")
        note = flat(_text(arguments, "description"))[:_MAX_CHARS]
        return UnfinishedCall(text=f"`{shell_words(command)}`" if command else name, note=note, source=source)
    subject = _text(arguments, *_SUBJECTS).replace("\\", "/").rstrip("/")
    if name in EDIT_TOOLS:
        return UnfinishedCall(text=subject.rsplit("/", 1)[-1] or name, source=source)
    return UnfinishedCall(text=f"{name} {flat(subject)[:_MAX_CHARS]}".strip(), source=source)


def shell_words(command: str) -> str:
    """A commit by its subject, else the command line: nobody knows which of its parts was under way."""
    told = MESSAGE.search(command)
    if told:
        return f"git commit: {told.group('subject').strip()}"
    return flat(command.split("<<", 1)[0]).replace("`", "'")[:_MAX_CHARS].strip()


def _text(arguments: dict[str, Any], *names: str) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


KEPT = 20
_ERRORS = re.compile(r"(?:Found )?(\d+) (?:errors?|problems?|issues?)\b", re.IGNORECASE)
_CLEAN = re.compile(
    r"All checks passed|no issues found|(?<!\d)0 (?:errors?|issues|problems)\b|Success: no issues|BUILD SUCCESS|"
    r"Build succeeded|built in [\d.]+|"
    r"compiled successfully|Compiled successfully|Finished `?(?:dev|release|test)|✓ built|"
    r"webpack .* compiled successfully",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"BUILD FAIL|Build failed|error TS\d+|error\[E\d+\]|: error:|Failed to compile|ERROR in |compilation failed",
    re.IGNORECASE,
)


class ChecksFold:
    """The latest builds and lints."""

    def __init__(self) -> None:
        self._checks: deque[CheckResult] = deque(maxlen=KEPT)

    def settle(self, kind: Literal["build", "lint"], command: CommandFact, output: str, order: int) -> None:
        """Take the result of a command that builds or checks."""
        if command.background:
            return
        tail = output[-3000:]
        clean = max((mark.end() for mark in _CLEAN.finditer(tail)), default=0)  # what is said last counts
        found = next(iter([*_ERRORS.finditer(tail, clean)][-1:]), None)
        count = int(found.group(1)) if found else None
        told = tells_its_end(command.command, kind)
        ok: bool | None
        if count or _BROKEN.search(tail, clean) or (command.failed and told):
            ok = False
        elif count == 0 or clean or (told and command.exit_code == 0):
            ok = True
        else:
            ok = None
        detail = found.group(0) if found and count else ""
        self._checks.append(
            CheckResult(kind=kind, command=command.command, ok=ok, detail=detail, order=order, source=command.source)
        )

    def facts(self) -> tuple[CheckResult, ...]:
        """The most recent checks, oldest first."""
        return tuple(self._checks)


_NOWHERE = SessionId("")
_WRITING = (">", "tee ", "sed ")


class _Pending(NamedTuple):
    name: str
    arguments: dict[str, Any]
    entry: EntryId


class WorkFold:
    """Open calls, and one fold per family."""

    def __init__(self) -> None:
        self.files = FilesFold()
        self.commands = CommandsFold()
        self.tests = TestsFold()
        self.checks = ChecksFold()
        self.commits = CommitsFold()
        self.todos = TodosFold()
        self.approvals = ApprovalsFold()
        self.agents = AgentsFold()
        self.failures = FailuresFold()
        self.turn = 0
        self.worked = 0
        self._pending: dict[CallId, _Pending] = {}
        self._plans: dict[CallId, PlanAnswered] = {}
        self._under_way: _Pending | None = None

    def called(self, part: ToolCallPart, entry: EntryId) -> None:
        """A call was announced."""
        part = meant_call(part)
        name = tool_name(part.name)
        self._pending[part.id] = self._under_way = _Pending(name, part.arguments, entry)
        self._begun(part.id, self._under_way)

    def changed(self, call_id: CallId, arguments: dict[str, Any]) -> None:
        """A call runs with another input than it was announced with: that is what happened."""
        before = self._pending.get(call_id)
        if before is None:
            return
        pending = self._pending[call_id] = before._replace(arguments=arguments)
        if self._under_way is before:
            self._under_way = pending
        self._begun(call_id, pending)

    def _begun(self, call_id: CallId, pending: _Pending) -> None:
        name, arguments, entry = pending
        if name == "TodoWrite":
            self.todos.write(arguments, (entry,), self.turn)
        elif name in AGENT_TOOLS:
            self.agents.started(call_id, arguments, entry, self.turn)
        elif name == "ExitPlanMode":
            self.todos.propose(arguments, (entry,), self.turn)

    def plan_asked(self, event: PlanProposed | PlanAnswered, at: EntryId) -> None:
        """A plan waits for a person like any approval; only a person's no is a refusal."""
        answered = isinstance(event, PlanAnswered)
        if answered:
            self._plans[event.call_id] = event
        if answered and event.plan:
            self.todos.propose({"plan": event.plan}, (at,) if at else (), self.turn)
        words = self.todos.plan.text if self.todos.plan else ""
        said = event.comment if answered else ""
        decision = "pending" if not answered else "deny" if event.decision == "keep_planning" else "allow"
        if answered and event.by != "user":
            self.approvals.dropped(event.request_id)
            return
        asked = ApprovalEntry(
            request_id=event.request_id,
            call_id=event.call_id,
            tool="plan",
            subject=heading_of(words),
            decision=decision,
            reason=said,
            session_id=_NOWHERE,
            timestamp="",
        )
        self.approvals.feed(asked, at, self.turn)

    def _settled_plan(self, outcome: EndedCall, call_id: CallId, *, approved: bool | None) -> None:
        answer = self._plans.pop(call_id, None)
        if answer is not None and answer.by != "user":
            approved = None
        self.todos.settle_plan(outcome, approved=approved)

    def turned(self, turn: int) -> None:
        """The user asked for something more."""
        self.turn = self.files.turn = turn
        self.agents.turned()
        self.approvals.close_pending()

    def moved_on(self) -> None:
        """Words of either side: what was called before is no longer what is under way."""
        self._under_way = None

    def doing(self) -> UnfinishedCall | None:
        """The call that has no result."""
        last = self._under_way
        return doing(last.name, last.arguments, (last.entry,)) if last else None

    def call_entry(self, call_id: CallId) -> EntryId | None:
        """The entry that holds an open call."""
        pending = self._pending.get(call_id)
        return pending.entry if pending else None

    def withdraw(self, targets: frozenset[EntryId]) -> None:
        """Calls of void entries never happened."""
        for call_id in [call for call, pending in self._pending.items() if pending.entry in targets]:
            del self._pending[call_id]

    def settled(self, part: ToolResultPart, extra: object, entry: EntryId) -> None:
        """A call has its result. One that was refused or cancelled did nothing: no command, no test, no failure."""
        pending = self._pending.pop(part.call_id, None)
        if pending is None:
            return
        self.files.call = part.call_id
        name = pending.name
        outcome = EndedCall(name, pending.arguments, result_text(part), part.is_error, extra, pending.entry, entry)
        if self._under_way is pending:
            self._under_way = None
        if name in SHELL_TOOLS or name in EDIT_TOOLS or name in AGENT_TOOLS or name.startswith("mcp__"):
            self.worked = self.turn
        why = "refused" if self.approvals.denied(part.call_id) else not_run(outcome)
        if why:
            self._unrun(outcome, part.call_id, refused=why == "refused")
            return
        self.approvals.let_through(name, acted_on(outcome))
        failed = outcome.is_error
        if name in SHELL_TOOLS or name in EDIT_TOOLS:
            self.todos.worked()
            self.approvals.worked()
        if name in SHELL_TOOLS:
            failed = self._shell(outcome)
        elif name in EDIT_TOOLS:
            self.files.settle(outcome)
        elif outcome.argument("command") == "undo_edit" and not failed:
            self.files.undo_last(outcome.argument("path"))
        elif name in READ_TOOLS:
            if not failed:
                self.files.read(outcome.argument("file_path", "notebook_path", "path"), outcome.source)
        elif name in AGENT_TOOLS:
            self.agents.settle(part.call_id, outcome)
        elif name in ASKED or name == "BashOutput":
            code = next((block.get("exit_code") for block in outcome.blocks("terminal")), None)
            self.heard(outcome.argument("bash_id", "task_id", "shell_id"), outcome.text, entry, code)
        elif name == "ExitPlanMode":
            self._settled_plan(outcome, part.call_id, approved=not failed)
        self.failures.settle(outcome, failed=failed, turn=self.turn, order=self.files.changes)

    def _unrun(self, outcome: EndedCall, call_id: CallId, *, refused: bool) -> None:
        if outcome.name in AGENT_TOOLS:
            self.agents.refused(call_id)
        elif outcome.name == "ExitPlanMode":
            self._settled_plan(outcome, call_id, approved=False)
        if refused and outcome.name not in QUESTION_TOOLS:  # a question that nobody answers refuses nothing
            self.approvals.refused(outcome, acted_on(outcome), call_id, self.turn)

    def _shell(self, outcome: EndedCall) -> bool:
        command = self.commands.settle(outcome, self.files.changes)
        self._touched(command, outcome)
        self._checked(command, outcome.text, self.files.changes)
        text = command.command
        if "git" in text or "gh " in text or "glab " in text:
            squashes = text.rfind("git reset") < text.rfind("git commit")
            if squashes:
                take_back(command, self.files, self.commits)
            self.commits.settle(command, outcome.text, self.files.changes)
            if not squashes:
                take_back(command, self.files, self.commits)
        return command.failed

    def heard(self, name: str, text: str, entry: EntryId, code: int | None = None) -> None:
        """How an agent or a command in the background stands."""
        self.agents.notice(text, entry)
        if ended := self.commands.heard(name, text, code):
            command, order = ended
            self._checked(command, text, order)
            if command.failed:
                where = first_program(command.command)
                self.failures.failed(where, text, command.source, self.turn, self.files.changes, is_command=True)

    def _checked(self, command: CommandFact, output: str, order: int) -> None:
        purposes = purposes_of(command.command)
        for purpose in purposes[:1] if command.failed else purposes:  # of a chain that failed nobody knows the rest
            if purpose == "test":
                self.tests.settle(command, output, order)
            elif purpose == "build" or purpose == "lint":
                self.checks.settle(purpose, command, output, order)

    def _touched(self, command: CommandFact, outcome: EndedCall) -> None:
        """Files that the command names come before what it tests or commits."""
        text = command.command
        for path, lines, whole in written_files(text) if any(word in text for word in _WRITING) else ():
            if command.failed:
                self.files.failed(path, outcome.source)
            else:
                self.files.change(path, lines, 0, outcome.source, created=whole)
        if command.failed:
            return
        for old, new in moved_files(text) if "mv " in text else ():
            self.files.move(old, new, outcome.source, tracked="git mv" in text)
        for path, sure in removed_files(text) if "rm " in text or "Remove-Item" in text else ():
            made = "git rm" not in text and self.commands.named_before(path)  # or it may have been, by a command
            self.files.removed(path, outcome.source, sure=sure and not made)


def acted_on(outcome: EndedCall) -> str:
    """What a call acts on."""
    return outcome.argument("command", "file_path", "notebook_path", "path", "url", "pattern", "description", "query")
