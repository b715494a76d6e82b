"""Tagged unions made from the classes themselves: a new event, op or ask is one class, and no list names it."""

from typing import Any, Union

from msgspec import Struct


def leaves(base: type[Struct]) -> tuple[type[Struct], ...]:
    """Every class below this one that has no subclass of its own and is known by now, in order of definition."""
    found: list[type[Struct]] = []
    for kind in base.__subclasses__():
        found += leaves(kind) or (kind,)
    return tuple(found)


def union_of(base: type[Struct]) -> Any:
    """The union of these, by whose tags msgspec tells them apart. Classes that are defined later are not in it."""
    return Union[leaves(base)]  # noqa: UP007  (`|` cannot join a tuple that is only known at run time)
