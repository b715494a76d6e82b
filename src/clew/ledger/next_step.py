"""What the agent said it achieved, and what it said comes next."""

import re

from clew.ledger.facts import Said, Sources
from clew.ledger.language import spoken
from clew.ledger.words import cjk_share, passages, sentences

_MAX_CHARS = 400
_TAIL_CHARS = 3500

_NEXT_STRONG = re.compile(
    r"\bnext\s+(?:steps?|up|is\b|I(?:'ll| will)|you)|^next\b[:,]|\bremaining\b|\bstill\s+(?:needs?|lacks?|todo|"
    r"open|missing|untracked|unresolved|have\s+to|has\s+to|to\s+do|uncommitted|failing)|"
    r"\bnot\s+(?:yet\s+)?(?:been\s+)?(?:pushed|committed|merged|deployed|published|tested|verified|run)\b|"
    r"\bhaven'?t\s+(?:yet\s+)?(?:been\s+)?(?:pushed|committed|tested|run|verified|merged|deployed)|"
    r"\b(?:waiting|await\w*)\s+(?:for\s+)?your\b|j'attends|en attente de|espero (?:tu|su)|warte auf|жду (?:ваш|тво)|"
    r"\buncommitted\b|\bunpushed\b|\bwhat(?:'s| is)\s+left\b|\bleft\s+to\s+do\b|\bneeds?\s+(?:to\s+(?:be|land)|"
    r"your|manual)|\bready\s+(?:to|for)\s+(?:commit|merge|push|review|test|deploy|use|be|the)|"
    r"\bonce\b.*\bcan\b|\bbefore\s+(?:merging|pushing|releasing|deploying)|\bpush\s+(?:it|the|whenever|when|"
    r"to)\b|\bTODO\b|\bfollow-?ups?\b|"
    r"下一步|接下来|接下來|还需要|還需要|尚未|还没有|還沒有|待办|待辦|需要(?:你|您)|次の(?:ステップ|手順)|あとは|残り(?:は|の)|まだ.{0,12}(?:ません|ない)|未(?:コミット|完了|実施)|"
    r"следующ(?:ий|им) шаг|осталось (?:\w+ )?\w+ть|ещё не (?:сделан|закоммич|запу|провер)\w*|"
    r"siguientes? pasos?|próximos? pasos?|falta\b|queda\b|quedan\b|aún no|todavía no|"
    r"nächste[rn]? schritte?|als nächstes|noch nicht|es fehlt|bleibt\b|prochaines? étapes?|il reste|reste à|"
    r"pas encore|il faut",
    re.IGNORECASE,
)
_NEXT_WEAK = re.compile(
    r"^(?:please\s+)?(?:you\s+(?:can|should|may|might|could|'ll\s+need\s+to|will\s+need\s+to|"
    r"need\s+to)(?:\s+now)?|now\s+you\s+can|to\s+(?:test|try|verify|use|run|apply|start)\b|try\b|run\b|test\b|"
    r"restart\b|reload\b|open\b|review\b|"
    r"verify\b|check\b|make\s+sure\b|commit\s+(?:the|your|it|this|and|with|when|or)\b|push\b|"
    r"let\s+me\s+know\s+(?:if|when|how)|give\s+it\s+a)|\bI(?:'ll|"
    r"\s+will|'d)\s+(?!be\b)\w+|\bI\s+recommend\b|\bI\s+suggest\b|\brecommended\b|\boptional(?:ly)?\b|"
    r"请(?:运行|测试|检查|重启|提交|确认)|請(?:執行|測試|檢查|重啟|提交|確認)|可以(?:运行|執行|开始|開始|直接)|建议|建議|してください|ことをお勧め|можно\s|рекоменду|"
    r"запустите|проверьте|"
    r"puedes\s|ejecuta|recomiendo|du kannst|empfehle|bitte\s|vous pouvez|tu peux|je recommande",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^(?:recommended\s+|suggested\s+|possible\s+|optional\s+)?(?:next\s+steps?|what'?s\s+next|"
    r"remaining(?:\s+(?:work|tasks|items|steps))?|to-?do|follow-?ups?|testing|to\s+test|how\s+to\s+test|下一步|接下来|接下來|"
    r"次のステップ|следующие шаги|что дальше|siguientes? pasos?|próximos pasos|nächste schritte|"
    r"prochaines étapes)\s*[^\w\s]*:?$",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:complete[d]?|done|fixed|added|updated|created|implemented|removed|deleted|renamed|refactored|replaced|"
    r"moved|migrated|committed|pushed|merged|released|published|deployed|"
    r"passes|pass|passed|passing|succeeded|successful(?:ly)?|works|working|resolved|solved|finished|changed|"
    r"rewritten|rewrote|extracted|converted|built|installed|configured|applied|generated|"
    r"wrote|written|cleaned|switched|set\s+up|verified|confirmed|found|reverted|green|tagged|bumped|"
    r"now\s+\w+s)\b|"
    r"已(?:经|經)?|完成|修复|修復|通过|通過|成功|ました|完了|修正|готов|исправ|добав|обнов|созда|выполн|заверш|успешно|удал|completad|"
    r"añadid|corregid|actualiz|cread|listo|"
    r"fertig|erledigt|behoben|hinzugefügt|aktualisiert|erstellt|terminé|ajouté|corrigé|mis à jour|créé|réussi",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^(?:to \w+ |here(?:'s| is| are)|below|let me|i'll|i will|now (?:let|i'll|i)|first,? (?:let|i)|summary|"
    r"changes made|"
    r"what (?:i|was)|key |files? (?:created|updated|changed|modified)|overview|the following|以下|"
    r"perfect!?$|great!?$|excellent!?$|done!?$|fixed!?$|you'?re (?:absolutely )?right)",
    re.IGNORECASE,
)
_FIRST_PERSON_PLAN = re.compile(
    r"^(?:now,?\s+)?(?:let me|let's|i'll|i will|i'm going to|i am going to|next,? i(?:'ll| will)|"
    r"we will|we'll|we need to|we are going to|if you|voy a|vamos a|je vais|nous allons|ich werde|wir werden|"
    r"я (?:сейчас |теперь )?(?:буду|начну|сделаю|проверю|добавлю)|vou\b|vamos\b)\b|"
    r"^(?:首先)?(?:(?:接下来|接下來|现在|現在)[，,]?)?(?:我|我们|我們|让我|讓我)(?:将|將|会|會|来|來|们来|先|要|需要|查看|们将)|^(?:まず|これから|では)",
    re.IGNORECASE,
)
_GERUND = re.compile(
    r"^(?:now\s+)?(?!nothing|everything|something|anything|during|following|string|according|regarding|missing|"
    r"remaining|existing|bring|king|ring|sing|thing|wing)[a-z]{2,}ing\b(?!.{0,80}?\b(?:is|are|was|were|works?|has|will|would|should|makes?|means)\b)",
    re.IGNORECASE,
)
"""A sentence that tells what the agent is at, not what it has done."""
_OPENING = re.compile(
    r"^(?:(?:perfect|great|excellent|done|fixed|awesome|all set|all done|sure|okay|ok|yes|yep|absolutely|"
    r"you'?re (?:absolutely )?right|good (?:point|catch|news|question))[.!,:—–-]*\s+)+(?=\w)",
    re.IGNORECASE,
)


def achieved(texts: list[tuple[str, Sources]], language: str = "en") -> Said | None:
    """The sentence that best tells what was reached, from the agent's last words, if any in the user's language."""
    own = texts if language == "en" else [item for item in texts if spoken(item[0][-_TAIL_CHARS:], language)]
    best: tuple[float, str, Sources] | None = None
    for back, (text, source) in enumerate(reversed((own or texts)[-3:])):
        listed = [*_ranked(text), *_ranked(_closing(text), bonus=0.5)]
        for score, sentence in listed:
            if score - back * 1.5 > _LEAST and (best is None or score - back * 1.5 > best[0]):
                best = (score - back * 1.5, sentence, source)
    if best is None and texts:
        best = _lead(*texts[-1])
    return Said(text=best[1][:_MAX_CHARS], source=best[2]) if best else None


def _ranked(text: str, *, bonus: float = 0.0) -> list[tuple[float, str]]:
    found = [(_result_score(sentence, index), sentence) for index, sentence in enumerate(_body(text)[:14])]
    return [(score + bonus, sentence) for score, sentence in found if score > 0]


def _closing(text: str) -> str:
    """What stands after the last block of code: there an answer is summed up."""
    return text.rpartition("```")[2] if "```" in text else ""


def deed(said: Said | None) -> bool:
    """The sentence reports something done, and is not only how an answer opens."""
    return said is not None and _result_score(said.text, 0) > _LEAST


def _lead(text: str, source: Sources) -> tuple[float, str, Sources] | None:
    """The opening statement of an answer that reports no deed."""
    for sentence in [_OPENING.sub("", line) for line in sentences(text[:3000], limit=12)][:6]:
        length = len(sentence.split()) if cjk_share(sentence) <= 0.3 else len(sentence) // 2
        plan = (
            _FIRST_PERSON_PLAN.match(sentence)
            or _PREAMBLE.match(sentence)
            or _is_heading(sentence)
            or _BIDDING.match(sentence)
            or _GERUND.match(sentence)
            or _ITEM.match(sentence)
        )
        if length >= 6 and not plan and not sentence.endswith(("?", "？")) and not sentence.startswith("`"):
            return 1.0, sentence.rstrip(":："), source
    return None


def _is_heading(sentence: str) -> bool:
    """Title case without an end: a heading, not a statement."""
    words = [word for word in sentence.split() if word[:1].isalpha()]
    capital = sum(word[0].isupper() for word in words)
    return (
        bool(words) and not sentence.endswith((".", "!", "。")) and capital * 3 >= len(words) * 2 and len(words) <= 10
    )


_BIDDING = re.compile(
    r"^(?:then|now|please|and|finally|first|next|could\s+you|can\s+you|,|\s)*\b(?:provide|share|run|rerun|re-run|use|open|check|see|try|make|install|restart|"
    r"verify|review|test|set|start|click|go|build|ensure|apply|add|create|remove|replace|update|change|copy|paste|call)\s+"
    r"(?!(?:is|was|are|were|has|have|had|now|failed|passed|fails|passes)\b)\w",
    re.IGNORECASE,
)
"""A sentence that tells someone to do something; no report of what was done."""
_MEANS = re.compile(r"(?:now\s+)?using\b", re.IGNORECASE)
"""What the agent works with, not what it is about to do."""
_SELF = re.compile(r"^(?:i'm|i\s+am|we're|we\s+are)\s+", re.IGNORECASE)
_PAST = re.compile(r"^(?:i\s+(?:have\s+)?|i've\s+|we\s+)?(?!need|based|red\b)[a-z]{3,}ed\b", re.IGNORECASE)
_ITEM = re.compile(r"[^.:`]{3,40}:\s+(?:how|what|which|where|why|the|an?)\b", re.IGNORECASE)
"""An item of a list with its label."""
_FILE = re.compile(r"[\w-]\.[a-z]{1,5}\b")
_TESTS_ONLY = re.compile(r"\btests?\b.*\bpass|测试.*通过|測試.*通過", re.IGNORECASE)
_LEAST = 1.2
_LABEL = re.compile(
    r"^(?:verification|result|results|summary|details|note|status|outcome|changes made|fix|"
    r"the fix|solution|root cause)\s*:\s+",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:would(?:n'?t)?|could|might|may|if|should|whether|unless)\b|"
    r"\bto\s+be\s+\w+ed\b",
    re.IGNORECASE,
)


def _ending(text: str) -> str:
    """The closing part of a long reply, from the start of a line."""
    if len(text) <= _TAIL_CHARS:
        return text
    tail = text[-_TAIL_CHARS:]
    return tail[tail.find("\n") + 1 :]


def _body(text: str) -> list[str]:
    return [_LABEL.sub("", _OPENING.sub("", sentence)) for sentence in passages(_ending(text))]


_CODE = re.compile(r"`[^`]*`")
_DEFINITION = re.compile(
    r"^[`\w./:-]+(?:\s[\w./-]+)?\s+[-—–]\s+[A-Z]|"
    r"^(?!next|remain|still|to-?do|open|note|fixed|done|added|updated|changed|created|result|pushed|committed)"
    r"[a-z]\w*(?: \w+){0,2}:\s",
    re.IGNORECASE,
)


def _result_score(sentence: str, index: int) -> float:
    length = len(sentence.split())
    if cjk_share(sentence) > 0.3:
        length = len(sentence) // 2
    if sentence.endswith(("?", "？")) or _FIRST_PERSON_PLAN.match(sentence) or _PREAMBLE.match(sentence) or length < 3:
        return 0.0
    idle = _DEFINITION.match(sentence) or _BIDDING.match(sentence) or _GERUND.match(_SELF.sub("", sentence))
    score = 3.0 if not idle and (_DONE.search(sentence) or _PAST.match(sentence)) else 0.0
    if not score:
        return 0.0
    score -= 1.0 if length < 8 and _TESTS_ONLY.search(sentence) else 0.0
    score -= 1.5 if _HYPOTHETICAL.search(sentence) else 0.0
    score -= 1.0 if sentence.startswith("`") and sentence.find("`", 1) > len(sentence) // 2 else 0.0
    score += 0.6 if "`" in sentence or "." in sentence.rstrip(".") else 0.0
    score -= (
        index * 0.25
        + (0.8 if length < 5 and not _FILE.search(sentence) else 0.0)
        + (1.0 if length > 32 else 0.0)
        + (0.8 if sentence.endswith(":") else 0.0)
    )
    return score


def announced(texts: list[tuple[str, Sources]]) -> Said | None:
    """The sentence that tells what comes next, from the agent's last words."""
    best: tuple[float, str, Sources] | None = None
    for back, (text, source) in enumerate(reversed(texts[-2:])):
        body = _body(text)
        for index, sentence in enumerate(body):
            score = _next_score(sentence, after_heading=index > 0 and bool(_HEADING.match(body[index - 1]))) - back * 3
            score += index / max(1, len(body)) if score > 0 else 0
            if score > 0 and (best is None or score > best[0]):
                best = (score, sentence, source)
    return Said(text=best[1][:_MAX_CHARS], source=best[2]) if best else None


_COURTESY = re.compile(
    r"^(?:please\s+)?(?:feel free|let me know|don't hesitate|if you (?:have|need|want|would like)|happy to)|"
    r"any (?:other )?questions|"
    r"有(?:任何)?(?:其他)?问题|不明な点|если (?:у вас|есть) вопрос|bei fragen|si tienes (?:alguna )?pregunta|n'hésite",
    re.IGNORECASE,
)


_WANTED = re.compile(
    r"^(?:(?:could|can|would)\s+you\s+(?:please\s+)?|please\s+)(?:provide|share|paste|send|clarify|specify|confirm|add\s+(?:the|these|"
    r"this|those|`)|tell\s+me|give\s+me)\b|^(?:veuillez|merci de)\s|"
    r"^(?:por favor,?\s+)(?:proporcion|compart|confirm|añad|agreg)|"
    r"^(?:请|請)(?:提供|确认|確認|告诉|告訴|分享)|(?:教えて|提供して|共有して)ください",
    re.IGNORECASE,
)
"""What the agent needs from the user before it can go on."""
_EFFECT = re.compile(
    r"^(?:this|these|that|it|they|which)\b(?:\s+\w+){0,2}?\s+(?:will|should|would|ensures?|allows?|makes?|means|shows?|confirms?|explains?|"
    r"indicates?)\b",
    re.IGNORECASE,
)
"""What a change brings about is no step to take."""


def _next_score(sentence: str, *, after_heading: bool) -> float:
    length = len(sentence.split())
    if _COURTESY.search(sentence) or _is_heading(sentence) or _DEFINITION.match(sentence):
        return 0.0
    if _WANTED.match(sentence) and not sentence.endswith(("?", "？")):
        return 2.9
    if _HEADING.match(sentence) or sentence.endswith(("?", "？", ":", "：")) or (length < 3 and len(sentence) < 8):
        return 0.0
    if _EFFECT.match(sentence) and not after_heading:
        return 0.0
    words = _CODE.sub("", sentence)
    score = (
        (3.0 if _NEXT_STRONG.search(words) else 0.0)
        + (1.5 if _NEXT_WEAK.search(sentence) else 0.0)
        + (3.0 if after_heading else 0.0)
    )
    return score - (0.8 if length > 30 else 0.0)


def intended(texts: list[tuple[str, Sources]]) -> Said | None:
    """What the agent was about to do when it was cut off: its last "Let me ..." or "I'll ..."."""
    for text, source in reversed(texts[-2:]):
        for sentence in reversed(sentences(text[-2000:], limit=200)[-4:]):
            if _FIRST_PERSON_PLAN.match(sentence) or (_GERUND.match(sentence) and not _MEANS.match(sentence)):
                return Said(text=sentence[:_MAX_CHARS], source=source)
    return None
