"""How a session stands after each entry: the one state machine behind lists, recaps and the ledger."""

import re
from typing import Any, cast

from msgspec import Struct

from clew.protocol.entries import (
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    Entry,
    EventEntry,
    SystemEntry,
    SystemPromptEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.events import Durable, ElicitationAnswered, ElicitationRequested, PlanAnswered, PlanProposed, Rewound
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.standing import LIMITS, STOPS, Standing
from clew.transcript.typed_text import is_interruption, is_prompt

QUESTION_TOOLS = frozenset({"AskUserQuestion", "AskUser"})
UNANSWERED = "unanswered"
"""Detail of a state: the last request has no reply at all."""
MAY_ASK = "may ask"
"""Detail of a state: the last words hold a question, and whom it asks is not clear, or they
tell of what is not done, or not yet."""
TAKEN_BACK = "taken back"
"""Detail of a state: something was undone since, or brought back."""
_QUOTA = re.compile(
    r"usage limit|rate.?limit|hit your \w*\s?limit|quota|limit (?:reached|exceeded)|too many requests|\b429\b|"
    r"credit balance|insufficient (?:credit|balance|funds|quota)|out of credits",
    re.IGNORECASE,
)
_ENDINGS = {
    "interrupted": Standing.INTERRUPTED,
    "limited": Standing.SUSPENDED,
    "failed": Standing.FAILED,
}
_MAX_CHARS = 300


class StandingFold(Struct, kw_only=True, omit_defaults=True):
    """Small and pure: it can be put away as JSON and gone on with. Feed the entries of the conversation only."""

    mark: str = ""
    """What came last: prompt, call, result, text, or how it ended (interrupted, limited, failed)."""
    detail: str = ""
    source: EntryId = EntryId("")
    question: str = ""
    """What the agent asked in its last words or by a tool, unanswered."""
    asked_in: EntryId = EntryId("")
    asked_by_call: str = ""
    pending: list[str] = []
    """Approvals nobody gave yet, of calls and of plans."""
    is_ours: bool = False
    """Our own log, which tells the end of each turn: words before it may not be the last."""
    in_turn: bool = False

    def state(self, *, held: bool) -> Standing:
        """`held`: a live process has the right to write the session, so what is open goes on."""
        if self.mark in _ENDINGS:
            return _ENDINGS[self.mark]
        if self.mark in ("prompt", "call", "result") or (self.mark == "text" and self.is_ours and self.in_turn):
            if not held:
                return Standing.INTERRUPTED
            if self.asked_by_call:
                return Standing.ASKING
            return Standing.WAITING if self.pending else Standing.WORKING
        return Standing.ASKING if self.question else Standing.IDLE

    def feed(self, entry: Entry | ChainEntry) -> None:
        """Take one more entry."""
        if isinstance(entry, UserEntry):
            self._user(entry)
        elif isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, SystemEntry):
            self._system(entry)
        elif isinstance(entry, ApprovalEntry):
            self.pending = [item for item in self.pending if item != entry.request_id]
            if entry.decision == "pending":
                self.pending.append(entry.request_id)
        elif isinstance(entry, EventEntry):
            self._event(entry.event)
        elif isinstance(entry, SystemPromptEntry):
            self.is_ours = True
        elif isinstance(entry, TurnResultEntry):
            self._ended(entry)
        elif isinstance(entry, TombstoneEntry) and self.asked_in in entry.targets:
            self._ask("", EntryId(""))

    def _event(self, event: Durable) -> None:
        if isinstance(event, PlanProposed | PlanAnswered):
            self.pending = [item for item in self.pending if item != event.request_id]
            if isinstance(event, PlanProposed):
                self.pending.append(event.request_id)
        elif isinstance(event, ElicitationRequested):
            self._ask(event.message[:_MAX_CHARS], self.source, event.request_id)
        elif isinstance(event, ElicitationAnswered) and self.asked_by_call == event.request_id:
            self._ask("", EntryId(""))
        elif isinstance(event, Rewound):
            self.in_turn = False
            self._ask("", EntryId(""))
            self._set("text", TAKEN_BACK, self.source)

    def _user(self, entry: UserEntry) -> None:
        content = entry.message.content
        words = content if isinstance(content, str) else "\n".join(p.text for p in content if isinstance(p, TextPart))
        for part in () if isinstance(content, str) else content:
            if isinstance(part, ToolResultPart):
                if part.call_id == self.asked_by_call:
                    self._ask("", EntryId(""))
                if self.mark != "interrupted":
                    self._set("result", "", entry.uuid)
        if is_interruption(words):
            self._set("interrupted", "", entry.uuid)
        elif words.strip() and not entry.is_meta and not entry.is_compact_summary and is_prompt(words):
            self.pending = []
            self.in_turn = True
            self._ask("", EntryId(""))
            self._set("prompt", UNANSWERED, entry.uuid)

    def _assistant(self, entry: AssistantEntry) -> None:
        words = "\n".join(part.text for part in entry.message.content if isinstance(part, TextPart))
        if entry.is_api_error_message:
            self._fail(words or entry.error or "API error", entry.uuid, is_limit="rate_limit" in entry.error)
            return
        for part in entry.message.content:
            if isinstance(part, TextPart) and part.text.strip():
                question, is_clear = closing_question(part.text)
                self._ask(question if is_clear else "", entry.uuid)
                is_open = bool(question and not is_clear) or leaves_open(part.text)
                self._set("text", MAY_ASK if is_open else "", entry.uuid)
            elif isinstance(part, ToolCallPart):
                call = meant_call(part)
                asked = question_of(call.arguments) if call.name in QUESTION_TOOLS else ""
                if asked or self.mark != "call":
                    self._ask(asked, entry.uuid, part.id if asked else "")
                self._set("call", "", entry.uuid)

    def _system(self, entry: SystemEntry) -> None:
        if entry.subtype == "interrupted":
            if not (entry.data and entry.data.get("kind") == "cut_off" and self.mark == "text"):
                self._set("interrupted", "", entry.uuid)
        elif entry.subtype == "api_error" and entry.content:
            self._fail(entry.content, entry.uuid)
        elif entry.subtype == "informational" and entry.content.startswith("Tokens: ") and self.mark == "result":
            self._set("text", "", entry.uuid)  # Aider has no turns of its own: this line ends a reply

    def _ended(self, entry: TurnResultEntry) -> None:
        self.pending = []
        self.in_turn = False
        if entry.reason in STOPS:
            self._set("interrupted", entry.reason, self.source)
        elif entry.reason in LIMITS:
            self._set("limited", entry.error[:_MAX_CHARS] or entry.reason, self.source)
        elif entry.reason == "model_error":
            self._fail(entry.error or "model error", self.source)
        elif self.mark not in _ENDINGS:
            self._set("text", self.detail if self.mark == "text" else "", self.source)

    def _fail(self, text: str, source: EntryId, *, is_limit: bool = False) -> None:
        self._set("limited" if is_limit or _QUOTA.search(text) else "failed", text[:_MAX_CHARS], source)

    def _ask(self, question: str, source: EntryId, call: str = "") -> None:
        self.question, self.asked_in, self.asked_by_call = question, source, call

    def _set(self, mark: str, detail: str, source: EntryId) -> None:
        self.mark, self.detail, self.source = mark, detail, source


_ASKS = re.compile(r"[?？؟][\"'”’)\]*_]*(?=\s|$)|[？]")
_SENTENCE = re.compile(r"(?<=[.!:?؟])[\"'”’)*_]*\s+|(?<=[。！？：])\s*|\n")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\w{1,2}[.)])\s")
_HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*\s*$)")
_CODE = re.compile(r"`[^`\n]*`")
_SPACE = "\ue000"
_QUOTE = re.compile('["`“”„«»「」]')
_REACH = 8
"""So many sentences may follow a question that still waits."""
_COURTESY = re.compile(
    r"anything else|further (?:help|assistance|questions)|any (?:other |more )?questions|"
    r"if you (?:need|have) any|how (?:can|may) I (?:help|assist)|what would you like (?:me )?to|"
    r"还有(?:什么|其他)|還有(?:什麼|其他)|他に(?:何か|ご)|что-нибудь ещё|чем (?:ещё )?(?:могу )?помочь|noch etwas|"
    r"algo más|autre chose|algo mais|altro\b",
    re.IGNORECASE,
)
"""Ways to say that one is done."""
_TO_YOU = re.compile(
    r"\b(?:you|your|(?:should|shall|may|can) I|du|dir|dich|Ihnen|möchten Sie|wollen Sie|soll(?:te)? ich|"
    r"vous|tu|dois-je|puis-je|quieres|prefieres|usted|debo|puedo|você|quer|devo|posso|vuoi|preferisci|"
    r"вы|ты|вам|тебе|мне)\b|[你您]|ましょうか|ますか|까요|나요",
    re.IGNORECASE,
)
"""Words by which a question is put to the one who reads it."""


def closing_question(text: str) -> tuple[str, bool]:
    """What the last words of a message ask, and whether it is clear that they wait for an answer: they end with it, a
    last remark and a list of answers aside, or put it to the reader by word. Who goes on to answer it did not ask."""
    if not _ASKS.search(text, max(0, len(text) - 2500)):
        return "", True
    text = _CODE.sub(lambda code: code[0].replace(" ", _SPACE), text)  # code is one word, whatever it holds
    blocks = [block for block in re.split(r"\n\s*\n", text[-2500:].rsplit("```", 1)[-1]) if block.strip()]
    while len(blocks) > 1 and _ITEM.match(blocks[-1]) and not _ASKS.search(blocks[-1]):
        blocks.pop()
    after = 0
    for number, block in enumerate(reversed(blocks)):
        for sentence in reversed([piece for piece in _SENTENCE.split(block) if piece and piece.strip()]):
            asked = _asked(sentence)
            if asked:
                opens = text.lstrip().startswith(sentence.strip())  # often the reader's own question, said again
                clear = (number == 0 and after < 2) or (not opens and _TO_YOU.search(asked) is not None)
                return "" if _COURTESY.search(asked) else asked.replace(_SPACE, " ")[:_MAX_CHARS], clear
            after += not _ITEM.match(sentence)
            if after > _REACH:
                return "", True
    return "", True


_MORE = re.compile(
    r"\bnot\b|n't\b|\bcannot\b|\b(?:I'll|I will|still|next|later|remain\w*|yet|pending|to-?do|tell me|let me know|"
    r"please|once you|if you(?:'d)? (?:want|like|prefer)|nicht|noch|als nächstes|bitte|sag mir|pas|encore|ensuite|"
    r"aún|todavía|falta|luego|dime|non|ancora|dopo|dimmi|não|ainda|depois|не|ещё|далее|скажи\w*)\b|"
    r"[没沒未请請]|还需|下一步|接下来|まだ|次に|ません|아직|다음",
    re.IGNORECASE,
)
"""Words by which one denies, tells of what is to come, or leaves the next step to the reader."""
_CLOSING = 3


def leaves_open(text: str) -> bool:
    """Whether the last sentences of a message tell of what is not done, by whomever; a courtesy does not."""
    closing = [piece for piece in _SENTENCE.split(text[-800:].replace("’", "'").strip()) if piece and piece.strip()]
    return any(_MORE.search(piece) and not _COURTESY.search(piece) for piece in closing[-_CLOSING:])


def _asked(sentence: str) -> str:
    """The sentence as a question; "" when it is none, a heading, or in quotes."""
    found = _ASKS.search(sentence)
    if not found or sentence[found.end() :].strip() or _HEADING.match(sentence):
        return ""
    plain = re.sub(r"^[\s>#*+•-]+|\*\*", "", sentence).strip()
    return plain if len(plain) > 3 and len(_QUOTE.findall(plain)) % 2 == 0 else ""


def question_of(arguments: dict[str, Any]) -> str:
    """The first question of an AskUserQuestion call."""
    listed = arguments.get("questions")
    first = cast("list[object]", listed)[0] if isinstance(listed, list) and listed else arguments
    asked = cast("dict[str, object]", first).get("question") if isinstance(first, dict) else None
    return asked[:_MAX_CHARS] if isinstance(asked, str) else ""
