"""Whose sessions are looked at, and where each agent keeps them, as the user set it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clew.catalog.found_session import OWN
from clew.config.schema import Foreign
from clew.foreign.registry import READERS, agent_name


class AgentPlaces(NamedTuple):
    """`agents`: None for all of them."""

    agents: Sequence[str] | None = None
    homes: Mapping[str, Path] = {}


def agent_places(foreign: Foreign) -> AgentPlaces:
    """The same for every list and for every way to name a session. A home of an agent that nobody knows is nobody's."""
    homes = {agent_name(name): Path(folder).expanduser() for name, folder in foreign.homes.items()}
    known = {name: folder for name, folder in homes.items() if name == OWN or name in READERS}
    return AgentPlaces(None if foreign.enabled else (OWN,), known)
