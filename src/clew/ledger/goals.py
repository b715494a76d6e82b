"""What the user wants: substantive requests told from replies, answers and commands; refinements told from pivots."""

import re

from msgspec.structs import replace

from clew.ledger.facts import Request, RequestKind, Sources
from clew.ledger.words import cjk_share, sentences, typed, without_code
from clew.protocol.ids import EntryId

MAX_GOALS = 60
_MAX_TEXT = 4000

_NOD_WORDS = """
    y n yes no ok okay okey k kk sure yep yeah yup nope go continue proceed done thanks thx ty next stop wait hi
    hello hey great good perfect nice cool right correct exactly approved approve accept lgtm please do it that
    this both all one first second third option keep going on ahead retry again resume commit push test quit
    exit the a alright fine sounds looks to me ja nein weiter danke genau gut passt gerne bitte mach los oui non
    merci vas-y continue d'accord parfait bien sí si claro gracias sigue adelante vale perfecto bueno sim não
    obrigado continua да нет ага ок продолжай давай
    дальше спасибо хорошо верно отлично угу 好 好的
    好吧 是 是的 对 對 不
    不是 继续 繼續 可以 行 嗯 谢谢 謝謝 没问题
    沒問題 请继续 請繼續 开始 確認 确认 下一步 同意 はい
    いいえ うん お願いします おねがいします 続けて 続けてください ありがとう いいよ 네
    아니요 hallo hola bonjour salut привет здравствуйте 你好 您好 こんにちは olá oi ciao 안녕하세요 moin servus
    계속 좋아 감사합니다
"""
_NOD = frozenset(_NOD_WORDS.split())
_CHOICE = re.compile(
    r"^[\s(]*(?:option|choice|number|nr|no\.?|#)?\s*(?:\d{1,2}|[a-dA-D])(?:\s*(?:,|and|&|\+|/)\s*(?:\d{1,2}|"
    r"[a-dA-D]))*[\s.)!]*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w'-]+")
_PIVOT = re.compile(
    r"^\W*(?:now\s+(?:for\s+something|let'?s\s+(?:move|switch|turn))|new\s+(?:task|topic|request|issue|"
    r"question)\b|next\s+(?:task|topic|issue)\b|"
    r"different\s+(?:task|topic|question|thing)|another\s+(?:task|topic|thing|question|issue)|switching\s+(?:to|"
    r"gears)|unrelated|"
    r"(?:ok(?:ay)?,?\s+)?(?:forget|drop|never\s*mind|leave)\s+(?:that|this|it|about|the)|let'?s\s+(?:move\s+on|"
    r"switch|do\s+something\s+else|work\s+on)|"
    r"change\s+of\s+plans?|instead\s+of\s+(?:that|this),|moving\s+on|"
    r"neue\s+aufgabe|anderes\s+thema|vergiss\s+das|nouvelle\s+tâche|autre\s+(?:chose|sujet)|oublie|nueva\s+tarea|"
    r"otra\s+cosa|olvida|"
    r"новая\s+задача|другая\s+(?:задача|тема)|забудь|другое:|新任务|新任務|换个|換個|另一个(?:任务|问题)|先不管|别的任务|別のタスク|次の(?:タスク|"
    r"課題)|話は変わ)",
    re.IGNORECASE,
)
_STOP_WORDS = """
    the a an and or of to in on for with is are be it this that we you i my our your can could would should
    please do does did not from at by as so if then than there here what how why when where which who will have
    has had was were but also just like some any all into make sure need want let lets us me now use using get
    got one two
"""
_STOP = frozenset(_STOP_WORDS.split())


_HOUSEKEEPING_WORDS = """
    add-dir agents bashes bug chat clear compact config
    context copy cost docs doctor drop editor exit
    export fast feedback
    help history hooks ide install-github-app keybindings login logout map mcp memory model new output-style permissions
    plugin privacy-settings quit read-only recap release-notes rename reset resume rewind run save settings skills stats
    status statusline tasks theme think title todos tokens tools undo upgrade usage version vim voice web
"""
HOUSEKEEPING = frozenset("/" + word for word in _HOUSEKEEPING_WORDS.split())
"""Commands to the program itself; no wish to the agent."""


def is_reply(text: str) -> bool:
    """A nod, a number, a thank-you: words that only mean something with what came before."""
    if len(text) > 80:
        return False
    if not any(map(str.isalnum, text)) or _CHOICE.match(text):
        return True
    if cjk_share(text) > 0.5:
        return len(text) <= 3 or text.strip("。！!.，, 吧了呢") in _NOD
    words = _WORD.findall(text.casefold())
    return len(words) <= 6 and all(word in _NOD for word in words)


def keywords(text: str) -> set[str]:
    """Words that carry the topic; for Chinese and Japanese, pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if not word.isascii() and cjk_share(word) > 0.5:
            found.update(word[index : index + 2] for index in range(len(word) - 1))
        elif len(word) > 2 and word not in _STOP:
            found.add(word[:-1] if word.endswith("s") and len(word) > 4 else word)
    return found


class GoalsFold:
    """The user's messages in order, each with what kind of request it is."""

    def __init__(self) -> None:
        self._goals: list[Request] = []
        self._topic: set[str] = set()
        self._heard = ""
        self.last: Request | None = None
        self.typed_turns = 0

    def feed(
        self, raw: str, source: Sources, *, at: str, question: str, rewound: set[str] | None = None
    ) -> Request | None:
        """Classify one message of the user; `question` is what the agent had asked, "" for nothing."""
        if rewound:
            self._forget(rewound)
        text, command = typed(raw)
        if not text and (not command or command in HOUSEKEEPING):
            return None
        kind = self._kind(text, command, question)
        request = Request(
            text=text[:_MAX_TEXT],
            kind=kind,
            at=at,
            command=command,
            source=source,
            question=question if kind == "answer" else "",
        )
        if text or not self.last or self.last.kind == "command":
            self.last = request
        if text:
            self.typed_turns += 1
        if kind in ("request", "refine", "pivot") or (kind == "answer" and not is_reply(text)) or kind == "command":
            self._note(request)
        return request

    def restate(self, text: str, source: EntryId) -> None:
        """The agent's first words on the latest request, if they say the task again."""
        if (
            self._goals
            and self.last is not None
            and self._goals[-1].source == self.last.source
            and not self._goals[-1].restated
        ):
            said = restatement(text)
            if said:
                self._goals[-1] = replace(self._goals[-1], restated=said, restated_in=source)

    def _note(self, request: Request) -> None:
        if len(self._goals) >= MAX_GOALS:
            del self._goals[1]
        self._goals.append(request)
        words = keywords(without_code(request.text)[:1500])
        self._topic = words if request.kind == "pivot" else self._topic | words

    def _forget(self, rewound: set[str]) -> None:
        self._goals = [goal for goal in self._goals if not rewound.intersection(goal.source)]
        if self.last and rewound.intersection(self.last.source):
            self.last = self._goals[-1] if self._goals else None

    def _kind(self, text: str, command: str, question: str) -> RequestKind:
        if not text:
            return "command"
        if is_reply(text):
            return "answer" if question else "reply"
        real = [goal for goal in self._goals if goal.kind != "command"]
        if not real:
            return "request"
        if question and len(text.split()) <= 12 and not _PIVOT.match(text):
            return "answer"
        return "pivot" if self._turns_away(text) else "refine"

    def heard(self, text: str) -> None:
        """What the agent talks about belongs to the topic."""
        self._heard = text[-3000:]

    def _turns_away(self, text: str) -> bool:
        """A new topic: announced as one, or a full request that shares no word with what went before."""
        if _PIVOT.match(text):
            return True
        words = keywords(without_code(text)[:1500])
        first = sentences(text, limit=1)
        return len(words) >= 12 and bool(first) and not words & (self._topic | keywords(self._heard))

    def goals(self) -> tuple[Request, ...]:
        """Substantive requests, the bare command of a user's own included where it began the work."""
        return tuple(self._goals)

    def goal(self) -> Request | None:
        """The task: the latest pivot, else the first request."""
        goals = self.goals()
        for goal in reversed(goals):
            if goal.kind == "pivot":
                return goal
        asked = [goal for goal in goals if goal.command != "/init" or goal.text]
        tasks = [goal for goal in asked if not _PRELIMINARY.match(goal.text) or len(goal.text.split()) > 8]
        return next(iter((tasks if len(asked) > 2 else asked) or asked or goals), None)


_PRELIMINARY = re.compile(
    r"^\W*(?:please\s+|ok(?:ay)?,?\s+|first,?\s+)?(?:git\s+)?(?:check\s?out|switch\s+to|pull|fetch|cd)\b", re.IGNORECASE
)
"""Getting the working tree ready, before the task."""
_RESTATED = re.compile(
    r"(?:^|\b(?:sure|okay|ok|perfect|great|absolutely|got it|understood|right)[,!.]?\s+)(?:now,?\s+)?"
    r"(?:I'?ll|I\s+will|I'?m\s+going\s+to|let\s+me|let's)\s+(?:now\s+|first\s+|go\s+ahead\s+and\s+)?"
    r"(?:help\s+(?:you\s+)?(?:to\s+|with\s+)?)?(?P<act>(?P<verb>\w+)\b.{12,})",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(r"I'll|I will|I'm going|[Ll]et me|[Ll]et's|i'll")
_LOOKING_WORDS = """
    look start begin explore check read examine inspect
    see search find take get gather understand locate
    go verify proceed
    think first list view review open know use do continue dig scan see analyze analyse launch run work try be need have
"""
_LOOKING = frozenset(_LOOKING_WORDS.split())


def restatement(text: str) -> str:
    """ "I'll update both commands to show check marks" as "update both commands ..."; "" for a mere look around."""
    head = text[:600]
    if not _ANNOUNCES.search(head):
        return ""
    for sentence in sentences(head, limit=3):
        found = _RESTATED.search(sentence)
        if found and found.group("verb").lower() not in _LOOKING:
            return found.group("act").strip(" .:")
    return ""
