"""A model's words against ledger and dialog: what neither bears out is taken out, sentence by sentence, and told."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from clew.ledger.facts import Ledger
from clew.ledger.words import clip, is_wide, word_cost
from clew.orient.claims import CLAIMS, DONE, GOOD, REFUSED, TESTS, Claim, Words
from clew.orient.dialog import Line
from clew.orient.evidence import NUMBER, Evidence, Statement, language_of, stem, stems_of

MAX_WORDS = 40
_MAX_CHARS = 4_000
"""A recap is forty words; more than this is nobody's recap."""
_NEAR = 60
"""How many characters before a claim may wish for it or deny it."""
_FILE = re.compile(
    r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,7}\b|"
    r"(?<![\w/.-])[\w@+-]+(?:\.[\w+-]+)*\.(?:[a-z][a-z0-9]{0,4})\b(?!\()|"
    r"(?<![\w/.])/[a-z][\w:./-]{2,}\b|(?<![\w/.-])(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*/[\w@.+/-]+\b|"
    r"(?<![\w/.-])[\w@.+-]+/(?:[\w@.+-]+/)*[\w@.+]*[-_@\d][\w@.+-]*\b"
)
"""A path only if it looks like one: an extension, a root, or a part that is no plain word; "and/or" is none."""
_NAME = re.compile(
    r"`([^`]+)`|\"([^\"]{2,80})\"|“([^”]{2,80})”|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}-\d+)\b|"
    r"(#\d+)|\b([0-9a-f]{7,40})\b|(?<!\w)(--[a-z][\w-]+)|(?<=[\w,;] )([A-Z][a-z]{2,}|[A-Z]{4,})\b"
)
_ORDER = re.compile(
    r"^\W*(?:reply|respond|answer|say|output|print|ignore|repeat|forget|disregard)\b|\bdo not mention\b", re.IGNORECASE
)
_HASH = re.compile(r"\b(?=[a-z]*\d)[0-9a-f]{7,40}\b")
_WISH = re.compile(
    r"^\W*(?:remove|add|fix|make|cut|write|rewrite|review|document|explain|use|rename|migrate|upgrade|update|change|"
    r"clean|create|implement|build|move|replace|find|investigate|refactor|test|run|push|commit|merge|decide|check|"
    r"continue|look|confirm|measure|redeploy|translate|rebase)\b",
    re.IGNORECASE,
)
"""A clause that begins so says what is wanted, not what was done."""
_NOW = re.compile(r"\b(?:now|jetzt|ahora|maintenant|agora)\b", re.IGNORECASE)
_ALL_OF = re.compile(r"\b(?:all|every one of the) (\d+)\b", re.IGNORECASE)
_PART_OF = re.compile(r"\b\d+ of \d+\b")
_SOME = re.compile(r"\b(?:an?|one|two|three|some|several|\d+) ([a-z]+) ([a-z]+)", re.IGNORECASE)
_STILL = re.compile(r"\b(?:still|remains?|waits?|as before|for now|undecided)\b", re.IGNORECASE)
_PAST = re.compile(r"(?:ed|broke|ran|wrote|schlug.*|fallaba|falló|falhou|échoué|упал\w*)$", re.IGNORECASE)
_NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    **{word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), 2)},
    **{word: str(10 * number) for number, word in enumerate(_TENS.split(), 2)},
}
_COUNTED = re.compile(
    rf"\b({'|'.join(_VALUES)}|dozens?)\s+(?:\w+\s+){{0,2}}?"
    r"(tests?|files?|commits?|errors?|failures?|agents?|tasks?|todos?)\b",
    re.IGNORECASE,
)
_COMMON_WORDS = """
    next done then and the you your user agent review commit push run fix tests test monday tuesday wednesday thursday
    friday saturday sunday english git github api cli json html css sql ci pr prs url readme todo task state open
    claude codex gemini clew nothing all both now also todos ui ux ok none no yes llm
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Capitalised words that name nothing in particular."""
_TELLING_WORDS = """
    about across after again against agent agents ago all almost along already also always am an and answer answered
    answers any anybody anything are around as ask asked asking asks assistant at attempt attempted attempts away back
    bad be because been before began begin being best better between both branch branches bring brings brought bug but
    by call called calls came can carried carries carry change changes check code come comes command commands commit
    confirm context continue could current currently decide detail details did directory do does doing done down
    during each earlier eight either else end ended ends entire ever every everything example explained failure few
    fifth file files find finds finish first five fix folder for found four fourth from fully further gave get gets
    give given gives giving go goal goals goes going good got had has have having he held help hence her here him hold
    holds hour hours how identical if in instead into is issue it it's item items its itself just keep keeps kept kind
    lack last later lay leave leaves leaving left let lets lie lies like line lines list listed look looked looks made
    make makes many may me merge message might minute minutes more most mostly much must my name named need needed
    needs neither never new next nine no nobody none nor not note notes nothing now of off offer offered offers ok
    okay old on once one only or other others our out output over own page part partly parts per place print printed
    prints problem project prompt proposed push put question quite rather ready really recap remain remaining remains
    remote replied reply repo report reported reports repository request requested requests rerun result results
    resume review round run said same say saying says second seconds seem seems session sessions set seven several she
    should show showed shown shows simple since single sits six slightly so some something soon stand stands start
    started starts state stated step steps still stop stopped stops such summary take taken takes task tasks tell
    telling tells ten test text than that the their them then there therefore these they thing things third this those
    three through thus time times to today together told too took toward tried tries try turn turns two under unknown
    unless until untouched up us use used user users uses using value values various verify version very via want
    wanted wants was way ways we well went were what when where whether which while who whole whom whose why will wise
    wish wished with within without word words work worked working works would wrote yes yet you your yours yourself
"""
_TELLING = frozenset(map(stem, [*_TELLING_WORDS.split(), *_VALUES]))
"""Words to tell with: they claim nothing that the session must hold."""
_ORDINARY_WORDS = """
    able accord accordingly actual actually address addressed adjust advance aim allow alone alongside already
    alternative amount appear appears apply approach arrange aside assume attention avoid aware base based basic
    become believe belong beside besides beyond brief bring broad care careful case certain choice choose clear
    clearly close combine come common compare compared compete competing complain completely concern confuse
    consider consist contain cover deal depend describe desired despite differ difference different difficult direct
    directly discuss dislike easy effort enough ensure entirely equal especially evaluate exact exactly exist expect
    explain extra fact fair favor favour finding fine focus follow form former fresh friendly full general generally
    great group guess handle happen hard help hint hope idea important include indeed initial intend intended
    introduce investigate involve join judge know known large largely latter leave left less level likely limit
    local look lot low main mainly manage matter mean meant mention mere mind minor mix moment month morning
    multiple natural near nearly necessary nice normal notice number object objection occur odd often option order
    ordinary original otherwise outcome overall pair particular patch path perhaps permitted person piece plain plan
    plus point possible prefer present previous previously probably proceed process proper properly propose prove
    provide purpose quick quickly raise range rare reach read real realise realize receive recent recently recommend
    refer regard relate relevant rely remind repeat require resemble respect rest return rid right rough roughly
    rule seek select separate serve share short shortly side similar simply situation slow small smooth special
    specific spend stay straight strange stray style subject suggest suit suitable support suppose sure talk tend
    think thorough thought together touch touched tweak tweaks type unclear usual usually view visit wait wide
    wonder wondered world worry worth year
"""
_ORDINARY = frozenset(map(stem, _ORDINARY_WORDS.split()))
"""Words of any report: strange to no session, though they may claim something."""
_OTHER_SCRIPTS = ("zh", "ja", "ko", "ru", "uk", "ar", "he", "el", "hi", "th")
_SHORTENED = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
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
_UNDONE = re.compile(
    r"\bstill\b.{0,30}\bto\b|\bhas to\b|\bhave to\b|\bmust\b|\bremains? to\b|\bneeds? to\b", re.IGNORECASE
)
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|nothing|nobody|none|without|cannot|kein\w*|nichts?|pas|rien|nada|nadie|nunca|niente|не|нет|ничего)\b|n't|n’t|未|沒有|没有)"
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
    plain = " ".join(_MARKS.sub(" ", text[:_MAX_CHARS]).split())
    for sentence in filter(None, map(str.strip, _SENTENCE.split(plain))):
        good, bad = _repaired(clip(sentence, 2 * MAX_WORDS), evidence)
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
    if _ORDER.search(clause):
        return "this is an order, not a recap"
    foreign = _is_foreign(clause, evidence)
    for name in names_in(clause, proper=not foreign):
        if not evidence.holds(name) and not (name.isalpha() and name.istitle() and evidence.knows(name.casefold())):
            return f"the session does not name {name}"
    for number in NUMBER.findall(clause):
        if number not in evidence.numbers and number.lstrip("v") not in evidence.numbers:
            return f"the session does not hold the number {number}"
    for word, noun in _COUNTED.findall(clause):
        value = _VALUES.get(word.lower(), "?")
        spoken = re.compile(rf"(?<!\w)(?:{word}|{value})\W+(?:\w+\W+){{0,2}}{noun[:4]}", re.IGNORECASE)
        if value not in evidence.counts and not spoken.search(evidence.text):
            return f"the session does not hold {word} {noun}"
    unfounded = _unfounded(clause, evidence, foreign=foreign)
    return unfounded or ("" if foreign else _stale(clause, evidence) or _unheard(clause, evidence))


def _is_foreign(clause: str, evidence: Evidence) -> bool:
    """It is told in another language than the dialog's: names, numbers and claims can be looked up, words cannot."""
    if evidence.language[:2] in _OTHER_SCRIPTS and clause.isascii():
        return True
    language = language_of([clause])
    return bool(language and evidence.language) and language[:2] != evidence.language[:2]


def names_in(clause: str, *, proper: bool = True) -> list[str]:
    """Files, code, hashes and, where capitals tell them, proper names."""
    files = [name.rstrip("./") for name in _FILE.findall(clause) if name.casefold() not in ("e.g", "i.e", "etc")]
    found = ["".join(match.groups("")[: None if proper else -1]) for match in _NAME.finditer(clause)]
    return files + [name for name in found if name and name.casefold() not in _COMMON and not name.isspace()]


def _unfounded(clause: str, evidence: Evidence, *, foreign: bool) -> str:
    """A claim that the facts deny, or that neither they nor anybody in the dialog make."""
    at = 0
    if _WISH.search(clause):
        return ""
    for phrase in _PHRASE.split(clause):
        start = clause.index(phrase, at)
        at = start + len(phrase)
        for claim in CLAIMS:
            found = claim.words.claimed.search(phrase)
            if found is None or (claim.subject and not _is_about(claim.subject, phrase, clause)):
                continue
            before = clause[: start + found.start()]
            undone = _UNDONE.search(before[-40:]) is not None
            if claim.heard and not undone and _UNSURE.search(before[-_NEAR:]):
                continue
            about = [frozenset[str]()] if foreign else [arguments(part) & evidence.stems for part in (phrase, clause)]
            if reason := _judged(
                claim, found.group(0), phrase, clause, about, evidence, denied=undone or _denied(before)
            ):
                return reason
            if claim.subject:
                break
    return ""


def _is_about(subject: Words, phrase: str, clause: str) -> bool:
    """Whether a phrase says its claim of a subject: by name, or of what the clause is about, having no word of its
    own."""
    return bool(subject.said.search(phrase)) or (not arguments(phrase) and bool(subject.said.search(clause)))


def _stale(clause: str, evidence: Evidence) -> str:
    """What is said to be so still must be among the last words; what is so now must have been made so."""
    ledger = evidence.ledger
    if _NOW.search(clause) and ledger.said is None and not ledger.changed_files:
        return "nothing was done that could be so now"
    for number in _ALL_OF.findall(clause):
        parts = {part for line in evidence.latest for part in re.findall(rf"(\d+) (?:of|/) {number}\b", line.text)}
        if parts - {number}:
            return f"the session says {parts.pop()} of {number}"
    for found in _SOME.finditer(clause):
        denied = re.compile(rf"\bno {found.group(1)[:6]}\w* {found.group(2)[:5]}", re.IGNORECASE)
        if any(denied.search(statement.text) for statement in evidence.latest):
            return f"the session says there is no {found.group(1)} {found.group(2)}"
    found = _STILL.search(clause)
    about = arguments(clause) & evidence.stems
    if found is None or not about:
        return ""
    last = [*evidence.latest, *(item for item in evidence.done if item.text in ("failed", "pending", "agent running"))]
    near = max((len(about & statement.stems) for statement in last), default=0)
    return "" if near * 2 >= len(about) else f"nobody said at the end that it is {found.group(0)} so"


def _denied(before: str) -> bool:
    return _NEGATED.search(before[-_NEAR:]) is not None


def _judged(
    claim: Claim,
    word: str,
    phrase: str,
    clause: str,
    about: Sequence[frozenset[str]],
    evidence: Evidence,
    *,
    denied: bool,
) -> str:
    ledger = evidence.ledger
    if not denied and claim.words is not REFUSED and (refused := _refused(phrase, ledger)):
        return f"this was refused: {refused}"
    files = tuple(name.casefold().removeprefix("~") for name in names_in(phrase) or names_in(clause) if "." in name)
    past = _PAST.search(word) is not None
    if (part := _PART_OF.search(phrase)) and part.group(0) in evidence.text:
        return ""
    truth = claim.facts(ledger) if claim.words is not DONE or not about[0] else None
    if claim.subject is TESTS and ledger.tests and (counted := NUMBER.search(phrase)):
        run = ledger.tests[-1]
        truth = truth or counted.group(0) == str(run.passed if claim.words is GOOD else run.failed)
    if claim.of_file is not None and files:
        told = [claim.of_file(file) for file in ledger.files if _is_one_of(file.path, files)]
        refused = any(item.decision == "deny" and _is_one_of(item.subject, files) for item in ledger.approvals)
        if told and None not in told:
            truth = any(told)
        elif not told and (refused or any(claim.of_file(file) for file in ledger.files)):
            truth = False
    if denied:
        asked = claim.undeniable or claim.facts
        known = truth if claim.of_file is not None and files and not claim.undeniable else asked(ledger)
        if known is None and claim.heard and len(about[0]) > 1:
            known = _heard(claim, about[0], evidence.latest, last=True)
        return f"the session holds what is denied: {word}" if known is True else ""
    if claim.heard and (truth is None or (truth is False and past and claim.opposite)):
        own, whole, told = about[0], about[-1], (*evidence.said, *evidence.done)
        truth = _heard(claim, own, told, last=not past)
        if truth is None and len(whole) > max(1, len(own)):
            truth = _heard(claim, whole, told, last=not past)
        if truth is None and claim.words is DONE and claim.facts(ledger):
            truth = any(own & item.stems and _says(claim.words.said, item) for item in evidence.latest)
    return "" if truth else f"neither facts nor dialog hold: {phrase.strip()}"


def _is_one_of(path: str, names: Sequence[str]) -> bool:
    """Whether a path is, or ends in, one of these."""
    return any(("/" + path.casefold().replace("\\", "/")).endswith("/" + name.lstrip("/.")) for name in names)


def _refused(phrase: str, ledger: Ledger) -> str:
    """A command in the phrase that was refused and never ran."""
    told = " ".join(phrase.replace("`", "").split())
    ran = " ".join(command.command for command in ledger.commands if not command.failed)
    for item in ledger.approvals:
        begun = " ".join(item.subject.split()[:2])
        if (
            item.decision == "deny"
            and " " in begun
            and begun in told
            and not re.search(rf"(?<!\w){re.escape(begun)}", ran)
        ):
            return begun
    return ""


def _heard(claim: Claim, about: frozenset[str], told: Sequence[Statement], *, last: bool) -> bool | None:
    """Whether somebody said so of these things; `last`: and nobody said the opposite since."""
    for statement in reversed(told):
        if claim.subject and not claim.subject.said.search(statement.text):
            continue
        if len(about & statement.stems) < min(2, len(about)):
            continue
        said = _says(claim.words.said, statement)
        if said is None and claim.said is not None:
            said = _says(claim.said, statement)
        if last and claim.opposite is not None and _says(claim.opposite.said, statement, after=claim.words.said):
            return False
        if said or (said is False and last):
            return said
    return None


def _says(words: re.Pattern[str], statement: Statement, *, after: re.Pattern[str] | None = None) -> bool | None:
    """Whether it is said or denied; None: neither, or `after` these words something else is."""
    found = words.search(statement.text)
    if found is None or (after and (other := after.search(statement.text)) and other.start() > found.start()):
        return None
    before = statement.text[: found.start()]
    return None if _UNSURE.search(before[-_NEAR:]) else not _denied(before)


def arguments(text: str) -> frozenset[str]:
    """What a phrase is about: its words but those that tell and those that claim."""
    bare = _HASH.sub(" ", _unclaimed(text).casefold())
    return frozenset(part for part in stems_of(bare) if part not in _TELLING)


def _unclaimed(text: str) -> str:
    for claim in CLAIMS:
        text = claim.words.claimed.sub(" ", text)
    return text


def _unheard(clause: str, evidence: Evidence) -> str:
    """A sentence must be about what the session is about."""
    wide = [one + other for one, other in pairwise(clause) if is_wide(one) and is_wide(other)]
    if len(wide) >= 4:
        strange = sum(pair not in evidence.pairs for pair in wide)
        return "the session says nothing of the kind" if strange * 10 > len(wide) * 8 else ""
    bare = _SHORTENED.sub(" ", _unclaimed(re.sub(r"`[^`]*`", " ", clause)))
    words = [word for word in _WORD.findall(bare.casefold()) if stem(word) not in _TELLING]
    unknown = [word for word in words if not evidence.knows(word) and stem(word) not in _ORDINARY]
    allowed = (
        max(len(words) // 3, len(words) >= 3)
        if (language_of([clause]) or evidence.language) in ("", "en")
        else len(words) * 2 // 3
    )
    if len(unknown) > allowed:
        return f"the session says nothing of {', '.join(unknown[:4])}"
    return ""
