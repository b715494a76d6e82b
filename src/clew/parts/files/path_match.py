"""Which paths fit a few letters, best first. Pure, and quick enough to be asked with every key.

Paths are kept short ones first, so that in each rank the first that fit are the best and the rest need not be looked
at. Only letters that are scattered over a path cost a look at all of them, by one search over the names as one text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice

MAX_SCORED = 500
"""Paths with scattered letters that are compared with each other."""
MAX_QUERY_CHARS = 200
_SEPARATOR = "\0"


class PathMatcher:
    """All paths of a project; a directory ends with a slash."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: list[str] = sorted(paths, key=lambda path: (len(path), path))
        self._lower = [path.lower() for path in self.paths]
        self._names = [_name(path) for path in self._lower]
        self._text = _SEPARATOR + "".join(path + _SEPARATOR for path in self._lower)
        self._starts: list[int] = []
        at = 0
        for path in self._lower:
            self._starts.append(at)
            at += len(path) + 1

    def find(self, query: str, limit: int) -> tuple[str, ...]:
        """The name begins with it; holds it; the path begins with it; holds it; has its letters in this order, those
        at the beginning of words first. Shorter paths before longer ones."""
        wanted = query.lower().removeprefix("./")[:MAX_QUERY_CHARS]
        if limit <= 0 or _SEPARATOR in wanted:
            return ()
        if not wanted.strip():
            top = sorted(islice((path for path in self.paths if "/" not in path[:-1]), limit), key=str.lower)
            return tuple(top) or tuple(self.paths[:limit])
        found: dict[int, None] = {}
        for rank in self._ranks(wanted):
            for index in rank:
                found.setdefault(index)
                if len(found) >= limit:
                    return self._of(found)
        for index in self._scattered("".join(wanted.split())):
            found.setdefault(index)
            if len(found) >= limit:
                break
        return self._of(found)

    def _of(self, indexes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.paths[index] for index in indexes)

    def _ranks(self, wanted: str) -> Iterator[Iterator[int]]:
        if wanted not in self._text:
            return
        if "/" not in wanted.rstrip("/"):
            yield (index for index, name in enumerate(self._names) if name.startswith(wanted))
            yield (index for index, name in enumerate(self._names) if wanted in name)
        yield (index for index, path in enumerate(self._lower) if path.startswith(wanted))
        yield (index for index, path in enumerate(self._lower) if wanted in path)

    def _scattered(self, letters: str) -> list[int]:
        """Each letter up to the next one that is wanted: nothing to try twice, so no query can make it slow."""
        if not letters:
            return []
        steps = "".join(f"[^{re.escape(one)}{_SEPARATOR}]*+{re.escape(one)}" for one in letters)
        hits = islice(re.finditer(_SEPARATOR + steps, self._text), MAX_SCORED)
        indexes = [bisect_right(self._starts, hit.start()) - 1 for hit in hits]
        return sorted(indexes, key=lambda index: (-self._score(index, letters), index))

    def _score(self, index: int, letters: str) -> int:
        """How well scattered letters fit: at the beginning of words, next to each other, in the name."""
        path, lower = self.paths[index], self._lower[index]
        name_at = len(lower) - len(self._names[index])
        return max(_points(path, lower, letters, 0, name_at), _points(path, lower, letters, name_at, name_at) + 1)


def _name(path: str) -> str:
    """The last part, a directory's slash included."""
    return path[path.rfind("/", 0, len(path) - 1) + 1 :]


def _points(path: str, lower: str, letters: str, start: int, name_at: int) -> int:
    """Of one way to lay the letters over the path: each at the next beginning of a word that has it, else at the next
    place. Very low when they do not fit from there."""
    points, last = 0, start - 1
    for letter in letters:
        at = _word_start(path, lower, letter, last + 1)
        follows = lower.startswith(letter, last + 1)
        if follows:
            at = last + 1
        elif at < 0:
            at = lower.find(letter, last + 1)
        if at < 0:
            return -1_000
        points += 3 * _begins_word(path, at) + 2 * (follows and last >= start) + (at >= name_at)
        last = at
    return points


def _word_start(path: str, lower: str, letter: str, start: int) -> int:
    at = lower.find(letter, start)
    while at >= 0 and not _begins_word(path, at):
        at = lower.find(letter, at + 1)
    return at


def _begins_word(path: str, at: int) -> bool:
    if at == 0:
        return True
    before, here = path[at - 1], path[at] if at < len(path) else ""
    return not before.isalnum() or (before.islower() and here.isupper())
