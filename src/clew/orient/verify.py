"""A model's words against ledger and dialog: what they do not bear out is taken out, sentence by sentence, and told.

Code decides what code can: names, numbers, results, deeds that leave a trace, states. Whether a sentence says what the
session says is for the model that reads it over (`recap_query`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from msgspec import Struct, to_builtins

from clew.ledger.facts import Ledger
from clew.ledger.failures import red_left
from clew.ledger.language import LanguageFold
from clew.ledger.words import clip, word_cost
from clew.orient.claims import (
    NUMBER,
    PHRASES,
    Claim,
    claims_in,
    code_in,
    is_denied,
    lowered,
    proper_names,
    roots_in,
    things,
)
from clew.orient.dialog import DialogLine, words_of
from clew.orient.fact_check import decided, names_unwritten, refused_part, shown, tells_unwritten
from clew.protocol.standing import Standing
from clew.text.redact import MARK

MAX_WORDS = 40
_LEAST_WORDS = 3
_MAX_CHARS = 4_000
"""A recap is forty words; more than this is nobody's recap."""
_TO_THE_RECAP = re.compile(
    r"^\W*(?:system:\s*)?(?:reply|respond|answer|say|output|print|ignore|repeat|forget|disregard)\b|\bdo not mention\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\W*(?:next(?: steps?| up| action)?|goal|als nächstes|nächster schritt|siguiente paso|próximo passo|"
    r"prochaine étape)\b\s*(?:is\b|:|,|comes\b)|下一步",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+|(?<=[.!?][\"'”)])\s+|(?<=[。！？])")
_STATEMENT = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？；])|;\s+|\s[—–]\s")
_CLAUSE = re.compile(r";\s+|\s+[—–]\s+|；")
_MARKS = re.compile(r"^\s*(?:[#>*+-]+|\d+[.)])\s+|\*\*|```\w*", re.MULTILINE)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_COUNTS = "three four five six seven eight nine ten eleven twelve"
_COUNTED = re.compile(rf"\b({_COUNTS.replace(' ', '|')}) (?:\w+ )?(files|tests|commits|agents)\b", re.IGNORECASE)
_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,40}$")
_UNTOLD = ("source", "state_source", "resolved_by", "costs", "turn", "order", "entries", "at", "last_entry_id", "recap")
_TOPIC = 4
"""So many longer words tell what a clause is about."""
_WAITS = re.compile(
    r"\b(?:wait(?:s|ing)? (?:for|on)|await(?:s|ing)) (?:your|an?|the) (?:\w+ )?(?:approval|permission|answer|decision|"
    r"go-ahead|ok|confirmation|reply|choice|consent)"
)
_ALL_DONE = re.compile(r"\bnothing (?:(?:else|more) )?(?:is|remains) (?:left|open|pending|outstanding)\b")
_RUNS = re.compile(r"(?<!was )(?<!were )\b(?:is|are|still) (?:still )?running\b")


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
        """What to tell the model that is asked once more."""
        return "; ".join(f"{item.reason} (in: {item.text})" for item in self.dropped)


def verify(text: str, evidence: "Evidence", *, read_over: bool = False) -> Verified:
    """The sentences that the evidence bears out, at most 40 words of them; the rest is dropped with its reason.
    `read_over`: somebody found what bears them out, so that only what is refuted goes."""
    objection = evidence.refutation if read_over else evidence.objection
    kept: list[str] = []
    dropped: list[Dropped] = []
    left = MAX_WORDS
    for sentence in dict.fromkeys(sentences_of(text)):
        good, bad = _repaired(clip(sentence, 2 * MAX_WORDS), objection)
        dropped += bad
        if good and (word_cost(good) <= left or not kept):
            kept.append(clip(good, MAX_WORDS))
            left -= word_cost(good)
    left_over = " ".join(kept)
    if left_over and (word_cost(left_over) < _LEAST_WORDS or (not read_over and evidence.is_alien(left_over))):
        return Verified(text="", dropped=(*dropped, Dropped(left_over, "this is no recap of the session")))
    return Verified(text=left_over, dropped=tuple(dropped))


def sentences_of(text: str) -> list[str]:
    """The sentences of a recap, without marks."""
    plain = " ".join(_MARKS.sub(" ", text[:_MAX_CHARS]).split())
    return [sentence for sentence in map(str.strip, _SENTENCE.split(plain)) if sentence]


def _repaired(sentence: str, objection: Callable[[str], str]) -> tuple[str, list[Dropped]]:
    """The sentence without the clauses that are not borne out."""
    clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
    wished = "Next: " if _WISHED.match(sentence) else ""
    reasons = [objection(wished + clause) for clause in clauses]
    bad = [Dropped(clause, reason) for clause, reason in zip(clauses, reasons, strict=True) if reason]
    if not bad:
        return sentence, []
    good = "; ".join(clause.rstrip(" .,") for clause, reason in zip(clauses, reasons, strict=True) if not reason)
    return (good[:1].upper() + good[1:] + "." if good else ""), bad


class _Said(NamedTuple):
    """One sentence of the agent's, or one deed that the facts show."""

    text: str
    roots: frozenset[str]
    claims: Sequence[Claim]

    def bears_out(self, claim: Claim, about: frozenset[str], names: Sequence[str]) -> bool:
        """The same was said, of something of the same, and of all that is named."""
        if not any(own.name == claim.name and own.holds == claim.holds for own in self.claims):
            return False
        named = all(re.search(rf"(?<![\w.-]){re.escape(name)}(?!\w)", self.text) for name in names)
        return named and (not about or bool(names) or bool(about & self.roots))


class _Told(NamedTuple):
    """A phrase of a clause, and what it claims."""

    phrase: str
    clause: str
    claims: Sequence[Claim]

    @property
    def is_done(self) -> bool:
        """Something is told as done."""
        return any(claim.holds and claim.name not in ("refuse", "stop", "fail") for claim in self.claims)


def _claims(clause: str) -> Iterator[_Told]:
    before = ""
    for phrase in () if _WISHED.match(clause) else filter(None, map(str.strip, PHRASES.split(clause))):
        yield _Told(phrase, clause, claims_in(f"{before} {phrase}")[len(claims_in(before)) :])  # "committed and pushed"
        before = phrase


class Evidence:
    """Everything a session holds. Tools' texts bear out words and names, never what was done or how it went."""

    def __init__(self, ledger: Ledger, dialog: Sequence[DialogLine]) -> None:
        self._ledger = ledger
        facts = [text for key, value in to_builtins(ledger).items() if key not in _UNTOLD for text in _leaves(value)]
        spoken = [line for line in dialog if not line.by_tool]
        self._text = lowered("\n".join([*facts, *(line.text for line in dialog)]))
        self._roots = roots_in(self._text)
        known = (lowered(text) for text in (*facts, *(line.text for line in spoken)))
        self._numbers = {number for text in known for number in NUMBER.findall(text)} | _counts(ledger)
        self._language = _language_of(line.text for line in spoken[-20:])
        self._said: list[_Said] = []
        for line in spoken:
            for text in _STATEMENT.split(_FENCED.sub("\n", line.text)):
                claims = [claim for claim in claims_in(text) if not line.by_user or claim.name == "fail"]
                if claims or not line.by_user:  # that something fails is told by either
                    self._said.append(_Said(lowered(text), roots_in(text), claims))

    def objection(self, clause: str) -> str:
        """Why a clause may not be shown; "" when it may."""
        return self.refutation(clause) or self.doubt(clause)

    def refutation(self, clause: str) -> str:
        """What speaks against a clause: it names what the session never does, or the facts say otherwise."""
        if _TO_THE_RECAP.search(clause):
            return "this is an order, not a recap"
        if MARK in clause:
            return "it holds a secret"
        for name in code_in(clause):
            if not self._holds(name):
                return f"the session does not name {name}"
        for number in NUMBER.findall(clause):
            if number not in self._numbers and number.lstrip("v") not in self._text:
                return f"the session does not hold the number {number}"
        return self._no_such_state(clause) or next((why for told in _claims(clause) if (why := self._denied(told))), "")

    def doubt(self, clause: str) -> str:
        """What code misses: nothing says it, or says it so."""
        foreign = self._is_foreign(clause)
        for name in () if foreign else proper_names(clause):
            if lowered(name)[:5] not in self._roots and not self._holds(name):
                return f"the session does not name {name}"
        for number in NUMBER.findall(clause):
            if not {number, number.lstrip("v")} & self._numbers:  # tools print too many of them
                return f"nobody says the number {number}"
        for word, noun in _COUNTED.findall(clause):
            if str(_COUNTS.split().index(word.lower()) + 3) not in self._numbers and not self._occurs(word.lower()):
                return f"the session does not hold {word} {noun}"
        reason = "" if foreign else self._strange(clause)
        if reason or _WISHED.match(clause):
            return reason
        unheard = (told for told in _claims(clause) if not self._is_heard(told, foreign=foreign))
        return next((f"neither facts nor dialog hold: {told.phrase}" for told in unheard), "") or self._turned(clause)

    def _holds(self, name: str) -> bool:
        """Whether a name occurs: as it is, or all its parts as words of their own."""
        wanted = lowered(name).strip("`'\"./ ")
        parts = re.findall(r"[\w.-]{2,}", wanted)
        whole = not wanted or self._occurs(wanted)
        return whole or (len(parts) > 1 and "/" not in wanted and all(map(self._occurs, parts)))

    def _occurs(self, word: str) -> bool:
        return word in self._text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self._text) is not None

    def is_alien(self, text: str) -> bool:
        """Nothing in it is of the session: an answer to something else."""
        about = {root for root in things(text) if len(root) > 4}
        return len(about) >= _LEAST_WORDS and not (about & self._roots or code_in(text) or self._is_foreign(text))

    def _strange(self, clause: str) -> str:
        """A clause must be about what the session is about: one that names nothing has words of it."""
        about = things(clause)
        unknown = sorted(about - self._roots)
        if len(about) < _TOPIC or len(unknown) * 5 <= len(about) * 4 or code_in(clause):
            return ""
        return f"the session says nothing of {', '.join(unknown[:4])}"

    def _is_foreign(self, clause: str) -> bool:
        """Told in another language than the dialog's: names, numbers and claims can be looked up, words cannot."""
        if not self._roots or (not self._text.isascii() and clause.isascii() and self._language[:2] not in ("", "en")):
            return True
        language = _language_of([clause])
        return bool(language and self._language) and language[:2] != self._language[:2]

    def _no_such_state(self, clause: str) -> str:
        """Waiting, asking and running are states of the session."""
        told, ledger = lowered(clause), self._ledger
        asking = ledger.question or ledger.refused or ledger.state in (Standing.ASKING, Standing.WAITING)
        if _WAITS.search(told) and not asking:
            return "no approval or answer is waited for"
        todos = ledger.current_todos
        if _ALL_DONE.search(told) and (ledger.question or red_left(ledger.tests) or (todos and todos.open_items)):
            return "something is open"
        at_work = ledger.running_agents or ledger.doing or ledger.state is Standing.WORKING
        said = ledger.said is not None and re.search(r"\brunning\b", ledger.said.text)
        return "nothing is running" if _RUNS.search(told) and not at_work and not said else ""

    def _denied(self, told: "_Told") -> str:
        """The facts deny a claim."""
        if told.is_done and (refused := refused_part(told.phrase, self._ledger)):
            return f"this was refused: {refused}"
        if told.is_done and names_unwritten(told.phrase, self._ledger):
            return f"this was not written: {told.phrase}"
        wrong = any(decided(claim, told.phrase, told.clause, self._ledger) is False for claim in told.claims)
        return f"the facts say otherwise: {told.phrase}" if wrong else ""

    def _is_heard(self, told: "_Told", *, foreign: bool) -> bool:
        """The facts show each deed and result, or the agent says the same of the same. Where files were changed, how
        the work on them is called is a matter of taste, and for a reader."""
        if told.is_done and tells_unwritten(told.phrase, self._ledger):
            return False
        names = [lowered(name) for name in code_in(told.phrase) if not _HASH.match(name)]
        about = frozenset[str]() if foreign else things(told.phrase)
        for claim in told.claims:
            taste = claim.name == "finish" or (claim.name == "work" and self._ledger.changed_files)
            if claim.holds and not taste and decided(claim, *told[:2], self._ledger) is None:
                deeds = (_Said(lowered(text), roots_in(text), [claim]) for text in shown(claim, self._ledger))
                if not any(said.bears_out(claim, about, names) for said in (*deeds, *self._said)):
                    return False
        return True

    def _turned(self, clause: str) -> str:
        """The agent said the same words and denied them, or the other way round, and never said them so."""
        about, denied = frozenset(root for root in roots_in(clause) if len(root) > 3), is_denied(clause)
        same = [said for said in self._said if len(about) >= 3 and len(about - said.roots) * 10 <= len(about)]
        return "the session says this otherwise" if same and all(is_denied(s.text) != denied for s in same) else ""


def _language_of(texts: Iterable[str]) -> str:
    """The language of some texts; "" when there are no words to tell it by."""
    fold = LanguageFold()
    for text in texts:
        fold.feed(text)
    return fold.language(default="")


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            if key not in _UNTOLD:
                yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from _leaves(item)
    elif not isinstance(value, bool):
        yield words_of(value)


def _counts(ledger: Ledger) -> set[str]:
    """Counts that a sentence may state although no entry spells them."""
    counts = {len(ledger.changed_files), len(ledger.commits), ledger.command_count, len(ledger.goals)}
    counts |= {sum(not file.deleted for file in ledger.changed_files), sum(file.deleted for file in ledger.files)}
    counts |= {len(ledger.agents), len(ledger.running_agents), ledger.user_turns, len(ledger.refused)}
    if ledger.todos:
        counts |= {ledger.todos.done, len(ledger.todos.items), len(ledger.todos.items) - ledger.todos.done}
    for run in ledger.tests:
        counts |= {run.passed or 0, run.failed or 0, (run.passed or 0) + (run.failed or 0)}
    return {str(count) for count in counts}
