"""A request as one compact statement: the sentence that asks, without politeness, cut at a joint."""

import re

from clew.ledger.words import cjk_share, is_cjk, sentences, word_cost
from clew.orient.request_patterns import (
    ASIDE,
    BELOW,
    CITE,
    CJK_JOINT,
    CORE,
    COURTESY,
    DEMAND,
    ENDLESS,
    GENERIC,
    INNER,
    JOINT,
    LEADING,
    LIMITS,
    LOGLIKE,
    LONG_FOLDER,
    LONG_PATH,
    META,
    NAMES,
    NUMBERED,
    OCCASION,
    POINTER,
    PROBLEM,
    PROMPT,
    TAIL_WORDS,
    TASK,
    TELLING,
    TRAILING,
    URL,
    VERBS,
)


def short_paths(text: str) -> str:
    """Files and folders deep down by their name alone, endless words by their beginning."""
    named = LONG_PATH.sub(lambda found: file_name(found.group(0)), text)
    return ENDLESS.sub(lambda found: found.group(0)[:40] + "…", LONG_FOLDER.sub(r"\1", named))


def file_name(path: str) -> str:
    """The last part of a path, whichever slashes it has; with its folder where it says nothing alone."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    name = parts[-1]
    if len(parts) > 1 and GENERIC.match(name) and 0 < len(parts[-2]) <= 30:
        name = f"{parts[-2]}/{name}"
    return name if len(name) <= 60 else name[:50] + "…"


def headline(text: str, *, words: int = 20) -> str:
    """The request in at most `words` words (half that many pairs of characters in Chinese or Japanese)."""
    candidates = _candidates(text)
    if not candidates:
        return ""
    scores = _scores(candidates)
    if (
        len(text) > 300
        and "\n" in text[:160].strip()
        and word_cost(candidates[0]) >= 3
        and not TELLING.search(candidates[0])
    ):
        scores[0] += 1.5  # a first line of its own over a long text is its title
    best = max(range(len(candidates)), key=lambda index: (scores[index], -index))
    best = _named_below(candidates, scores, best)
    if scores[best] <= -5:
        return ""
    chosen = polished(candidates[best])
    chosen = chosen if word_cost(chosen) <= words else _shortened(chosen, min(words, CORE))
    chosen = _with_context(chosen, candidates, scores, best, words)
    left = words - word_cost(chosen)
    if left >= 5 and best + 1 < len(candidates) and scores[best + 1] > -1.0:
        after = polished(candidates[best + 1])
        if after and word_cost(after) > 2 and not COURTESY.search(after) and not ASIDE.match(after):
            chosen = f"{chosen.rstrip('.:;, ')}; {lower_first(clip(after, left))}"
    return clip(chosen, words)


def _scores(candidates: list[str]) -> list[float]:
    """What each sentence is worth as the request; what stands under "Constraints:" only limits it."""
    found: list[float] = []
    limiting = False
    for index, sentence in enumerate(candidates):
        score = _score(sentence, index)
        if index and TASK.match(candidates[index - 1]):
            score += 2.5
        found.append(score - 2.0 if limiting else score)
        if sentence.endswith((":", "：")):
            limiting = bool(LIMITS.search(sentence))
    return found


def _named_below(candidates: list[str], scores: list[float], best: int) -> int:
    """What stands under "the problem below" or "the following plan:", where the request says no more than that."""
    pointing = [index for index, sentence in enumerate(candidates[:12]) if BELOW.search(sentence)]
    if not pointing or best > pointing[-1] + 1:
        return best
    for index in range(pointing[-1] + 1, min(pointing[-1] + 4, len(candidates))):
        if word_cost(candidates[index]) >= 3 and not META.search(candidates[index]):
            scores[index] = max(scores[index], 0.0)
            return index
    return best


def _shortened(sentence: str, words: int) -> str:
    """The sentence cut, so that the trouble it tells of stays in it."""
    cut = clip(sentence, words)
    trouble = PROBLEM.search(sentence)
    if trouble is None or not OCCASION.match(sentence) or PROBLEM.search(cut) or words < 10:
        return cut
    before = sentence[: trouble.start()].split()
    tail = " ".join([*before[-1:], sentence[trouble.start() :]])
    return f"{clip(sentence, 5).rstrip('…')}… {clip(tail, words - 5)}"


def _with_context(chosen: str, candidates: list[str], scores: list[float], best: int, words: int) -> str:
    """What the request is about, put before it where the request alone does not say."""
    cost = word_cost(chosen)
    if not is_vague(chosen):
        return chosen
    parts = [chosen]
    for index in range(best - 1, max(-1, best - 4), -1):
        before = polished(candidates[index])
        if (
            BELOW.search(before)
            or META.search(before)
            or TASK.match(before)
            or (POINTER.search(before) and not NAMES.search(before))
        ):
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
        for line in PROMPT.sub(_as_command, text).split("\n")
        if len(line) > _RUN_ON_CHARS or not LOGLIKE.search(line)
    ]
    listed: list[str] = []
    for sentence in sentences("\n".join(lines), limit=80):
        listed.extend(_RUN_ON.split(sentence) if len(sentence) > _RUN_ON_CHARS else (sentence,))
    for sentence in listed:
        plain = NUMBERED.sub("", CITE.sub("", sentence)).strip()
        if (
            not plain
            or LOGLIKE.search(plain)
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
    found = INNER.search(sentence)
    if not found or found.start() == 0:
        return sentence
    lead = sentence[: found.start()]
    if len(lead.split()) < 4 or PROBLEM.search(lead) or NAMES.search(lead):
        return sentence
    return sentence[found.start() :]


def _score(sentence: str, index: int) -> float:
    plain = LEADING.sub("", sentence)
    first = plain.split(None, 1)[0].strip("`'\".,:;!").lower() if plain.split() else ""
    cost = word_cost(plain)
    score = 0.0
    if plain != sentence:
        score += 1.5
    if first in VERBS:
        score += 2.5
    elif cjk_share(plain) > 0.3 or not plain.isascii():
        score += 0.8
    if PROBLEM.search(plain):
        score += 1.8 if OCCASION.match(plain) else 1.0
    if "`" in plain or (any(char in plain for char in "/_.") and re.search(r"\w[/_.]\w", plain)):
        score += 0.7
    if cost < 3:
        score -= 2.5
    elif cost < 5:
        score -= 0.8
    elif cost > 45:
        score -= 1.0
    if META.search(plain):
        score -= 4.0
    if sentence.endswith(":"):
        score -= 0.6
    return score - min(index, 10) * 0.35


def polished(sentence: str) -> str:
    """Without politeness at either end, links shortened to their host, first letter large."""
    plain = TRAILING.sub("", LEADING.sub("", short_paths(URL.sub(r"\1", sentence)))).strip(" .,:;—–-。，；：")
    if plain.endswith("?") and plain.split(None, 1)[0].lower() in VERBS:
        plain = plain[:-1]
    return capital(plain)


def capital(text: str) -> str:
    """First letter large, unless the first word is a name that is written so."""
    first = text.split(None, 1)[0] if text.split() else ""
    if not first or not first.isascii() or not first[0].islower() or NAMES.search(first):
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
    cut = max((found.start() for found in JOINT.finditer(kept) if found.start() >= least), default=-1)
    if cut > 0:
        return _balanced(kept[:cut].rstrip(" ,;:([—–-."))
    kept_words = kept.split()
    while len(kept_words) > 3 and kept_words[-1].lower().strip(",.;:") in TAIL_WORDS:
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
    cut = max((found.start() for found in CJK_JOINT.finditer(kept) if found.start() >= end * 3 // 5), default=-1)
    return kept[:cut] if cut > 0 else kept.rstrip() + "…"


def is_imperative(text: str) -> bool:
    """The text starts with a verb that asks for something; other scripts are taken at their word."""
    first = text.split(None, 1)[0].strip("`'\".,:;!").lower() if text.split() else ""
    return first in VERBS or not first.isascii() or bool(DEMAND.search(text) or PROBLEM.search(text))


def is_vague(text: str) -> bool:
    """Too short, or pointing at things without naming one."""
    cost = word_cost(text)
    return cost < 6 or (cost < 15 and bool(POINTER.search(text)) and not NAMES.search(text))
