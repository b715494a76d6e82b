"""What a session holds: names, numbers and words to look up, and statements, said or done, to hold claims against."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, cast

from msgspec import to_builtins

from clew.ledger.facts import Ledger
from clew.ledger.language import LanguageFold
from clew.orient.claims import NUMBER, Claim, claims_in, lowered, pairs_in, stems_in
from clew.orient.dialog import Line, words_of
from clew.orient.vocabulary import WORK

ENOUGH = 0.5
"""How much of what a claim is about must stand in the statement that bears it out."""
_WHOLE = re.compile(r"\b(?:all|every|everything|entire|completely|fully|whole|both|each|only|just|solely)\b")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？；])|;\s+|\s[—–]\s")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_UNTOLD = ("source", "state_source", "resolved_by", "costs", "turn", "order", "entries", "at", "last_entry_id", "recap")
_STATEMENT_CHARS = 600
_STATEMENTS = 4_000
_COMMAND_CHARS = 200

Kind = Literal["said", "file", "command", "todo", "agent", "refused", "error"]


def stands_in(word: str, text: str) -> bool:
    """Whether it is there, as a word of its own."""
    return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


class Statement:
    """One sentence that somebody said, or one fact put as a sentence."""

    def __init__(
        self,
        text: str,
        *,
        kind: Kind = "said",
        by_user: bool = False,
        latest: bool = True,
        claim: Claim | None = None,
    ) -> None:
        self.text = lowered(text)
        self.kind: Kind = kind
        self.stems = stems_in(text)
        self.by_user = by_user
        self.latest = latest
        self._claim = claim

    @cached_property
    def claims(self) -> list[Claim]:
        """What it claims; a question asserts nothing."""
        if self._claim is not None:
            named = claims_in(self.text, every=True) if self.kind == "command" else []
            return [self._claim, *(claim._replace(asserted=self._claim.word == "ran") for claim in named)]
        asks = self.text.rstrip().endswith(("?", "？"))
        found = claims_in(self.text, every=True)
        return [claim._replace(asserted=False) for claim in found] if asks else found

    def share(self, things: Sequence[str], names: Sequence[str]) -> float:
        """How much of this stands in it."""
        hits = sum(thing in self.stems for thing in things) + sum(name in self.text for name in names)
        return hits / max(1, len(things) + len(names))

    def covers(self, things: Sequence[str], names: Sequence[str], enough: float) -> bool:
        """Whether it is about these: all of the names, enough of the things."""
        named = all(stands_in(name.strip("`'\"./ "), self.text) for name in names)
        return named and (not things or self.share(things, ()) >= enough)


class Evidence:
    """Everything a session holds. Tools' texts bear out words and names, never what was done or how it went."""

    def __init__(self, ledger: Ledger, dialog: Sequence[Line]) -> None:
        self.ledger = ledger
        told = [text for key, value in to_builtins(ledger).items() if key not in _UNTOLD for text in _leaves(value)]
        self.text = lowered("\n".join([*told, *(line.text for line in dialog)]))
        self.stems = stems_in(self.text)
        self.pairs = pairs_in(self.text)
        self.said = _statements([line for line in dialog if not line.by_tool])
        self.done = list(_deeds(ledger))
        self.counts = _counts(ledger)
        spoken = (line.text for line in dialog if not line.by_tool)
        self.numbers = {number for text in (*told, *spoken) for number in NUMBER.findall(lowered(text))} | self.counts
        self.language = language_of(line.text for line in dialog[-20:] if not line.by_tool)

    @cached_property
    def told(self) -> list[Statement]:
        """What the agent said."""
        return [statement for statement in self.said if not statement.by_user]

    @cached_property
    def last_words(self) -> list[Statement]:
        """What the agent said last."""
        return [statement for statement in self.told if statement.latest]

    def holds(self, name: str) -> bool:
        """Whether a name occurs: as it is, or all its parts as words of their own."""
        wanted = lowered(name).strip("`'\"./ ")
        if not wanted or self.occurs(wanted):
            return True
        parts = re.findall(r"[\w.-]{2,}", wanted)
        return len(parts) > 1 and "/" not in wanted and all(map(self.occurs, parts))

    def occurs(self, word: str) -> bool:
        """Whether it stands somewhere, as a word of its own."""
        return stands_in(word, self.text)

    def heard(
        self,
        claim: Claim,
        things: Sequence[str],
        names: Sequence[str],
        *,
        last: bool = False,
        whole: bool = False,
        enough: float = ENOUGH,
    ) -> Statement | None:
        """A fact that shows this of these things, or where the agent says so; what was asked for or planned shows
        nothing. `last`: among the agent's last words only, and in so many words. `whole`: said of all or only these,
        which no single fact shows."""
        facts = [] if last or whole else self.done
        for statement in (*facts, *reversed(self.last_words if last else self.told)):
            if (
                statement.covers(things, names, enough)
                and (not whole or is_whole(statement.text))
                and any(
                    other.asserted and other.holds == claim.holds and _same(claim, other, exactly=last)
                    for other in statement.claims
                )
            ):
                return statement
        return None


def is_whole(text: str) -> bool:
    """Whether it speaks of all of something, or of nothing else."""
    return _WHOLE.search(text) is not None


def _same(claim: Claim, other: Claim, *, exactly: bool) -> bool:
    """Whether one bears out the other."""
    if claim.name == "test" and other.name in ("test", "run", "pass"):
        return True
    return claim.name == other.name or (not exactly and claim.name in WORK and other.name in WORK)


def language_of(texts: Iterable[str]) -> str:
    """The language of some texts; "" when there are no words to tell it by."""
    fold = LanguageFold()
    for text in texts:
        fold.feed(text)
    return fold.language(default="")


def _statements(lines: Sequence[Line]) -> list[Statement]:
    answered = [at for at, line in enumerate(lines) if line.by_user and not all(after.by_user for after in lines[at:])]
    asked = max(answered, default=0)
    spoken = [
        (at, line.by_user, sentence[:_STATEMENT_CHARS])
        for at, line in enumerate(lines)
        for sentence in _SENTENCES.split(line.text if line.by_user else _FENCED.sub("\n", line.text))
        if sentence.strip()
    ]
    return [Statement(sentence, by_user=by_user, latest=at >= asked) for at, by_user, sentence in spoken[-_STATEMENTS:]]


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


def _deeds(ledger: Ledger) -> Iterator[Statement]:
    """The facts as statements, so that one rule looks claims up in both: what was done, and to what."""

    def fact(kind: Kind, name: str, word: str, of: str, *, holds: bool = True) -> Statement:
        return Statement(of, kind=kind, claim=Claim(name, word, holds))

    asked = {goal.turn: goal.text for goal in ledger.goals if not goal.text.rstrip().endswith(("?", "？"))}
    for file in ledger.files:
        for_what = f"{file.path} {asked.get(file.turn, '')}"  # who changes a file does what was asked for
        if file.created and not file.deleted:
            yield fact("file", "make", "created", for_what)
        if file.edits:
            yield fact("file", "change", "changed", for_what)
        if file.deleted:
            yield fact("file", "remove", "deleted", file.path)
        if file.failed_edits:
            yield fact("file", "fail", "failed", f"edit {file.path}")
    for command in ledger.commands:
        text = command.command.partition("\n")[0][:_COMMAND_CHARS]
        yield fact("command", "fail" if command.failed else "run", "failed" if command.failed else "ran", text)
    for item in ledger.todos.items if ledger.todos else ():
        yield fact("todo", "make", "added", f"task todo list {item.content}")
        yield fact("todo", "finish", "done", item.content, holds=item.status == "completed")
    for agent in ledger.agents:
        yield fact("agent", "finish", "done", f"agent {agent.name} {agent.task}", holds=agent.status == "finished")
    for approval in ledger.approvals:
        if approval.decision == "deny":
            yield fact("refused", "refuse", "refused", f"{approval.tool} {approval.subject}")
    for error in ledger.current_errors:
        yield fact("error", "fail", "failed", f"{error.where} {error.text}")


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
