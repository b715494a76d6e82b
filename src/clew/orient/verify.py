"""A model's words against ledger and dialog: what neither bears out is taken out, sentence by sentence, and told."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from msgspec import Struct, to_builtins

from clew.ledger.facts import Ledger
from clew.ledger.words import clip, is_wide, word_cost
from clew.orient.claims import CLAIMS
from clew.orient.dialog import Line

MAX_WORDS = 40
_FILE = re.compile(
    r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,7}\b|"
    r"(?<![\w/.-])[\w@+-]+(?:\.[\w+-]+)*\.(?:[a-z][a-z0-9]{0,4})\b(?!\()|"
    r"(?<![\w/.])/[a-z][\w:./-]{2,}\b|(?<![\w/.-])(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*/[\w@.+/-]+\b|"
    r"(?<![\w/.-])[\w@.+-]+/(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*\b"
)
"""A path only if it looks like one: an extension, a root, or a part that is no plain word; "and/or" is none."""
_NAME = re.compile(
    r"`([^`]+)`|\"([^\"]{2,80})\"|“([^”]{2,80})”|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}-\d+)\b|"
    r"(#\d+)|\b([0-9a-f]{7,40})\b|(?<!\w)(--[a-z][\w-]+)|(?<=[\w,;] )([A-Z][a-z]{2,}|[A-Z]{2,})\b"
)
_NUMBER = re.compile(r"(?<![\w.#-])v?\d+(?:[.,:]\d+)*(?!\w)")
_COUNTED = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|twelve|dozens?)\s+(?:\w+\s+)?"
    r"(tests?|files?|commits?|errors?|failures?|agents?|tasks?|todos?)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = "two three four five six seven eight nine ten"
_VALUES = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), 2)}
_COMMON_WORDS = """
    next done then and the you your user agent review commit push run fix tests test monday tuesday wednesday thursday
    friday saturday sunday english git github api cli json html css sql ci pr prs url readme todo task state open
    claude codex gemini clew nothing all both now also todos ui ux ok none no yes llm
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Capitalised words that name nothing in particular."""
_STOP_WORDS = """
    the and for with that this from into have has had was were are been being will would should could can may might must
    you your user users agent they their there then than when where what which who how why its it's not yet but also
    just only all any some more most other each both very still now next step steps task tasks session work worked
    working goal want wants wanted asked ask need needs needed ready before after once while about over under out off
    done get
    got let make makes made use used using new one two first last current currently remaining remains left part parts
    whether against across within without via per like such same already review commit push run rerun test verify check
    continue confirm decide answer merge finish resume three four five six seven eight nine ten
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"'”)]*\s+|(?<=[。！？])")
_CLAUSE = re.compile(r";\s+|\s+[—–]\s+|；")
_UNSURE = re.compile(
    r"\b(?:to|will|would|should|can|could|may|might|must|needs?|next|ready|await\w*|before|if|whether|once|until|when|"
    r"unless|want\w*|plan\w*|remain\w*|left|pending|decide|consider|try|wait\w*|then|please)\b"
    r"(?:\W+[\w'/-]+){0,4}?\W+$",
    re.IGNORECASE,
)
"""Before a claim: it is wished for, not made."""
_NEGATED = re.compile(r"(?:\b(?:not|no|never|nothing|without|un)|n't|n’t)(?:\W+\w+){0,3}\W*$", re.IGNORECASE)
_MARKS = re.compile(r"^\s*(?:[#>*+-]+|\d+[.)])\s+|\*\*|```\w*", re.MULTILINE)


class Dropped(NamedTuple):
    """Words that were taken out, and why."""

    text: str
    reason: str


class Verified(Struct, frozen=True, kw_only=True):
    """What may be shown; "" when nothing is left."""

    text: str
    dropped: tuple[Dropped, ...] = ()

    @property
    def objection(self) -> str:
        """What to tell the model when it is asked once more."""
        return "; ".join(f"{item.reason} (in: {item.text})" for item in self.dropped)


class Evidence:
    """Everything a session holds, as words to look things up in."""

    def __init__(self, ledger: Ledger, dialog: Sequence[Line]) -> None:
        self.ledger = ledger
        self.said = [line.text.casefold() for line in dialog]
        self.text = "\n".join([*map(str.casefold, _strings(to_builtins(ledger))), *self.said]).replace("\\", "/")
        self.words = {_stem(word) for word in _WORD.findall(self.text)}
        self.pairs = {self.text[at : at + 2] for at, char in enumerate(self.text) if is_wide(char)}
        self.counts = _counts(ledger)
        self.numbers = set(_NUMBER.findall(self.text)) | self.counts

    def holds(self, name: str) -> bool:
        """Whether a name occurs: as it is, or all its parts as words of their own."""
        wanted = name.casefold().strip("`'\"./ ")
        if not wanted or self._occurs(wanted):
            return True
        parts = re.findall(r"[\w.-]{2,}", wanted)
        return len(parts) > 1 and "/" not in wanted and all(map(self._occurs, parts))

    def told(self, pattern: re.Pattern[str], near: Sequence[str]) -> bool:
        """Whether somebody said so, in a message with one of these names where there are any. Denials do not count."""
        for message in self.said:
            if near and not any(name.casefold() in message for name in near):
                continue
            for sentence in re.split(r"(?<=[.!?])\s+|\n|(?<=[。！？])", message):
                found = pattern.search(sentence)
                before = sentence[: found.start()] if found else ""
                if found and not _NEGATED.search(before) and not _UNSURE.search(before):
                    return True
        return False

    def _occurs(self, word: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text) is not None


def verify(text: str, ledger: Ledger, dialog: Sequence[Line]) -> Verified:
    """The sentences that ledger and dialog bear out, at most 40 words of them; the rest is dropped with its reason."""
    evidence = Evidence(ledger, dialog)
    kept: list[str] = []
    dropped: list[Dropped] = []
    left = MAX_WORDS
    for sentence in filter(None, map(str.strip, _SENTENCE.split(" ".join(_MARKS.sub(" ", text).split())))):
        good, bad = _repaired(sentence, evidence)
        dropped += bad
        if good and (word_cost(good) <= left or not kept):
            kept.append(clip(good, MAX_WORDS))
            left -= word_cost(good)
    return Verified(text=" ".join(kept), dropped=tuple(dropped))


def _repaired(sentence: str, evidence: Evidence) -> tuple[str, list[Dropped]]:
    """The sentence without the clauses that are not borne out."""
    clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
    reasons = [objection(clause, evidence) for clause in clauses]
    bad = [Dropped(clause, reason) for clause, reason in zip(clauses, reasons, strict=True) if reason]
    if not bad:
        return sentence, []
    good = "; ".join(clause.rstrip(" .,") for clause, reason in zip(clauses, reasons, strict=True) if not reason)
    return (good[:1].upper() + good[1:] + "." if good else ""), bad


def objection(clause: str, evidence: Evidence) -> str:
    """Why a clause may not be shown; "" when it may."""
    names = _names(clause)
    for name in names:
        if not evidence.holds(name):
            return f"the session does not name {name}"
    for number in _NUMBER.findall(clause):
        if number not in evidence.numbers and number.lstrip("v") not in evidence.numbers:
            return f"the session does not hold the number {number}"
    for word, noun in _COUNTED.findall(clause):
        known = _VALUES.get(word.lower(), "") in evidence.counts
        if not known and f"{word} {noun[:4]}".casefold() not in evidence.text:
            return f"the session does not hold {word} {noun}"
    return _unfounded(clause, evidence, names) or _unheard(clause, evidence)


def _names(clause: str) -> list[str]:
    files = [name.rstrip("./") for name in _FILE.findall(clause) if name.casefold() not in ("e.g", "i.e", "etc")]
    found = ["".join(match.groups("")) for match in _NAME.finditer(clause)]
    return files + [name for name in found if name.casefold() not in _COMMON and not name.isspace()]


def _unfounded(clause: str, evidence: Evidence, names: Sequence[str]) -> str:
    """A claim that the facts deny, or that neither they nor anybody in the dialog make."""
    for claim in CLAIMS:
        found = claim.words.search(clause)
        if found is None or _UNSURE.search(clause[: found.start()]):
            continue
        truth = claim.facts(evidence.ledger)
        inner = re.search(r"\bnot\b|n't\b|n’t\b|\bno\b", found.group(0)) is not None
        if inner or _NEGATED.search(clause[: found.start()]):
            if claim.undeniable(evidence.ledger) is True and claim.said is not None:
                return f"the facts hold what is denied: {found.group(0)}"
            continue
        files = [name for name in names if "." in name]
        if claim.of_file is not None and files:
            known = [claim.of_file(file) for file in evidence.ledger.files if file.path.endswith(tuple(files))]
            truth = None if not known or None in known else all(known)
        if truth is False or (truth is None and not (claim.said and evidence.told(claim.said, files))):
            return f"neither facts nor dialog hold: {found.group(0)}"
    return ""


def _unheard(clause: str, evidence: Evidence) -> str:
    """Most of a sentence must be about what the session is about."""
    wide = [one + other for one, other in pairwise(clause) if is_wide(one) and is_wide(other)]
    if len(wide) >= 4:
        strange = sum(pair not in evidence.pairs for pair in wide)
        return "the session says nothing of the kind" if strange * 10 > len(wide) * 8 else ""
    words = [word for word in _WORD.findall(re.sub(r"`[^`]*`", " ", clause).casefold()) if word not in _STOP]
    unknown = [word for word in words if _stem(word) not in evidence.words]
    if len(unknown) >= 2 and len(unknown) * 2 >= len(words) + (len(unknown) < 3):
        return f"the session says nothing of {', '.join(unknown[:4])}"
    return ""


_IRREGULAR_WORDS = (
    "written write wrote write built build ran run found find kept keep broken break shown show sent send"
)
_IRREGULAR: dict[str, str] = dict(zip(_IRREGULAR_WORDS.split()[::2], _IRREGULAR_WORDS.split()[1::2], strict=True))


def _stem(word: str) -> str:
    """So much of a word that its forms fall together."""
    word = _IRREGULAR.get(word, word.removeprefix("re") if len(word) > 6 else word)
    ending = next((end for end in ("ing", "ed", "es", "s", "ly", "er") if word.endswith(end) and len(word) > 5), "")
    return word.removesuffix(ending)[:5]


def _strings(value: object) -> list[str]:
    """All words and figures of a ledger, but for its ids and costs."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return [text for key, item in items if key not in _SKIPPED for text in _strings(item)]
    if isinstance(value, list | tuple):
        return [text for item in cast("list[object]", value) for text in _strings(item)]
    return [str(value)] if isinstance(value, int) and not isinstance(value, bool) else []


_SKIPPED = frozenset(
    {"source", "state_source", "resolved_by", "costs", "turn", "order", "entries", "at", "last_entry_id"}
)


def _counts(ledger: Ledger) -> set[str]:
    """Counts that a sentence may state although no entry spells them."""
    counts = {len(ledger.changed_files), len(ledger.commits), ledger.command_count, len(ledger.goals)}
    counts.add(sum(not file.deleted for file in ledger.changed_files))
    counts |= {len(ledger.agents), len(ledger.running_agents), ledger.user_turns}
    if ledger.todos:
        counts |= {ledger.todos.done, len(ledger.todos.items), len(ledger.todos.items) - ledger.todos.done}
    for run in ledger.tests[-1:]:
        counts |= {run.passed or 0, run.failed or 0, (run.passed or 0) + (run.failed or 0)}
    return {str(count) for count in counts}
