"""Lookups: what a front end wants to know now. One answer, to the asker; nothing of it is in the log.

A lookup is a class with the class of its answer: `class ListRules(Lookup[RulesListed], tag="rules.list")`. Both survive
JSON by construction, so a front end in another process looks things up the same way.
"""

from typing import ClassVar, Generic, TypeVar

from msgspec import Struct

from clew.protocol.base import Rights

A = TypeVar("A", bound="Answer")


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answer"):
    """What a lookup found."""


class Lookup(Struct, Generic[A], frozen=True, kw_only=True, omit_defaults=True, tag_field="lookup"):
    """Answered by one `A`, or refused with words."""

    needs: ClassVar[Rights] = Rights.WATCH
    """What a connection must be allowed for it; more for those that also change something."""


class LookupRefused(Exception):
    """There is no answer; the words say why."""

    def __init__(self, words: str, notes: tuple[str, ...] = ()) -> None:
        """`notes`: what was noticed on the way, a line each."""
        super().__init__(words)
        self.notes = notes


class NothingFits(LookupRefused):
    """Nothing is what the question names."""


class LookupMisused(LookupRefused):
    """The question makes no sense: a name that nobody has, arguments that contradict each other."""
