"""Whose sessions are looked at, where, and which one is meant: asked of the hub, and of a person where several fit."""

import os

from clew.cli.run.choose_session import can_choose, choose_session
from clew.cli.sub.place import ask, this_place_if_any
from clew.protocol.lookups.base import LookupRefused, NothingFits
from clew.protocol.lookups.catalog import ChooseAgents, NamedSession, NameSession

OWN = "clew"
"""The agent whose sessions can be gone on with in place: us."""


def chosen_agents(name: str) -> tuple[str, ...] | None:
    """The agents to list: the one asked for, else all (None), or only clew where the settings leave others out.

    Raises LookupMisused for a name nobody has."""
    return ask(this_place_if_any(), ChooseAgents(agent=name)).agents


def chosen_homes(pairs: list[str]) -> dict[str, str]:
    """Homes of the settings, overridden by `AGENT=DIR` pairs. Raises LookupMisused for what cannot be meant."""
    return ask(this_place_if_any(), ChooseAgents(homes=tuple(pairs))).homes


def named_session(query: str, homes: dict[str, str]) -> NamedSession:
    """A session by path, id, title or words; on a terminal the user chooses among several. Raises LookupRefused; a
    path that is not there is called one."""
    try:
        return the_session(NameSession(query=query, agents=chosen_agents("all"), homes=homes, choosing=can_choose()))
    except NothingFits as error:
        if "/" in query and not any(letter.isspace() for letter in query) and not os.path.lexists(query):
            raise NothingFits(f"{query}: no such file, and no session fits it") from error
        raise


def own_session(query: str) -> NamedSession:
    """One of ours by any of its names, or a file. Raises LookupRefused."""
    return the_session(NameSession(query=query, agents=(OWN,), choosing=can_choose()))


def the_session(lookup: NameSession) -> NamedSession:
    """The one that is meant. Raises LookupRefused."""
    named = ask(this_place_if_any(), lookup)
    chosen = named.session or choose_session(named.about, named.candidates)
    if chosen is None:
        raise LookupRefused("no session was chosen")
    return chosen
