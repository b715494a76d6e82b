"""A request as one compact statement: the sentence that asks, without politeness, cut at a joint."""

import re

from clew.ledger.words import cjk_share, is_cjk, sentences, word_cost

_LEADING = re.compile(
    r"^(?:"
    r"(?:hi|hello|hey|ok(?:ay)?|so|now|well|also|and|then|great|thanks?(?:\s+you)?|cool|nice|perfect|yes|yeah|no|"
    r"right|alright|hmm+|actually|first(?:ly)?|next|"
    r"again|but|oh|sure|yep|finally|as\s+a\s+first\s+step|btw|by\s+the\s+way)\b[,.!:;\s]+"
    r"|(?:please|pls|kindly|just)\b[,\s]+"
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
    move name normalize open optimise optimize organize outline parse patch pin plan port prepare prevent print
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
    r"not\s+work(?:ing)?|NaN|timeout|duplicate[sd]?)\b|报错|錯誤|错误|失败|失敗|问题|問題|エラー|失敗|バグ|ошибк|не работает|падает|"
    r"fehler|kaputt|erreur|bogue|fallo|falla",
    re.IGNORECASE,
)
_META = re.compile(
    r"\b(?:step\s+by\s+step|let\s+me\s+know|any\s+questions|do\s+not\s+(?:ask|stop)|don'?t\s+(?:ask|stop|commit)|"
    r"ultrathink|think\s+(?:hard|carefully)|take\s+your\s+time|be\s+(?:concise|careful|thorough)|"
    r"you\s+are\s+an?\b|act\s+as|as\s+an?\s+(?:ai|expert)|(?:this|that|it|which)\s+(?:is|"
    r"was)\s+(?:just\s+)?(?:so|because)|for\s+example|e\.g\.|note\s+that|important:|thanks)|"
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|the|previous|prior|above|earlier)\b.*\b(?:instruction|rule|"
    r"prompt|message)|\b(?:recap|summary)\s+(?:must|should|has\s+to|shall)\s+(?:say|state|read)|"
    r"(?:in|for)\s+(?:the|your|any)\s+(?:recap|summary)\b|\bsystem\s+prompt\b|\brecap(?:per|ping)?\s*:\s",
    re.IGNORECASE,
)
_LOGLIKE = re.compile(
    r"^(?:\d{2,4}[-:/.]\d|\[?\d{1,2}:\d{2}|\s*at\s+\S+\(|[A-Z]+:\s|[$❯>%#]\s|\S+@\S+[:~]|File \"|Traceback|"
    r"[✓✔✗✘•⨯]|[+-]{1,3}\s|\{|\}|\(\w+\)\s*=>|\w+\(.*\)\s*;?$|\s*\d+\s*[|+-])|[{}]\s*$|;\s*$|(?:\S+=\S+\s+){2}"
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
_URL = re.compile(r"https?://(?:www\.)?([^\s/]+)(?:/\S*)?")
_CITE = re.compile(r"\[\^?\d+\]|[*_]{2,}|^[\"'“”‘’`]+(?=[A-Z])")


def headline(text: str, *, words: int = 20) -> str:
    """The request in at most `words` words (half that many pairs of characters in Chinese or Japanese)."""
    candidates = _candidates(text)
    if not candidates:
        return ""
    scored = [(_score(sentence, index), -index, sentence) for index, sentence in enumerate(candidates)]
    best_score, negative_index, best = max(scored)
    if best_score <= -5:
        return ""
    index = -negative_index
    chosen = polished(best)
    cost = word_cost(chosen)
    if index > 0 and (cost < 6 or (_POINTER.search(chosen) and cost < 14)):
        before = polished(candidates[index - 1])
        if before and _score(candidates[index - 1], index - 1) > -3:
            chosen = f"{clip(before, max(6, words - min(cost, words // 2)))}: {chosen}"
    elif cost < words - 5 and index + 1 < len(candidates):
        after = candidates[index + 1]
        if _score(after, index + 1) >= 2:
            chosen = f"{chosen.rstrip('.:;, ')}; {_lower_first(polished(after))}"
    return clip(chosen, words)


def _candidates(text: str) -> list[str]:
    found: list[str] = []
    for sentence in sentences(text, limit=80):
        plain = _CITE.sub("", sentence).strip()
        if not plain or _LOGLIKE.search(plain) or len(plain) > 1200:
            continue
        if any(map(str.isalpha, plain)):
            found.append(plain)
    return found


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
    plain = _TRAILING.sub("", _LEADING.sub("", _URL.sub(r"\1", sentence))).strip(" .,:;—–-。，；：")
    if not plain:
        return ""
    return plain[0].upper() + plain[1:]


def _lower_first(text: str) -> str:
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
        return kept[:cut].rstrip(" ,;:([—–-.")
    kept_words = kept.split()
    while len(kept_words) > 3 and kept_words[-1].lower().strip(",.;:") in _TAIL_WORDS:
        kept_words.pop()
    return " ".join(kept_words).rstrip(" ,;:([—–-.") + "…"


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
    return first in _VERBS or not first.isascii()
