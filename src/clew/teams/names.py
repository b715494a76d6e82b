"""The one rule for names of teams and members, and the one slug that becomes the name of a file."""

import re
import unicodedata
from collections.abc import Iterable

MAX_NAME_CHARS = 40
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LEAD = "lead"
"""The address of whoever leads a team."""
EVERYBODY = "*"
RESERVED = frozenset({LEAD, "main", "parent", "user", "all", "everybody", "clew", "nobody"})
"""Addresses that mean somebody already."""


class BadName(ValueError):
    """A name that cannot be one; the words say why, for a person or a model."""


def slug_of(name: str) -> str:
    """What stands for a name in paths: two names with the same slug are the same to us."""
    return re.sub(r"[_-]+", "-", name.lower()).strip("-")


def checked_name(name: str, what: str, taken: Iterable[str] = ()) -> str:
    """The name as it may be used. `what`: whose it is, for the words. `taken`: names that there are already. Raises
    BadName."""
    name = name.strip()
    shown = repr(name[:MAX_NAME_CHARS])
    if not name:
        raise BadName(f"{what} needs a name")
    if "@" in name:
        raise BadName(f"{shown} is no name of {what}: names have no @; use the bare name")
    if len(name) > MAX_NAME_CHARS:
        raise BadName(f"{shown}… is no name of {what}: it has more than {MAX_NAME_CHARS} characters")
    if not NAME.fullmatch(name):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        offer = re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_0123456789")
        hint = f"; {offer} would be one" if offer and NAME.fullmatch(offer) else ""
        raise BadName(f"{shown} is no name of {what}: use letters a to z, digits, - and _, with a letter first{hint}")
    slug = slug_of(name)
    if slug in RESERVED:
        raise BadName(f"{shown} is no name of {what}: it means somebody else already")
    for other in taken:
        if slug_of(other) == slug:
            same = "is taken" if other == name else f"is too much like {other}"
            raise BadName(f"the name {shown} {same}: choose another one")
    return name
