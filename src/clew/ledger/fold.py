"""The fold: entries in, facts out. Feeding one more entry costs that entry only."""

from collections.abc import Iterable

from clew.ledger.agents import NOTICES
from clew.ledger.costs import CostsFold
from clew.ledger.facts import Ledger, Recap, Said, Sources
from clew.ledger.goals import GoalsFold
from clew.ledger.language import LanguageFold
from clew.ledger.next_step import achieved, announced, intended
from clew.ledger.question import open_question
from clew.ledger.rules import RulesFold
from clew.ledger.state import TurnFold
from clew.ledger.titles import TitleFold
from clew.ledger.words import is_interruption
from clew.ledger.work import WorkFold
from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    OpaqueEntry,
    SideQueryEntry,
    SystemEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.ids import EntryId
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart

_KEPT_TEXTS = 8
_MAX_SAID = 12000
_NO_ID = EntryId("")


class LedgerFold:
    """Takes the entries of one session, oldest first. `ledger()` may be asked at any time."""

    def __init__(self, *, all_side: bool | None = None) -> None:
        """`all_side`: whether entries marked as an agent's side chain are the conversation; None lets the first "
        "entry tell."""
        self._goals = GoalsFold()
        self._rules = RulesFold()
        self._language = LanguageFold()
        self._work = WorkFold()
        self._turn = TurnFold()
        self._title = TitleFold()
        self._costs = CostsFold()
        self._positions: dict[str, int] = {}
        self._prompts: list[tuple[int, EntryId]] = []
        self._texts: list[tuple[str, Sources]] = []
        self._question: Said | None = None
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
        if isinstance(entry, TurnResultEntry):
            self._turn.ended(entry, self._last_id)
            self._costs.turn(entry)
            self._work.approvals.close_pending()
        elif isinstance(entry, ApprovalEntry):
            self._work.approvals.feed(entry, self._work.call_entry(entry.call_id) or self._last_id)
        elif isinstance(entry, SideQueryEntry):
            self._costs.side_query(entry)
        elif isinstance(entry, CustomTitleEntry | AiTitleEntry):
            self._title.feed(entry)
        elif isinstance(entry, TombstoneEntry):
            self._withdraw(frozenset(entry.targets))

    def _chain(self, entry: ChainEntry) -> None:
        if self._all_side is None:
            self._all_side = entry.is_sidechain
        if entry.is_sidechain and not self._all_side:
            self._side(entry)
            return
        if entry.timestamp:
            self._first_at = self._first_at or entry.timestamp
            self._last_at = entry.timestamp
        self._last_id = entry.uuid
        self._session = entry.session_id or self._session
        self._cwd = self._cwd or entry.cwd
        self._branch = entry.git_branch or self._branch
        if isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, UserEntry):
            self._user(entry)
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
            self._turn.failed(words or "API error", entry.uuid)
            self._work.failures.failed("model", words or entry.error, (entry.uuid,))
            return
        if entry.message.model and entry.message.model != "<synthetic>":
            self._model = entry.message.model
        for part in entry.message.content:
            if isinstance(part, TextPart):
                if part.text.strip():
                    self._said(part.text, entry.uuid)
            elif isinstance(part, ToolCallPart):
                self._turn.called(part.id, entry.uuid)
                self._question = self._work.called(part, entry.uuid) or self._question

    def _said(self, text: str, source: EntryId) -> None:
        self._turn.said(source)
        self._work.moved_on()
        if not self._texts:
            self._goals.restate(text, source)
        self._texts.append(
            (text if len(text) <= _MAX_SAID else text[: _MAX_SAID // 2] + "\n" + text[-_MAX_SAID // 2 :], (source,))
        )
        if len(self._texts) > _KEPT_TEXTS:
            del self._texts[0]
        self._work.failures.resolve("model", (source,))

    def _user(self, entry: UserEntry) -> None:
        content = entry.message.content
        if isinstance(content, str):
            words = content
        else:
            words = ""
            for part in content:
                if isinstance(part, ToolResultPart):
                    self._turn.settled(part.call_id, entry.uuid)
                    if self._work.settled(part, entry.tool_use_result, entry.uuid):
                        self._question = None
                elif isinstance(part, TextPart):
                    words = f"{words}\n{part.text}" if words else part.text
        if not words.strip():
            return
        if is_interruption(words.lstrip()):
            self._turn.interrupted(entry.uuid)
        elif any(mark in words[:400] for mark in NOTICES):
            self._work.agents.notice(words, entry.uuid)
        elif not entry.is_meta and not entry.is_compact_summary:
            self._prompt(words, entry)

    def _prompt(self, words: str, entry: UserEntry) -> None:
        source = (entry.uuid,)
        asked = self._question or open_question(self._texts)
        if self._texts:
            self._goals.heard(self._texts[-1][0])
        request = self._goals.feed(
            words, source, at=entry.timestamp, question=asked.text if asked else "", rewound=self._rewound(entry)
        )
        if request is None:
            return
        self._prompts.append((self._count, entry.uuid))
        if request.text:
            self._language.feed(request.text)
            self._rules.feed(request.text, source)
        self._turn.prompt(entry.uuid)
        self._work.moved_on()
        self._work.approvals.close_pending()
        self._texts = []
        self._question = None

    def _rewound(self, entry: UserEntry) -> set[str] | None:
        """Prompts that this one replaces: it hangs on an entry before them."""
        if entry.parent_uuid is None:
            return None
        parent = self._positions.get(entry.parent_uuid)
        if parent is None or not self._prompts or self._prompts[-1][0] <= parent:
            return None
        gone: set[str] = {prompt for position, prompt in self._prompts if position > parent}
        self._prompts = [item for item in self._prompts if item[0] <= parent]
        return gone

    def _system(self, entry: SystemEntry) -> None:
        if entry.subtype == "away_summary":
            self._recap = Recap(text=entry.content, at=entry.timestamp, source=(entry.uuid,))
            self._turns_at_recap = self._goals.typed_turns
        elif entry.subtype == "interrupted":
            if not (entry.data and entry.data.get("kind") == "cut_off" and self._turn.mark == "text"):
                self._turn.interrupted(entry.uuid)
        elif entry.subtype == "turn_duration" and entry.duration_ms:
            self._costs.took(entry.duration_ms)
        elif entry.subtype == "api_error" and entry.content:
            self._turn.failed(entry.content, entry.uuid)
            self._work.failures.failed("model", entry.content, (entry.uuid,))
        elif entry.subtype == "informational" and entry.content.startswith("Tokens: "):
            self._turn.rested(entry.uuid)

    def _withdraw(self, targets: frozenset[EntryId]) -> None:
        self._turn.withdraw(targets)
        self._work.withdraw(targets)
        self._texts = [item for item in self._texts if not targets.intersection(item[1])]

    def key(self) -> tuple[str, EntryId]:
        """Session and last entry, without the cost of a whole ledger."""
        return self._session, self._last_id

    def ledger(self) -> Ledger:
        """The facts so far."""
        work = self._work
        question = self._question or open_question(self._texts)
        approvals = work.approvals.facts()
        state = self._turn.state(
            pending_approval=any(item.decision == "pending" for item in approvals), question=question is not None
        )
        title, title_by = self._title.current()
        language = self._language.language()
        return Ledger(
            session_id=self._session,
            cwd=self._cwd,
            branch=self._branch,
            model=self._model,
            language=language,
            title=title,
            title_by=title_by,
            first_at=self._first_at,
            last_at=self._last_at,
            last_entry_id=self._last_id,
            entries=self._count,
            user_turns=self._goals.typed_turns,
            turns_since_recap=self._goals.typed_turns - self._turns_at_recap,
            state=state,
            state_source=self._turn.source,
            state_detail=self._turn.detail,
            goal=self._goals.goal(),
            goals=self._goals.goals(),
            last_request=self._goals.last,
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
            approvals=approvals,
            agents=work.agents.facts(),
            errors=work.failures.facts(),
            question=question,
            next_step=announced(self._texts),
            result=achieved(self._texts, language),
            intent=intended(self._texts) if state in ("working", "interrupted", "failed", "limited") else None,
            doing=work.doing() if state in ("working", "interrupted") else None,
            limit=self._turn.limit,
            recap=self._recap,
            costs=self._costs.costs(),
        )


def fold(entries: Iterable[Entry]) -> Ledger:
    """The ledger of a whole session."""
    folding = LedgerFold()
    for entry in entries:
        folding.feed(entry)
    return folding.ledger()
