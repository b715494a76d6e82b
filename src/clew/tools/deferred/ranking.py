"""Ranking short descriptions by a few words: BM25 over weighted fields, in any mixture of languages. Pure.

Tools and skills are found with it. `tests/unit/tools/test_ranking.py` holds it to a set of 400 tools with questions.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

K1 = 1.2
"""How soon more of the same word stops counting."""
LENGTH = 0.75
"""How much a long field is held against a word in it."""
BEGINS = 0.5
"""What a word counts that only begins like the one asked for."""
MIN_BEGINNING = 4
MAX_BEGINNINGS = 20
MAX_QUERY_WORDS = 64

_RUN = re.compile(r"[^\W_]+")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_SCRIPTS = re.compile(rf"[{_HAN}]+|[^{_HAN}]+")
_IS_HAN = re.compile(rf"[{_HAN}]")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z\d]+|\d+")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ing", ""), ("ed", ""))


class Document(Struct, frozen=True, kw_only=True):
    """Something to be found: a name, and texts that each weigh something."""

    name: str
    fields: tuple[tuple[str, float], ...]


class RankedHit(Struct, frozen=True, kw_only=True):
    """A document that was found."""

    name: str
    score: float


class Ranking:
    """All documents, ready to be asked. What a word adds to a document's score is worked out once."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._names = [document.name for document in documents]
        counted = [weighed(document) for document in documents]
        lengths = [sum(len(text) for text, _ in document.fields) or 1 for document in documents]
        usual = sum(lengths) / len(lengths) if lengths else 1
        holders: dict[str, list[tuple[int, float]]] = {}
        for at, words in enumerate(counted):
            damping = K1 * (1 - LENGTH + LENGTH * lengths[at] / usual)
            for word, weight in words.items():
                holders.setdefault(word, []).append((at, weight / (weight + damping)))
        self._holders: dict[str, list[tuple[int, float]]] = {}
        for word, found in holders.items():
            rarity = math.log(1 + (len(documents) - len(found) + 0.5) / (len(found) + 0.5))
            self._holders[word] = [(at, rarity * part) for at, part in found]
        self._vocabulary = sorted(holders)

    def search(self, query: str, *, limit: int, among: frozenset[str] | None = None) -> list[RankedHit]:
        """The best first. `among`: only these names."""
        scores: dict[int, float] = {}
        for word in list(dict.fromkeys(words_in(query)))[:MAX_QUERY_WORDS]:
            for at, part in self._matching(word):
                scores[at] = scores.get(at, 0.0) + part
        hits = [
            RankedHit(name=self._names[at], score=score)
            for at, score in scores.items()
            if among is None or self._names[at] in among
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.name))
        return hits[:limit]

    def _matching(self, word: str) -> Iterable[tuple[int, float]]:
        """Who has this word, or else one that begins with it: `repo` finds repositories."""
        if word in self._holders or len(word) < MIN_BEGINNING or _IS_HAN.match(word):
            return self._holders.get(word, ())
        found: dict[int, float] = {}
        start = bisect_left(self._vocabulary, word)
        for longer in self._vocabulary[start : start + MAX_BEGINNINGS]:
            if not longer.startswith(word):
                break
            for at, part in self._holders[longer]:
                found[at] = max(found.get(at, 0.0), part * BEGINS)
        return found.items()


def weighed(document: Document) -> dict[str, float]:
    """How much of each word is in it, all fields together. Saying a word often in one field gains nothing."""
    words: dict[str, float] = {}
    for text, weight in document.fields:
        for word in set(words_in(text)):
            words[word] = words.get(word, 0.0) + weight
    return words


def words_in(text: str) -> Iterator[str]:
    """The words of a text in the form in which they are compared: `mcp__slack__sendMessage` has slack, send, message;
    scripts without spaces come in pairs of letters."""
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        for piece in _SCRIPTS.findall(run):
            if _IS_HAN.match(piece):
                yield from (piece[at : at + 2] for at in range(max(len(piece) - 1, 1)))
                continue
            humps = _HUMP.findall(piece)
            if len(humps) > 1:
                yield stem(piece.lower())
            yield from (stem(hump.lower()) for hump in humps)


def stem(word: str) -> str:
    """The word without the commonest English endings."""
    if len(word) < 5 or not word.isascii():
        return word[:-1] if len(word) == 4 and word.endswith("s") and not word.endswith("ss") else word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word
