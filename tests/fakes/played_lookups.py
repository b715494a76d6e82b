"""Lookups of a Client that a test plays: each waits until the test gives an answer of its kind, or refuses it."""

import asyncio
from typing import Any, TypeVar, cast, get_args

from clew.protocol.lookups.base import Answer, Lookup, LookupRefused

A = TypeVar("A", bound=Answer)


def answer_kind(lookup: Lookup[Any]) -> type[Answer]:
    """The class of its answer."""
    bases: tuple[Any, ...] = type(lookup).__orig_bases__  # pyright: ignore[reportAttributeAccessIssue] (generic classes have it)
    return get_args(bases[0])[0]


class PlayedLookups:
    """Remembers what was looked up; whoever derives from it records it as well."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Lookup[Any], asyncio.Future[Answer]]] = []

    async def look_up(self, lookup: Lookup[A]) -> A:
        found: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiting.append((lookup, found))
        self.looked_up(lookup)
        return cast(A, await found)

    def looked_up(self, lookup: Lookup[Any]) -> None:
        """Somebody asked."""

    def answer(self, answer: Answer) -> None:
        """To the newest that waits for such an answer; older ones of the same kind get none."""
        fitting = [item for item in self.waiting if answer_kind(item[0]) is type(answer) and not item[1].done()]
        assert fitting, f"nobody waits for {type(answer).__name__}"
        fitting[-1][1].set_result(answer)

    def refuse(self, kind: type[Lookup[Any]], reason: str) -> None:
        """The newest of this kind."""
        fitting = [item for item in self.waiting if isinstance(item[0], kind) and not item[1].done()]
        fitting[-1][1].set_exception(LookupRefused(reason))
