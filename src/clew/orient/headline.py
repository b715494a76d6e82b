"""A request as one compact statement: the sentence that asks, without politeness, cut at a joint."""

import re

from clew.ledger.words import cjk_share, is_cjk, sentences, word_cost

_LEADING = re.compile(
    r"^(?:"
    r"(?:hi|hello|hey|ok(?:ay)?|so|now|well|also|and|then|great|thanks?(?:\s+you)?|cool|nice|perfect|yes|yeah|no|"
    r"right|alright|hmm+|actually|first(?:ly)?|next|"
    r"again|but|oh|sure|yep|finally|as\s+a\s+first\s+step|btw|by\s+the\s+way)\b[,.!:;\s]+"
    r"|(?:please|pls|kindly|just)\b[,\s]+|(?:new|next|another)\s+(?:task|topic|request)\s*[:,.]\s*|"
    r"i\s+want\s+(?=an?\s|the\s)"
    r"|(?:can|could|would|will)\s+(?:you|we|u)\s+(?:please\s+|also\s+|maybe\s+|kindly\s+|just\s+|help\s+(?:me|"
    r"us)\s+(?:to\s+)?)*"
    r"|(?:i|we)(?:'d|\s+would)?\s+(?:really\s+)?(?:like|love|want|need|wish)\s+(?:(?:for\s+)?(?:you|us|claude|"
    r"codex|it)\s+)?to\s+"
    r"|(?:i|we)\s+(?:have|need|want|should|must)\s+(?:to\s+)?(?=(?:fix|add|make|get|update|change|create|move|"
    r"remove)\b)"
    r"|i\s+think\s+(?:that\s+)?(?:we\s+should\s+|you\s+should\s+|it\s+would\s+be\s+good\s+to\s+)?"
    r"|let'?s\s+(?:also\s+|now\s+|just\s+|first\s+|try\s+to\s+|go\s+ahead\s+and\s+)*"
    r"|help\s+(?:me|us)\s+(?:to\s+)?|you\s+(?:should|must|need\s+to|have\s+to)\s+|your\s+(?:task|job|"
    r"goal)\s+is\s+to\s+|the\s+(?:task|goal)\s+is\s+to\s+"
    r"|i(?:'m|\s+am)\s+(?:trying|looking)\s+to\s+|we(?:'re|\s+are)\s+(?:trying|going)\s+to\s+|"
    r"go\s+ahead\s+and\s+|is\s+it\s+possible\s+to\s+|would\s+it\s+be\s+possible\s+to\s+"
    r"|bitte\s+|kannst\s+du\s+(?:bitte\s+)?|könntest\s+du\s+(?:bitte\s+)?|ich\s+möchte,?\s+(?:dass\s+du\s+)?|"
    r"wir\s+müssen\s+"
    r"|(?:s'il\s+(?:te|vous)\s+pla[iî]t,?|peux-tu|pouvez-vous|pourrais-tu|je\s+(?:veux|voudrais)(?:\s+que\s+tu)?|"
    r"il\s+faut)\s+"
    r"|por\s+favor,?\s+|(?:puedes|podrías|quiero\s+(?:que\s+)?|necesito\s+(?:que\s+)?)\s*"
    r"|(?:пожалуйста,?|можешь(?:\s+ли)?|мне\s+(?:нужно|надо)|нужно|надо|давай(?:те)?|хочу(?:,?\s+чтобы)?)\s+"
    r"|(?:请|請)(?:你|帮我|幫我|帮忙|幫忙)?|(?:帮我|幫我|麻烦(?:你)?|麻煩(?:你)?|我想要?|我要|我希望|你(?:能|可以)(?:帮我|幫我)?|能不能|可以|现在|現在|然后|然後|"
    r"另外|接下来|接下來)[,，\s]*"
    r"|(?:すみません|では|それでは|次に)[、,\s]*"
    r")+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:[,.\s]*(?:please|pls|thanks?(?:\s+you)?(?:\s+in\s+advance)?|if\s+possible|for\s+me|bitte|danke|"
    r"por\s+favor|gracias|пожалуйста|спасибо|merci|谢谢|謝謝|お願いします|ください))+[.!\s]*$",
    re.IGNORECASE,
)
_VERBS_WORDS = """
    add analyse analyze address adjust allow apply audit automate bring build bump bundle change check clean
    clear clone combine commit compare compile complete configure connect convert copy correct create cut debug
    define delete deploy describe design detect determine diagnose disable discover display document draft drop
    edit enable ensure establish evaluate examine execute explain explore export expose extend extract fetch
    figure fill find finish fix follow format generate get give handle have help identify implement import
    improve include initialize inline insert inspect install integrate introduce investigate keep learn link
    lint list load locate log look lower make measure merge migrate minimize mock modernise modernize modify
    move name normalize open optimise optimize organize outline parse patch pick pin plan port prepare prevent print
    propose publish pull push put read rebase rebuild recreate redesign reduce refactor refresh regenerate
    register release remove rename reorganize replace reproduce rerun resolve restore restructure return revert
    review rewrite rework rollback run save scan schedule search see select separate set setup ship show shrink
    simplify skip solve sort speed split start stop store suggest summarise summarize support swap switch sync
    tag take tell test tidy track translate trim try turn understand undo unify unblock unlock update upgrade
    upload use validate verify view wire wrap write
"""
_VERBS = frozenset(_VERBS_WORDS.split())
_PROBLEM = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|error|bug|broken|crash(?:es|ed)?|exception|wrong|incorrect|missing|doesn'?t|"
    r"does\s+not|isn'?t|can'?t|cannot|won'?t|slow|leak|stuck|hangs?|issue|problem|regression|"
    r"not\s+work(?:ing)?|NaN|timeout|duplicate[sd]?)\b|报错|錯誤|错误|失败|失敗|问题|問題|"
    r"エラー|失敗|バグ|ошибк|не работает|падает|"
    r"fehler|kaputt|erreur|bogue|fallo|falla",
    re.IGNORECASE,
)
_META = re.compile(
    r"\b(?:step\s+by\s+step|let\s+me\s+know|any\s+questions|do\s+not\s+(?:ask|stop)|don'?t\s+(?:ask|stop|commit)|"
    r"ultrathink|think\s+(?:hard|carefully)|take\s+your\s+time|be\s+(?:concise|careful|thorough)|"
    r"^you(?:'re|\s+are)\b|act\s+as|^(?:agis\s+(?:comme|en\s+tant)|tu\s+es\b|actúa\s+como|eres\b|du\s+bist\b|"
    r"ты\s+[-—]|你是(?:一|位|个)|あなたは)|as\s+an?\s+(?:ai|expert)|(?:this|that|it|which)\s+(?:is|"
    r"was)\s+(?:just\s+)?(?:so|because)|for\s+example|e\.g\.|note\s+that|important:|thanks)|"
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|the|previous|prior|above|earlier)\b.*\b(?:instruction|rule|"
    r"prompt|message)|\b(?:recap|summary)\s+(?:must|should|has\s+to|shall)\s+(?:say|state|read)|"
    r"(?:in|for)\s+(?:the|your|any)\s+(?:recap|summary)\b|\bsystem\s+prompt\b|\brecap(?:per|ping)?\s*:\s",
    re.IGNORECASE,
)
_LOGLIKE = re.compile(
    r"^(?:\d{2,4}[-:/.]\d|\[?\d{1,2}:\d{2}|\s*at\s+\S+\(|[A-Z]+:\s|[$❯>%]\s|#\s+[a-z./]|\S+@\S+[:~]|File \"|Traceback|"
    r"[✓✔✗✘•⨯]|[+-]{1,3}\s|\{|\}|\(\w+\)\s*=>|\w+\(.*\)\s*;?$|\s*\d+\s*[|+-])|[{}]\s*$|;\s*$|(?:(?<!\S)[^\s=]++=\S++\s+){2}"
)
_POINTER = re.compile(r"\b(?:it|this|that|them|these|those|here|there|so)\b|^(?:why|how)\b", re.IGNORECASE)
_JOINT = re.compile(
    r"\s+(?:because|since|so\s+that|so|which|where|while|although|but|given|instead|in\s+order|such\s+as|like|"
    r"e\.g\.|and\s+then|and|or|with|before|after|when|if)\s|[,;:(—–]\s*|\s-\s|\.\s"
)
_CJK_JOINT = re.compile(r"[，,；;：:、（(]")
_TAIL_WORDS_WORDS = """
    a an the of to in on for with and or by at from as is are be that this it its our your my into if when but
    not so than then can should would
"""
_TAIL_WORDS = frozenset(_TAIL_WORDS_WORDS.split())
_INNER = re.compile(
    r"\b(?:I|we)(?:'d|\s+would)?\s+(?:also\s+)?(?:want|like|need|love)\s+(?:you\s+|us\s+)?to\s|\bplease\s|"
    r"\b(?:can|could)\s+you\s|\blet'?s\s",
    re.IGNORECASE,
)
_DEMAND = re.compile(r"\b(?:must|should|needs?\s+to|has\s+to|have\s+to)\b", re.IGNORECASE)
_NAMES = re.compile(r"`|\w[/_.]\w|[a-z][A-Z]|\b(?!OK\b)[A-Z]{2,}\b|#\d+")
_PROMPT = re.compile(
    r"^(?:\S+\s+){0,4}?[❯➜$%✗»]\s+(?:\S+\s+git:\(\S+\)\s+(?:✗\s+)?)?(?P<command>[a-z][\w./-]*(?:[ "
    r"\t].*)?)$",
    re.MULTILINE,
)
_COURTESY = re.compile(
    r"^(?:take a look|what do you think|is that (?:ok|possible)|propose|suggest|any ideas|thoughts|"
    r"does that make sense)",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://(?:www\.)?([^\s/]+)(?:/\S*)?")
_CITE = re.compile(r"\[\^?\d+\]|[*_]{2,}|^[\"'“”‘’`]+(?=[A-Z])")


_NUMBERED = re.compile(r"^\d{1,2}[.)]\s+(?=\S)|(?<=[^\s\d.])\s?[.:;]\d{1,2}\.$")
_BELOW = re.compile(
    r"\b(?:problem|issue|task|bug|plan|error|request|description|question|story|ticket)s?\s+"
    r"(?:(?:that\s+is|as)\s+)?(?:described\s+|given\s+|shown\s+|stated\s+|listed\s+)?below\b|"
    r"\b(?:implement|execute|do|solve|fix|resolve|address|complete|follow)\s+the\s+following\b[^.]*:?$|^below\s+is\b|"
    r"(?:以下|下面|下記|次)の?(?:的)?(?:计划|計劃|計画|问题|問題|任务|任務|タスク|課題|Issue)",
    re.IGNORECASE,
)
"""A sentence that only says that the task stands under it."""


_CORE = 13
"""Words of the sentence that asks; what follows gets the rest."""
_LONG_PATH = re.compile(r"(?<![\w:/])(?:~|\.{0,2})/?(?:[\w@.+-]+/){2,}[\w@+-][\w@.+-]*\.\w{1,8}\b")
_GENERIC = re.compile(
    r"(?:SKILL\.md|index\.\w+|__init__\.py|mod\.rs|(?:page|layout|route|plugin)\.\w+)$", re.IGNORECASE
)
"""Names that say nothing without their folder."""


_ENDLESS = re.compile(r"[!-~]{80,}")


def short_paths(text: str) -> str:
    """Files of deep folders by their name alone, endless words by their beginning."""
    return _ENDLESS.sub(
        lambda found: found.group(0)[:40] + "…", _LONG_PATH.sub(lambda found: file_name(found.group(0)), text)
    )


def file_name(path: str) -> str:
    """The last part of a path, whichever slashes it has; with its folder where it says nothing alone."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    name = parts[-1]
    if len(parts) > 1 and _GENERIC.match(name) and 0 < len(parts[-2]) <= 30:
        name = f"{parts[-2]}/{name}"
    return name if len(name) <= 60 else name[:50] + "…"


def headline(text: str, *, words: int = 20) -> str:
    """The request in at most `words` words (half that many pairs of characters in Chinese or Japanese)."""
    candidates = _candidates(text)
    if not candidates:
        return ""
    scores = [_score(sentence, index) for index, sentence in enumerate(candidates)]
    if len(text) > 300 and "\n" in text[:160].strip() and word_cost(candidates[0]) >= 3:
        scores[0] += 1.5  # a first line of its own over a long text is its title
    best = max(range(len(candidates)), key=lambda index: (scores[index], -index))
    best = _named_below(candidates, scores, best)
    if scores[best] <= -5:
        return ""
    chosen = polished(candidates[best])
    chosen = chosen if word_cost(chosen) <= words else clip(chosen, min(words, _CORE))
    chosen = _with_context(chosen, candidates, scores, best, words)
    left = words - word_cost(chosen)
    if left >= 5 and best + 1 < len(candidates) and scores[best + 1] > -1.0:
        after = polished(candidates[best + 1])
        if after and word_cost(after) > 2 and not _COURTESY.search(after):
            chosen = f"{chosen.rstrip('.:;, ')}; {lower_first(clip(after, left))}"
    return clip(chosen, words)


def _named_below(candidates: list[str], scores: list[float], best: int) -> int:
    """What stands under "the problem below" or "the following plan:", where the request says no more than that."""
    pointing = [index for index, sentence in enumerate(candidates[:12]) if _BELOW.search(sentence)]
    if not pointing or best > pointing[-1] + 1:
        return best
    for index in range(pointing[-1] + 1, min(pointing[-1] + 4, len(candidates))):
        if word_cost(candidates[index]) >= 3 and not _META.search(candidates[index]):
            scores[index] = max(scores[index], 0.0)
            return index
    return best


def _with_context(chosen: str, candidates: list[str], scores: list[float], best: int, words: int) -> str:
    """What the request is about, put before it where the request alone does not say."""
    cost = word_cost(chosen)
    if not is_vague(chosen):
        return chosen
    parts = [chosen]
    for index in range(best - 1, max(-1, best - 4), -1):
        before = polished(candidates[index])
        if _BELOW.search(before) or _META.search(before) or (_POINTER.search(before) and not _NAMES.search(before)):
            continue
        if before and scores[index] > -3.5 and word_cost(before) + cost <= words + (12 if len(parts) == 1 else 0):
            parts.insert(0, clip(before, max(6, words - min(cost, words // 2))))
            cost += word_cost(parts[0])
        if len(parts) == 3:
            break
    return ": ".join(parts)


_RUN_ON = re.compile(r"(?<=[^\s\d])\s?[.:;]\s?(?=\d{1,2}[.)]\s)|(?<=[^\W\d_])[.!?](?=[^\W\d_a-z][^\W\d_]+\s)")
_RUN_ON_CHARS = 300
"""A sentence longer than this is looked at for sentences set without a space between them."""


def _candidates(text: str) -> list[str]:
    found: list[str] = []
    lines = [
        line
        for line in _PROMPT.sub(_as_command, text).split("\n")
        if len(line) > _RUN_ON_CHARS or not _LOGLIKE.search(line)
    ]
    listed: list[str] = []
    for sentence in sentences("\n".join(lines), limit=80):
        listed.extend(_RUN_ON.split(sentence) if len(sentence) > _RUN_ON_CHARS else (sentence,))
    for sentence in listed:
        plain = _NUMBERED.sub("", _CITE.sub("", sentence)).strip()
        if (
            not plain
            or _LOGLIKE.search(plain)
            or len(plain) > 1200
            or not any(map(str.isalpha, plain))
            or _is_code(plain)
        ):
            continue
        found.append(_inner_request(plain))
    return found


def _is_code(text: str) -> bool:
    """A line of code or output rather than words."""
    if text.startswith("`"):
        return False
    return sum(char in "()[]{}=<>;\\|$" for char in text) * 8 > len(text)


def _as_command(found: re.Match[str]) -> str:
    return f"`{found.group('command').strip()}`\n"


def _inner_request(sentence: str) -> str:
    """The part from "I want to" on, when what stands before only leads up to it."""
    found = _INNER.search(sentence)
    if not found or found.start() == 0:
        return sentence
    lead = sentence[: found.start()]
    if len(lead.split()) < 4 or _PROBLEM.search(lead) or _NAMES.search(lead):
        return sentence
    return sentence[found.start() :]


def _score(sentence: str, index: int) -> float:
    plain = _LEADING.sub("", sentence)
    first = plain.split(None, 1)[0].strip("`'\".,:;!").lower() if plain.split() else ""
    cost = word_cost(plain)
    score = 0.0
    if plain != sentence:
        score += 1.5
    if first in _VERBS:
        score += 2.5
    elif cjk_share(plain) > 0.3 or not plain.isascii():
        score += 0.8
    if _PROBLEM.search(plain):
        score += 1.0
    if "`" in plain or (any(char in plain for char in "/_.") and re.search(r"\w[/_.]\w", plain)):
        score += 0.7
    if cost < 3:
        score -= 2.5
    elif cost < 5:
        score -= 0.8
    elif cost > 45:
        score -= 1.0
    if _META.search(plain):
        score -= 4.0
    if sentence.endswith(":"):
        score -= 0.6
    return score - min(index, 10) * 0.35


def polished(sentence: str) -> str:
    """Without politeness at either end, links shortened to their host, first letter large."""
    plain = _TRAILING.sub("", _LEADING.sub("", short_paths(_URL.sub(r"\1", sentence)))).strip(" .,:;—–-。，；：")
    if plain.endswith("?") and plain.split(None, 1)[0].lower() in _VERBS:
        plain = plain[:-1]
    return capital(plain)


def capital(text: str) -> str:
    """First letter large, unless the first word is a name that is written so."""
    first = text.split(None, 1)[0] if text.split() else ""
    if not first or not first.isascii() or not first[0].islower() or _NAMES.search(first):
        return text[:1].upper() + text[1:] if first and not first.isascii() else text
    return first[0].upper() + text[1:]


def lower_first(text: str) -> str:
    """For the middle of a sentence; names and "I" stay as they are."""
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def clip(text: str, words: int) -> str:
    """At most so many words, cut at a joint where there is one in the second half."""
    if word_cost(text) <= words:
        return text
    if cjk_share(text) > 0.3:
        return _clip_cjk(text, words)
    parts = text.split()
    kept = " ".join(parts[:words])
    least = len(" ".join(parts[: max(3, words * 3 // 5)]))
    cut = max((found.start() for found in _JOINT.finditer(kept) if found.start() >= least), default=-1)
    if cut > 0:
        return _balanced(kept[:cut].rstrip(" ,;:([—–-."))
    kept_words = kept.split()
    while len(kept_words) > 3 and kept_words[-1].lower().strip(",.;:") in _TAIL_WORDS:
        kept_words.pop()
    return _balanced(" ".join(kept_words).rstrip(" ,;:([—–-.") + "…")


def _balanced(text: str) -> str:
    """Without the lone mark of a quotation that was cut."""
    for mark in ("`", '"'):
        if text.count(mark) % 2:
            at = text.rfind(mark)
            text = text[:at] + text[at + 1 :]
    if text.count("(") > text.count(")"):
        at = text.rfind("(")
        text = text[:at] + text[at + 1 :]
    return text


def _clip_cjk(text: str, words: int) -> str:
    used = 0.0
    end = 0
    for end, char in enumerate(text):  # noqa: B007 (the position is used after the loop)
        used += 0.5 if is_cjk(char) else (0.2 if char.isalnum() else 0.0)
        if used > words:
            break
    kept = text[:end]
    cut = max((found.start() for found in _CJK_JOINT.finditer(kept) if found.start() >= end * 3 // 5), default=-1)
    return kept[:cut] if cut > 0 else kept.rstrip() + "…"


def is_imperative(text: str) -> bool:
    """The text starts with a verb that asks for something; other scripts are taken at their word."""
    first = text.split(None, 1)[0].strip("`'\".,:;!").lower() if text.split() else ""
    return first in _VERBS or not first.isascii() or bool(_DEMAND.search(text) or _PROBLEM.search(text))


def is_vague(text: str) -> bool:
    """Too short, or pointing at things without naming one."""
    cost = word_cost(text)
    return cost < 6 or (cost < 15 and bool(_POINTER.search(text)) and not _NAMES.search(text))
