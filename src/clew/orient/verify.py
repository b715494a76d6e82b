"""A model's words against ledger and dialog: what neither bears out is taken out, sentence by sentence, and told."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from clew.ledger.facts import Ledger
from clew.ledger.words import clip, is_wide, word_cost
from clew.orient.claims import (
    NUMBER,
    PHRASES,
    Claim,
    claims_in,
    code_in,
    lowered,
    masked,
    names_in,
    pairs_in,
    things,
    words_in,
)
from clew.orient.clause_rules import CLAUSE_RULES
from clew.orient.dialog import Line
from clew.orient.evidence import Evidence, is_whole, language_of
from clew.orient.fact_check import About, decided, refused_part
from clew.orient.vocabulary import CLASS_OF, EMPTY, NUMBER_WORDS, TELLING, stem

MAX_WORDS = 40
_MAX_CHARS = 4_000
"""A recap is forty words; more than this is nobody's recap."""
_TO_THE_RECAP = re.compile(
    r"^\W*(?:reply|respond|answer|say|output|print|ignore|repeat|forget|disregard)\b|\bdo not mention\b", re.IGNORECASE
)
_NEXT = re.compile(
    r"\b(?:next(?: steps?| up| action)?|goal|als nächstes|nächster schritt|siguiente paso|próximo passo|"
    r"prochaine étape)\b"
    r"\s*(?:is\b|:|,|comes\b)|下一步",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"\b({'|'.join(NUMBER_WORDS)}) (?:\w+ )?(files|tests|commits|agents)\b", re.IGNORECASE)
_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,40}$")
_OF_ALL = frozenset({"finish", "pass", "fail", "commit", "push"})
"""Said of nothing in particular, these are said of the whole."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"'”)]*\s+|(?<=[。！？])")
_CLAUSE = re.compile(r";\s+|\s+[—–]\s+|；")
_MARKS = re.compile(r"^\s*(?:[#>*+-]+|\d+[.)])\s+|\*\*|```\w*", re.MULTILINE)
_OTHER_SCRIPTS = ("zh", "ja", "ko", "ru", "uk", "ar", "he", "el", "hi", "th")
_ORDINARY = TELLING | EMPTY | CLASS_OF.keys()
"""Words of any report: strange to no session."""


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
    check = Check(Evidence(ledger, dialog))
    kept: list[str] = []
    dropped: list[Dropped] = []
    left = MAX_WORDS
    plain = " ".join(_MARKS.sub(" ", text[:_MAX_CHARS]).split())
    for sentence in filter(None, map(str.strip, _SENTENCE.split(plain))):
        good, bad = _repaired(clip(sentence, 2 * MAX_WORDS), check)
        dropped += bad
        if good and (word_cost(good) <= left or not kept):
            kept.append(clip(good, MAX_WORDS))
            left -= word_cost(good)
    return Verified(text=" ".join(kept), dropped=tuple(dropped))


def _repaired(sentence: str, check: "Check") -> tuple[str, list[Dropped]]:
    """The sentence without the clauses that are not borne out."""
    clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
    wished = _NEXT.match(sentence) is not None
    reasons = [check.objection(clause, wished=wished) for clause in clauses]
    bad = [Dropped(clause, reason) for clause, reason in zip(clauses, reasons, strict=True) if reason]
    if not bad:
        return sentence, []
    good = "; ".join(clause.rstrip(" .,") for clause, reason in zip(clauses, reasons, strict=True) if not reason)
    return (good[:1].upper() + good[1:] + "." if good else ""), bad


def objection(text: str, evidence: Evidence) -> str:
    """Why a single clause may not be shown; "" when it may."""
    return Check(evidence).objection(text)


class Check:
    """Goes through a recap clause by clause; "it" and "both" stand for what was spoken of before."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._before: tuple[list[str], list[str]] = ([], [])

    def objection(self, clause: str, *, wished: bool = False) -> str:
        """Why a clause may not be shown; "" when it may."""
        if _TO_THE_RECAP.search(clause):
            return "this is an order, not a recap"
        evidence = self._evidence
        foreign = _is_foreign(clause, evidence)
        next_step = _NEXT.search(clause)
        told = clause[: next_step.start()] if next_step else clause
        wished = wished or not told.strip()
        reason = _unknown_name(clause, evidence, foreign=foreign) or _unknown_number(clause, evidence)
        if not reason and not foreign:
            reason = _strange(clause, evidence, wished=wished)
        if not wished:
            reason = reason or self._unfounded(clause, foreign=foreign)
        if reason or wished or foreign:
            return reason
        return next(filter(None, (rule(told, evidence) for rule in CLAUSE_RULES)), "")

    def _unfounded(self, clause: str, *, foreign: bool) -> str:
        """A claim that the facts deny, or that neither they nor anybody in the dialog make."""
        last: Claim | None = None
        for phrase in filter(str.strip, PHRASES.split(clause)):
            claims = claims_in(phrase)
            if claims and last and words_in(phrase)[:1] == [claims[0].word]:  # "to be committed and pushed"
                claims[0] = claims[0]._replace(holds=last.holds, asserted=last.asserted)
            last = claims[-1] if claims else last
            about = [] if foreign else things(phrase, apart=frozenset(claim.word for claim in claims))
            names = [lowered(name) for name in code_in(phrase) if not _HASH.match(name)]
            own = About(phrase, clause, about, names)
            for claim in claims:
                if claim.asserted and (reason := self._judged(claim, own)):
                    return reason
            if about or names:
                self._before = (about, names)
        return ""

    def _judged(self, claim: Claim, about: About) -> str:
        evidence = self._evidence
        if claim.name == "keep":
            claim = claim._replace(name="remove", holds=not claim.holds)
        if not about.things and not about.names and claim.name not in _OF_ALL:
            about = About(about.phrase, about.clause, *self._before)
        told_as_done = claim.holds and claim.name not in ("refuse", "cancel")
        if told_as_done and (refused := refused_part(about.phrase, evidence.ledger)):
            return f"this was refused: {refused}"
        verdict = decided(claim, about, evidence.ledger)
        if verdict is not None:
            return "" if verdict else f"the facts say otherwise: {about.phrase.strip()}"
        said = evidence.heard(claim, about.things, about.names, whole=is_whole(lowered(about.phrase)))
        if claim.holds:
            return "" if said else f"neither facts nor dialog hold: {about.phrase.strip()}"
        opposite = claim._replace(holds=True)
        denied = bool(about.things or about.names) and evidence.heard(
            opposite, about.things, about.names, last=True, enough=0.75
        )
        return f"the session holds what is denied: {claim.word}" if denied and not said else ""


def _is_foreign(clause: str, evidence: Evidence) -> bool:
    """It is told in another language than the dialog's: names, numbers and claims can be looked up, words cannot."""
    if evidence.language[:2] in _OTHER_SCRIPTS and clause.isascii():
        return True
    language = language_of([clause])
    return bool(language and evidence.language) and language[:2] != evidence.language[:2]


def _unknown_name(clause: str, evidence: Evidence, *, foreign: bool) -> str:
    for name in names_in(clause):
        plain = name.isalpha() and name.istitle()
        known = plain and (foreign or stem(name.casefold()) in evidence.stems)
        if not known and not evidence.holds(name):
            return f"the session does not name {name}"
    return ""


def _unknown_number(clause: str, evidence: Evidence) -> str:
    """A number must have been said or be a fact: tools print too many of them."""
    for number in NUMBER.findall(clause):
        if not {number, number.lstrip("v")} & evidence.numbers:
            return f"the session does not hold the number {number}"
    for word, noun in _COUNTED.findall(clause):
        if NUMBER_WORDS[word.lower()] not in evidence.numbers and not evidence.occurs(word.lower()):
            return f"the session does not hold {word} {noun}"
    return ""


def _strange(clause: str, evidence: Evidence, *, wished: bool) -> str:
    """A clause must be about what the session is about."""
    wide = pairs_in(clause)
    if len(wide) >= 4:
        return "the session says nothing of the kind" if len(wide - evidence.pairs) * 10 > len(wide) * 8 else ""
    words = [word for word in words_in(masked(clause)) if len(word) > 2 and "'" not in word and not is_wide(word[0])]
    words = [word for word in words if stem(word) not in EMPTY]
    unknown = [word for word in words if stem(word) not in evidence.stems and stem(word) not in _ORDINARY]
    strict = not wished and (language_of([clause]) or evidence.language) in ("", "en")
    allowed = max(len(words) // 3, 1) if strict else max(len(words) * 2 // 3, 2)
    return f"the session says nothing of {', '.join(unknown[:4])}" if len(unknown) > allowed else ""
