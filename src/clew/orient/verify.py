"""A model's words against ledger and dialog: what neither bears out is taken out, sentence by sentence, and told."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from clew.ledger.facts import Ledger
from clew.ledger.words import clip, is_wide, word_cost
from clew.orient.claims import CLAIMS, Claim
from clew.orient.dialog import Line
from clew.orient.evidence import NUMBER, Evidence, Statement, stem, stems_of

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
_TELLING_WORDS = """
    the an and for with that this these those from into have has had having was were are is be been being will would
    should could can may might must you your yours yourself user users agent agents assistant they them their there then
    than when where what which who whom whose how why its it's itself not no nor yet but also just only all any some more
    most other others each both either neither very still now next step steps task tasks session sessions work worked
    works working goal goals want wants wanted wish wished asked ask asks asking need needs needed ready before after
    once while about over under out off done do does did doing get gets got let lets make makes made use uses used using
    new old one two first second third fourth fifth last current currently remaining remains remain left part parts
    whether against across within without via per like such same already review commit push run rerun test verify check
    continue confirm decide answer answered answers merge finish resume three four five six seven eight nine ten
    because since so hence thus therefore as if unless until by of on in at to or up down again too further else instead
    nothing anything something everything nobody anybody none never ever many much several few various all every
    said say says saying told tell tells telling reported report reports wrote explained given give gives giving gave
    stop stopped stops end ended ends start started starts begin began try tried tries attempt attempts attempted
    result results request requests requested reply replied message prompt question turn turns round time times place
    thing things item items way ways kind lack own during through between toward here away back later earlier soon
    ago today is are am me my we our us he she him her it go goes going went put set sits stands stand lies lay lie
    call called calls show shows showed shown state stated wise out per him whole entire rather quite almost slightly
    about around along together well good bad better best fully partly mostly really yes okay ok carry carries carried
    take takes took taken bring brings brought come comes came find finds keep keeps kept hold holds held seem seems
    remain left leave leaves leaving offer offers offered look looks looked let found single simple further next
"""
_TELLING = frozenset(map(stem, _TELLING_WORDS.split()))
"""Words to tell with: they claim nothing that the session must hold."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"'”)]*\s+|(?<=[。！？])")
_CLAUSE = re.compile(r";\s+|\s+[—–]\s+|；")
_PHRASE = re.compile(r",\s+|:\s+|，|\s+(?:and|but|so|because|while|und|aber|weil|et|mais|y|pero|e|и|но|а)\s+")
_UNSURE = re.compile(
    r"(?:\b(?:to|will|would|should|can|could|may|might|must|needs?|next|await\w*|before|if|whether|once|until|when|"
    r"unless|want\w*|plan\w*|remain\w*|left|pending|decide|consider|try|wait\w*|please|ask(?:s|ed)?|goal|"
    r"offers?|push)\b|[:：]\s*)(?:\W+[\w'/-]+){0,4}?\W*$",
    re.IGNORECASE,
)
"""Before a claim: it is wished for, not made."""
_UNDONE = re.compile(r"\bstill\b.{0,30}\bto\b|\bhas to\b|\bhave to\b|\bmust\b|\bremains? to\b|\bneeds? to\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|nothing|nobody|none|without|cannot|kein\w*|nicht|pas|nada|nunca|не|нет)\b|n't|n’t|未|沒有|没有)"
    r"(?:\W+[\w`'-]+){0,4}\W*$",
    re.IGNORECASE,
)
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
    names = names_in(clause)
    for name in names:
        if not evidence.holds(name):
            return f"the session does not name {name}"
    for number in NUMBER.findall(clause):
        if number not in evidence.numbers and number.lstrip("v") not in evidence.numbers:
            return f"the session does not hold the number {number}"
    for word, noun in _COUNTED.findall(clause):
        known = _VALUES.get(word.lower(), "") in evidence.counts
        if not known and f"{word} {noun[:4]}".casefold() not in evidence.text:
            return f"the session does not hold {word} {noun}"
    return _unfounded(clause, evidence) or _unheard(clause, evidence)


def names_in(clause: str) -> list[str]:
    """Files, code, hashes and proper names."""
    files = [name.rstrip("./") for name in _FILE.findall(clause) if name.casefold() not in ("e.g", "i.e", "etc")]
    found = ["".join(match.groups("")) for match in _NAME.finditer(clause)]
    return files + [name for name in found if name.casefold() not in _COMMON and not name.isspace()]


def _unfounded(clause: str, evidence: Evidence) -> str:
    """A claim that the facts deny, or that neither they nor anybody in the dialog make."""
    whole = _arguments(clause)
    at = 0
    for phrase in _PHRASE.split(clause):
        start = clause.index(phrase, at)
        at = start + len(phrase)
        for claim in CLAIMS:
            found = claim.words.search(phrase)
            if found is None or (claim.subject and not claim.subject.search(clause)):
                continue
            before = clause[: start + found.start()]
            undone = _UNDONE.search(before[-40:]) is not None
            if not undone and _UNSURE.search(before):
                continue
            if reason := _judged(claim, found.group(0), phrase, undone or _denied(before), whole, evidence):
                return reason
            if claim.subject:
                break
    return ""


def _denied(before: str) -> bool:
    return _NEGATED.search(before) is not None


def _judged(
    claim: Claim, word: str, phrase: str, denied: bool, whole: frozenset[str], evidence: Evidence
) -> str:
    ledger = evidence.ledger
    files = [name.casefold() for name in names_in(phrase) if "." in name]
    truth = claim.facts(ledger)
    if claim.of_file is not None and files:
        told = [claim.of_file(file) for file in ledger.files if file.path.casefold().endswith(tuple(files))]
        if told and None not in told:
            truth = any(told)
        elif not told and any(claim.of_file(file) for file in ledger.files):
            truth = False
    if denied:
        asked = claim.undeniable or claim.facts
        known = truth if claim.of_file is not None and files else asked(ledger)
        return f"the facts hold what is denied: {word}" if known is True else ""
    if truth is None and claim.heard:
        truth = _heard(claim, _arguments(phrase) or whole, files, evidence)
    return "" if truth else f"neither facts nor dialog hold: {word}"


def _heard(claim: Claim, arguments: frozenset[str], files: Sequence[str], evidence: Evidence) -> bool | None:
    """What the last statement about these things says; None when there is none."""
    wanted = arguments & evidence.stems
    for statement in (*reversed(evidence.done), *reversed(evidence.said)):
        if claim.subject and not claim.subject.search(statement.text):
            continue
        if wanted and len(wanted & statement.stems) < min(2, len(wanted)):
            continue
        if (said := _says(claim.words, statement)) is not None:
            return said
        if claim.opposite is not None and _says(claim.opposite, statement):
            return False
    return None


def _says(words: re.Pattern[str], statement: Statement) -> bool | None:
    found = words.search(statement.text)
    if found is None:
        return None
    before = statement.text[: found.start()]
    return None if _UNSURE.search(before) else not _denied(before)


def _arguments(text: str) -> frozenset[str]:
    """What a phrase is about: its words but those that tell and those that claim."""
    bare = text
    for claim in CLAIMS:
        bare = claim.words.sub(" ", bare)
    return frozenset(part for part in stems_of(bare.casefold()) if part not in _TELLING)


def _unheard(clause: str, evidence: Evidence) -> str:
    """A sentence must be about what the session is about."""
    wide = [one + other for one, other in pairwise(clause) if is_wide(one) and is_wide(other)]
    if len(wide) >= 4:
        strange = sum(pair not in evidence.pairs for pair in wide)
        return "the session says nothing of the kind" if strange * 10 > len(wide) * 8 else ""
    bare = re.sub(r"`[^`]*`", " ", clause)
    for claim in CLAIMS:
        bare = claim.words.sub(" ", bare)
    words = [word for word in _WORD.findall(bare.casefold()) if stem(word) not in _TELLING]
    unknown = [word for word in words if not evidence.knows(word)]
    if len(unknown) * 4 > len(words):
        return f"the session says nothing of {', '.join(unknown[:4])}"
    return ""
