"""What a session holds, as names, numbers, words and statements to look claims up in."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from msgspec import to_builtins

from clew.ledger.facts import Ledger
from clew.ledger.language import LanguageFold
from clew.ledger.words import is_wide
from clew.orient.dialog import Line, words_of

_WORD = re.compile(r"[^\W\d_]{2,}")
NUMBER = re.compile(r"(?<![\w.#-])v?\d+(?:[.,:]\d+)*(?!\w)")
_SPLIT = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？；])|;\s+|\s[—–]\s")
_COMMAND_CHARS = 200
_STATEMENT_CHARS = 600
_STATEMENTS = 4_000
_UNTOLD = ("source", "state_source", "resolved_by", "costs", "turn", "order", "entries", "at", "last_entry_id", "recap")
_IRREGULAR_WORDS = """
    written write wrote write built build ran run found find kept keep broken break broke break shown show sent send
    gone go went go made make chosen choose chose choose took take taken take gave give given give left leave led lead
"""
_IRREGULAR: dict[str, str] = dict(zip(_IRREGULAR_WORDS.split()[::2], _IRREGULAR_WORDS.split()[1::2], strict=True))
_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ers", "ies", "ied", "ed", "es", "er", "ly", "s", "e")


class Statement(NamedTuple):
    """One sentence that somebody said, or one fact put as a sentence."""

    text: str
    stems: frozenset[str]
    """What it is about."""


class Evidence:
    """Everything a session holds. Tools' texts bear out words and names, never what was done or how it went."""

    def __init__(self, ledger: Ledger, dialog: Sequence[Line]) -> None:
        self.ledger = ledger
        facts = [text for key, value in _told(ledger) if key not in _UNTOLD for text in _leaves(value)]
        self.text = "\n".join([*facts, *(line.text for line in dialog)]).casefold().replace("\\", "/")
        self.stems = {stem(word) for word in set(_WORD.findall(self.text))}
        wide = {char for char in set(self.text) if is_wide(char)}
        self.pairs = {self.text[at : at + 2] for at, char in enumerate(self.text if wide else "") if char in wide}
        spoken = [line for line in dialog if not line.by_tool]
        asked = max((at for at, line in enumerate(spoken) if line.by_user), default=0)
        self.said = _statements(spoken)
        self.latest = _statements(spoken[asked:])
        self.done = [Statement(deed, stems_of(of.casefold())) for deed, of in _deeds(ledger)]
        self.counts = _counts(ledger)
        self.numbers = set(NUMBER.findall(self.text)) | self.counts
        self.language = language_of(line.text for line in dialog[-20:] if not line.by_tool)

    def holds(self, name: str) -> bool:
        """Whether a name occurs: as it is, or all its parts as words of their own."""
        wanted = name.casefold().strip("`'\"./ ")
        if not wanted or self.occurs(wanted):
            return True
        parts = re.findall(r"[\w.-]{2,}", wanted)
        return len(parts) > 1 and "/" not in wanted and all(map(self.occurs, parts))

    def occurs(self, word: str) -> bool:
        """Whether it stands somewhere, as a word of its own."""
        return word in self.text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text) is not None

    def knows(self, word: str) -> bool:
        """Whether the session holds this word in some form."""
        return stem(word) in self.stems


def _statements(lines: Sequence[Line]) -> list[Statement]:
    pieces = [piece[:_STATEMENT_CHARS] for line in lines for piece in _SPLIT.split(line.text.casefold())]
    return [Statement(piece, stems_of(piece)) for piece in pieces[-_STATEMENTS:] if piece.strip()]


def stem(word: str) -> str:
    """So much of a word that its forms fall together."""
    word = _IRREGULAR.get(word, word)
    word = word.removeprefix("re") if len(word) > 6 else word.removeprefix("un") if len(word) > 7 else word
    if not word.endswith(_ENDINGS):
        return word[:6]
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(ending)[:6]


def stems_of(text: str) -> frozenset[str]:
    """The words of a text; for scripts without spaces its pairs of characters."""
    if text.isascii():
        return frozenset(map(stem, set(_WORD.findall(text))))
    found = {stem(word) for word in set(_WORD.findall(text)) if not is_wide(word[0])}
    wide = {text[at : at + 2] for at, char in enumerate(text[:-1]) if is_wide(char) and is_wide(text[at + 1])}
    return frozenset(found | wide)


def language_of(texts: Iterable[str]) -> str:
    """The language of some texts; "" when there are no words to tell it by."""
    fold = LanguageFold()
    for text in texts:
        fold.feed(text)
    return fold.language(default="")


def _told(ledger: Ledger) -> Iterable[tuple[str, object]]:
    return to_builtins(ledger).items()


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


def _deeds(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """The facts as statements, so that one rule looks claims up in both: what was done, and to what."""
    for file in ledger.files:
        if file.reads:
            yield "read", file.path
        if file.created:
            yield "created, wrote, added", file.path
        if file.edits:
            yield "changed, added", file.path
        if file.deleted:
            yield "deleted", file.path
        if file.failed_edits:
            yield "failed", f"edit {file.path}"
    for command in ledger.commands:
        yield "failed" if command.failed else "ran", command.command.partition("\n")[0][:_COMMAND_CHARS]
    if ledger.doing is not None:
        yield "ran, running", ledger.doing.text
    for item in ledger.todos.items if ledger.todos else ():
        yield "finished, done" if item.status == "completed" else "pending", item.content
    for agent in ledger.agents:
        yield f"agent {agent.status}", f"agent {agent.name} {agent.task}"
    for approval in ledger.approvals:
        yield "refused" if approval.decision == "deny" else "asked", f"{approval.tool} {approval.subject}"
    for error in ledger.current_errors:
        yield "failed", f"{error.where} {error.text}"


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
