"""The fold: entries in, facts out. Feeding one more entry costs that entry only.

What crossed a compaction, read from its receipt: facts of entries that a resumed session does not read any more.

The session's title in the log: the last one of each kind, the user's first.
"""

from collections.abc import Iterable
from typing import Literal

from clew.ledger.agents import NOTICES, TASK, each_notice
from clew.ledger.costs import CostsFold
from clew.ledger.facts import Ledger, Limit, Recap, Said, StandingRule
from clew.ledger.language import LanguageFold
from clew.ledger.requests import RequestsFold
from clew.ledger.rules import RulesFold, rules_in
from clew.ledger.work import WorkFold
from clew.protocol.display import TodoItem
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    OpaqueEntry,
    SideQueryEntry,
    SystemEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.event_kinds.agents import AgentChanged, AgentEnded, AgentStarted, WorkChanged
from clew.protocol.event_kinds.asks import PlanAnswered, PlanProposed
from clew.protocol.event_kinds.context import CompactionEnded, ReceiptItem, Rewound
from clew.protocol.event_kinds.turns import CallChanged
from clew.protocol.ids import EntryId
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.standing import Standing
from clew.transcript.chain.closing_words import ReadStanding
from clew.transcript.mapping.typed_text import bounded, is_interruption


class TitleFold:
    """Titles as they were written."""

    def __init__(self) -> None:
        self._own = ""
        self._made = ""
        self._made_by: Literal["facts", "model"] = "facts"

    def feed(self, entry: CustomTitleEntry | AiTitleEntry) -> None:
        """A title was set."""
        if isinstance(entry, CustomTitleEntry):
            self._own = entry.custom_title
        else:
            self._made, self._made_by = entry.ai_title, entry.source

    def current(self) -> tuple[str, Literal["", "user", "facts", "model"]]:
        """The title in force and who made it."""
        if self._own:
            return self._own, "user"
        return (self._made, self._made_by) if self._made else ("", "")


_WORDS = ("goal", "remark", "aside", "words", "request")
_FILES = ("file changed", "file read")
_TODOS = {"current todo": "in_progress", "todo": "pending"}


class CarriedFold:
    """Puts before everything known what a receipt tells and no entry told. The newest entries of a session may stand
    before the receipt, because they were kept word for word."""

    def __init__(self) -> None:
        self._taken: set[EntryId] = set()

    def feed(
        self,
        receipt: CompactionEnded,
        known: Iterable[EntryId],
        requests: RequestsFold,
        rules: RulesFold,
        language: LanguageFold,
        work: WorkFold,
    ) -> None:
        """Take what has a source that is not among the `known` entries."""
        told = set(known) | self._taken
        new = [item for item in receipt.items if item.fate == "carried" and item.source and item.source not in told]
        self._taken.update(item.source for item in new if item.source)
        words = _of(new, *_WORDS)
        asked = bool(requests.all())
        requests.before((text, source) for text, source, _ in words)
        language.before(text for text, _, _ in words)
        earlier = [StandingRule(text=text, source=(source,)) for text, source, _ in _of(new, "rule")]
        for text, source, _ in words:
            earlier += rules_in(text, (source,))
        rules.before(earlier)
        for path, source, kind in _of(new, *_FILES):
            work.files.carry(path, (source,), changed=kind == "file changed")
        for text, source, _ in _of(new, "plan"):
            work.todos.carry_plan(text, (source,))
        todos = _of(new, *_TODOS)
        if todos:
            # A list from before a request that the tail still shows belongs to an earlier one.
            items = tuple(TodoItem(content=text[:300], status=_TODOS[kind]) for text, _, kind in todos)
            work.todos.carry(items, (todos[-1][1],), turn=-1 if asked else requests.turn)


def _of(items: Iterable[ReceiptItem], *kinds: str) -> list[tuple[str, EntryId, str]]:
    return [(item.text, item.source, item.kind) for item in items if item.kind in kinds and item.source]


_MAX_SAID = 12000
_OPEN = (Standing.WORKING, Standing.WAITING, Standing.INTERRUPTED, Standing.STOPPED)
_NO_ID = EntryId("")


class LedgerFold:
    """Takes the entries of one session, oldest first. `ledger()` may be asked at any time."""

    def __init__(self, *, all_side: bool | None = None) -> None:
        """`all_side`: whether entries marked as an agent's side chain are the conversation; None lets the first "
        "entry tell."""
        self._requests = RequestsFold()
        self._rules = RulesFold()
        self._language = LanguageFold()
        self._work = WorkFold()
        self._standing = ReadStanding()
        self._title = TitleFold()
        self._costs = CostsFold()
        self._carried = CarriedFold()
        self._positions: dict[EntryId, int] = {}
        self._prompts: list[tuple[int, EntryId]] = []
        self._said: Said | None = None
        self._recap: Recap | None = None
        self._turns_at_recap = 0
        self._all_side = all_side
        self._session = self._cwd = self._branch = self._model = self._first_at = self._last_at = ""
        self._last_id = _NO_ID
        self._count = 0

    def feed(self, entry: Entry) -> None:
        """Take one more entry; a repeated one changes nothing."""
        if isinstance(entry, OpaqueEntry):
            return
        if isinstance(entry, ChainEntry):
            if entry.uuid in self._positions:
                return
            self._count += 1
            self._positions[entry.uuid] = self._count
            self._chain(entry)
        else:
            self._keyed(entry)

    def _keyed(self, entry: Entry) -> None:
        self._standing.feed(entry)
        if isinstance(entry, TurnResultEntry):
            self._costs.turn(entry)
            self._work.approvals.close_pending()
        elif isinstance(entry, ApprovalEntry):
            self._work.approvals.feed(entry, self._work.call_entry(entry.call_id) or self._last_id, self._requests.turn)
        elif isinstance(entry, SideQueryEntry):
            self._costs.side_query(entry)
        elif isinstance(entry, CustomTitleEntry | AiTitleEntry):
            self._title.feed(entry)
        elif isinstance(entry, TombstoneEntry):
            self._withdraw(entry)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, CompactionEnded):
            self._carried.feed(entry.event, self._positions, self._requests, self._rules, self._language, self._work)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, PlanProposed | PlanAnswered):
            self._work.plan_asked(entry.event, self._work.call_entry(entry.event.call_id) or self._last_id)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, CallChanged):
            self._work.changed(entry.event.call_id, entry.event.arguments)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, AgentStarted | AgentChanged | AgentEnded):
            self._work.agents.told(entry.event, self._last_id or EntryId(""), self._work.turn)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, WorkChanged):
            self._work.todos.listed(entry.event.items, (self._last_id or EntryId(""),), self._work.turn)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, Rewound):
            self._restored(entry.event)

    def _restored(self, event: Rewound) -> None:
        """Files or words were taken back, or came again; what the agent said last is about how it was before."""
        self._said = None
        if event.direction == "redo":
            self._work.files.come_again()
            return
        self._work.files.undone(event.call_ids, tuple(file.path for file in event.files if not file.conflict))
        if event.scope != "files":
            self._requests.forget(self._prompts_after(self._positions.get(event.to, 0) if event.to else 0))

    def _chain(self, entry: ChainEntry) -> None:
        if self._all_side is None:
            self._all_side = entry.is_sidechain
        if entry.is_sidechain and not self._all_side:
            self._side(entry)
            return
        if entry.timestamp:
            self._first_at = self._first_at or entry.timestamp
            self._last_at = entry.timestamp
        if not (isinstance(entry, SystemEntry) and entry.subtype == "away_summary"):
            self._last_id = entry.uuid  # a recap is about what came before it
        self._session = entry.session_id or self._session
        self._cwd = self._work.files.cwd = self._cwd or entry.cwd
        self._branch = entry.git_branch or self._branch
        asked = self._standing.question
        self._standing.feed(entry)
        if isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, UserEntry):
            self._user(entry, asked)
        elif isinstance(entry, SystemEntry):
            self._system(entry)

    def _side(self, entry: ChainEntry) -> None:
        """An agent's own conversation inside the file: its work counts, its words do not."""
        if isinstance(entry, AssistantEntry):
            for part in entry.message.content:
                if isinstance(part, ToolCallPart):
                    self._work.called(part, entry.uuid)
        elif isinstance(entry, UserEntry) and not isinstance(entry.message.content, str):
            for part in entry.message.content:
                if isinstance(part, ToolResultPart):
                    self._work.settled(part, entry.tool_use_result, entry.uuid)

    def _assistant(self, entry: AssistantEntry) -> None:
        self._costs.reply(entry)
        if entry.is_api_error_message:
            words = "\n".join(part.text for part in entry.message.content if isinstance(part, TextPart)) or entry.error
            self._work.failures.failed("model", words or entry.error, (entry.uuid,), self._requests.turn)
            return
        if entry.message.model and entry.message.model != "<synthetic>":
            self._model = entry.message.model
        for part in entry.message.content:
            if isinstance(part, TextPart):
                if part.text.strip():
                    self._work.moved_on()
                    self._work.failures.resolve("model", (entry.uuid,))
                    self._said = Said(
                        text=bounded(part.text, _MAX_SAID), source=(entry.uuid,), turn=self._requests.turn
                    )
            elif isinstance(part, ToolCallPart):
                self._work.called(part, entry.uuid)

    def _user(self, entry: UserEntry, asked: str) -> None:
        content = entry.message.content
        words = content if isinstance(content, str) else "\n".join(p.text for p in content if isinstance(p, TextPart))
        for part in () if isinstance(content, str) else content:
            if isinstance(part, ToolResultPart):
                self._work.settled(part, entry.tool_use_result, entry.uuid)
        if any(mark in words[:400] for mark in NOTICES):
            for notice in each_notice(words):
                named = TASK.search(notice)
                self._work.heard(named.group(1) if named else "", notice, entry.uuid)
        elif words.strip() and not (is_interruption(words) or entry.is_meta or entry.is_compact_summary):
            self._prompt(words, entry, asked)

    def _prompt(self, words: str, entry: UserEntry, asked: str) -> None:
        source = (entry.uuid,)
        if not self._requests.feed(words, source, at=entry.timestamp, question=asked, rewound=self._rewound(entry)):
            return
        last = self._requests.last
        self._prompts.append((self._count, entry.uuid))
        self._work.turned(self._requests.turn)
        self._work.moved_on()
        self._said = None
        if last and last.text:
            self._rules.feed(last.text, source)
            if last.kind != "reply" or self._requests.typed_turns == 1:
                self._language.feed(last.text)

    def _rewound(self, entry: UserEntry) -> set[str] | None:
        """Prompts that this one replaces: it hangs on an entry before them."""
        if entry.parent_uuid is None:
            return None
        parent = self._positions.get(entry.parent_uuid)
        if parent is None or not self._prompts or self._prompts[-1][0] <= parent:
            return None
        return self._prompts_after(parent)

    def _prompts_after(self, position: int) -> set[str]:
        gone: set[str] = {prompt for at, prompt in self._prompts if at > position}
        self._prompts = [item for item in self._prompts if item[0] <= position]
        return gone

    def _system(self, entry: SystemEntry) -> None:
        if entry.subtype == "away_summary":
            self._recap = Recap(text=entry.content, at=entry.timestamp, source=(entry.uuid,))
            self._turns_at_recap = self._requests.typed_turns
        elif entry.subtype == "turn_duration" and entry.duration_ms:
            self._costs.took(entry.duration_ms)
        elif entry.subtype == "api_error" and entry.content:
            self._work.failures.failed("model", entry.content, (entry.uuid,), self._requests.turn)

    def _withdraw(self, entry: TombstoneEntry) -> None:
        targets = frozenset(entry.targets)
        self._work.withdraw(targets)
        if self._said and targets.intersection(self._said.source):
            self._said = None

    def reopened(self) -> None:
        """Another process wrote what was fed so far, and it is gone: what was under way then is not any more."""
        self._standing.left_behind()
        self._work.approvals.close_pending()
        self._work.agents.lost()

    def key(self) -> tuple[str, EntryId]:
        """Session and last entry, without the cost of a whole ledger."""
        return self._session, self._last_id

    def ledger(self, *, held: bool = False) -> Ledger:
        """The facts so far. `held`: a live process writes the session now, so what is open is under way."""
        work, standing = self._work, self._standing
        state = standing.state(held=held)
        source = (standing.source,) if standing.source else ()
        limit = Limit(kind="limit", text=standing.detail, source=source) if state is Standing.SUSPENDED else None
        question = None
        if standing.question:
            question = Said(text=standing.question, source=(standing.asked_in,), turn=self._requests.turn)
        title, title_by = self._title.current()
        return Ledger(
            session_id=self._session,
            cwd=self._cwd,
            branch=self._branch,
            model=self._model,
            language=self._language.language(),
            title=title,
            title_by=title_by,
            first_at=self._first_at,
            last_at=self._last_at,
            last_entry_id=self._last_id,
            entries=self._count,
            user_turns=self._requests.typed_turns,
            turns_since_recap=self._requests.typed_turns - self._turns_at_recap,
            state=state,
            state_source=source,
            state_detail=standing.detail,
            state_by=standing.by if state is Standing.STOPPED else "",
            turn=self._requests.turn,
            work_turn=work.worked,
            goal=self._requests.first(),
            goals=self._requests.all(),
            last_request=self._requests.last,
            rules=self._rules.rules(),
            files=work.files.facts(),
            commands=work.commands.facts(),
            command_count=work.commands.count,
            tests=work.tests.facts(),
            checks=work.checks.facts(),
            commits=work.commits.facts(),
            changes=work.files.changes,
            todos=work.todos.todos,
            plan=work.todos.plan,
            approvals=tuple(item for item in work.approvals.facts() if held or item.decision != "pending"),
            agents=work.agents.facts(held=held),
            errors=work.failures.facts(),
            question=question,
            said=self._said,
            doing=work.doing() if state in _OPEN and (held or not standing.asks) else None,
            limit=limit,
            recap=self._recap,
            costs=self._costs.costs(),
        )


def fold(entries: Iterable[Entry], *, held: bool = False) -> Ledger:
    """The ledger of a whole session."""
    folding = LedgerFold()
    for entry in entries:
        folding.feed(entry)
    return folding.ledger(held=held)
