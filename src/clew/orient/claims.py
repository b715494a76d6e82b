"""What a phrase claims: deeds, results and states, asserted or wished, held or denied, and the things it speaks of."""

import re
from typing import NamedTuple

from clew.ledger.words import is_wide
from clew.orient import vocabulary as words
from clew.orient.vocabulary import (
    CLASS_OF,
    EMPTY,
    OTHER_WORDS,
    STATES,
    TELLING,
    WIDE_WORDS,
    is_negation,
    is_past,
    stem,
)

NUMBER = re.compile(r"(?<![\w.#-])v?\d+(?:[.,:]\d+)*(?!\w)|(?<![\w.#-])\d+(?:x\d+|[a-z]{1,3})\b")
PHRASES = re.compile(
    r",\s+|:\s+|，|：|\(|\)|\s[—–]\s|"
    r"\s+(?:and|but|so|because|while|then|after|since|und|aber|weil|et|mais|y|pero|e|и|но|а)\s+"
)
_FILE = re.compile(
    r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,7}\b|"
    r"(?<![\w/.-])[\w@+-]+(?:\.[\w+-]+)*\.(?:[a-z][a-z0-9]{0,4})\b(?!\()|"
    r"(?<![\w/.])/[a-z][\w:./-]{2,}\b|(?<![\w/.-])(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*/[\w@.+/-]+\b|"
    r"(?<![\w/.-])[\w@.+-]+/(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*\b"
)
"""A path only if it looks like one: an extension, a root, or a part that is no plain word; "and/or" is none."""
_CODE = re.compile(
    r"\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}-\d+)\b|(#\d+)|\b([0-9a-f]{7,40})\b|(?<!\w)(--[a-z][\w-]+)"
)
_PROPER = re.compile(r"(?<=[\w,;] )([A-Z][a-z]{2,}|[A-Z]{4,})\b")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]{2,80})\"|“([^”]{2,80})”")
_COMMON_WORDS = """
    next done then the you your user agent review commit push run fix tests test monday tuesday wednesday thursday
    friday saturday sunday english git github api cli json html css sql ci pr prs url readme todo todos task state
    open claude codex gemini clew nothing all both now also none llm e.g i.e etc
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that name nothing in particular, though they look like names."""
_TOKEN = re.compile(r"§|[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)?|\d+|[.,:;!?()—–]|['’]s\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PART = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]{2,}")
_UNDONE = re.compile(
    r"\b(?:still|yet|remains?|needs?|has|have) (?:(?:has|have|needs?) )?to be$|\bstill (?:has|have|needs?) to\b"
)
_REACH = 6
"""How many words before a claim may wish for it or deny it."""


class Claim(NamedTuple):
    """One thing that is said to have happened or to be so."""

    name: str
    """Its class, as the vocabulary has it."""
    word: str
    holds: bool = True
    """False: it is denied."""
    asserted: bool = True
    """False: it is wished for, planned, or only named."""


def lowered(text: str) -> str:
    """One way of writing for all that is compared."""
    return text.casefold().replace("\\", "/").replace("’", "'")


def code_in(text: str) -> list[str]:
    """Names that are more than words: quotations, files, code, hashes."""
    quoted = ["".join(found.groups("")) for found in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    files = [name.rstrip("./") for name in _FILE.findall(rest) if name.casefold() not in _COMMON]
    for file in files:
        rest = rest.replace(file, " ")
    code = ["".join(found.groups("")) for found in _CODE.finditer(rest)]
    return [name for name in dict.fromkeys([*quoted, *files, *code]) if name.strip()]


def names_in(text: str) -> list[str]:
    """All that must occur as it stands, proper names included."""
    proper = [name for name in _PROPER.findall(_QUOTED.sub(" ", text)) if name.casefold() not in _COMMON]
    return [*code_in(text), *proper]


def masked(text: str) -> str:
    """The text with a mark for each name, so that no word of a name is read as a word of the sentence."""
    text = _QUOTED.sub(" § ", text)
    for name in sorted(code_in(text), key=len, reverse=True):
        text = text.replace(name, " § ")
    return text


def words_in(text: str) -> list[str]:
    """The words, lowered, without 's."""
    return [word.removesuffix("'s") for word in _WORD.findall(lowered(text))]


def things(text: str, *, apart: frozenset[str] = frozenset()) -> list[str]:
    """What a phrase is about: the stems of its words, but for empty and telling ones, names, and those `apart`."""
    spoken = [word for word in words_in(masked(text)) if word not in apart and "'" not in word and len(word) > 1]
    stems = [stem(word) for word in spoken if not is_wide(word[0]) and not is_negation(word)]
    return [found for found in dict.fromkeys(stems) if found not in EMPTY and found not in TELLING]


def arguments(text: str) -> frozenset[str]:
    """What a text is about, what it claims left out; for scripts without spaces its pairs of characters."""
    claimed = frozenset(claim.word for claim in claims_in(text, every=True))
    return frozenset(things(text, apart=claimed)) | pairs_in(text)


def pairs_in(text: str) -> frozenset[str]:
    """Pairs of characters that are written without spaces."""
    runs = () if text.isascii() else _WIDE.findall(text)
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def stems_in(text: str) -> frozenset[str]:
    """All that a text can be found by."""
    told = lowered(text)
    found = {*_WORD.findall(told), *_PART.findall(told)}
    return frozenset(stem(word.removesuffix("'s")) for word in found if not is_wide(word[0])) | pairs_in(told)


def claims_in(text: str, *, every: bool = False) -> list[Claim]:
    """What a phrase or sentence claims. `every`: plans, orders and names of deeds too, as not asserted."""
    tokens = [token.replace("’", "'") for token in _TOKEN.findall(masked(text).casefold())]
    found = [claim for at in range(len(tokens)) if (claim := _claim_at(tokens, at, every=every))]
    for word, name in WIDE_WORDS.items():
        if (at := text.find(word)) >= 0:
            before = set(text[max(0, at - 4) : at])
            found.append(Claim(name, word, not before & set("未沒没不無"), not before & set("將将要请請会會")))
    return found


def _claim_at(tokens: list[str], at: int, *, every: bool) -> Claim | None:
    token, after = (*tokens[at : at + 2], "")[:2]
    helped = any(word in words.AUXILIARIES for word in tokens[max(0, at - 3) : at])
    past = is_past(token) or (token in words.SAME_IN_THE_PAST and helped) or token in OTHER_WORDS
    told = past or token in STATES
    if not token[0].isalpha() or token == "running" or not (told or every):
        return None
    root, undone = stem(token), False
    if token.startswith("un") and root not in CLASS_OF and is_past(token) and stem(token[2:]) in CLASS_OF:
        root, undone = stem(token[2:]), True
    name = STATES.get(token) or OTHER_WORDS.get(token) or CLASS_OF.get(root)
    if name is None or (name == "keep" and after.endswith("ing")):
        return None
    end = max((index for index in range(at) if tokens[index] in ".;!?—–"), default=-1)
    holds, wished = _mood(tokens[max(end + 1, at - _REACH) : at], told=told)
    done_by = token.endswith("ing") and at > 0 and tokens[at - 1] in ("by", ",")
    return Claim(name, token, holds != undone, not wished and (told or done_by))


def _mood(before: list[str], *, told: bool) -> tuple[bool, bool]:
    """Whether the words before a claim let it hold, and whether they wish for it."""
    denied = any(map(is_negation, before))
    if _UNDONE.search(" ".join(before)) or before[-2:] == ["failed", "to"]:
        return False, False
    finite = max((index for index, token in enumerate(before) if token in words.FINITE), default=-1)
    if told and finite >= 0:
        wished = bool(words.CONDITIONS & set(before)) or bool({"to", "being"} & set(before[finite:]))
    else:
        wished = any(token in words.WISHES or token.endswith("'ll") for token in before[-5:])
    return not denied, wished
