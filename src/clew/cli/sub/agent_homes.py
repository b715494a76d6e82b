"""Whose sessions are looked at, and where: the user's settings, then `--agent` and `--home`."""

import os
from pathlib import Path

from clew.catalog.find_session import find_session
from clew.catalog.found_session import OWN, FoundSession
from clew.cli.run.choose_session import chooser
from clew.config.load import load_settings
from clew.config.schema import Foreign
from clew.foreign.registry import READERS, agent_name
from clew.system.home import clew_home
from clew.transcript.errors import SessionNotFound
from clew.transcript.log.store import SessionStore


def chosen_agents(name: str) -> list[str] | None:
    """The agents to list: the one asked for, else all (None), or only clew where the settings leave others out.

    Raises ValueError for a name nobody has."""
    if name != "all":
        return [known_agent(name)]
    return None if foreign_settings().enabled else [OWN]


def chosen_homes(pairs: list[str]) -> dict[str, Path]:
    """Homes of the settings, overridden by `AGENT=DIR` pairs. Raises ValueError for what cannot be meant."""
    homes = {known_agent(name): Path(folder).expanduser() for name, folder in foreign_settings().homes.items()}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not equals or not folder:
            raise ValueError(f"--home {pair!r} is not of the form AGENT=DIR")
        path = Path(folder).expanduser()
        if not path.exists():
            raise ValueError(f"--home {name}: {folder} does not exist")
        homes[known_agent(name)] = path
    return homes


def known_agent(name: str) -> str:
    """An agent by any of its names; ValueError lists those there are."""
    found = agent_name(name)
    if found != OWN and found not in READERS:
        raise ValueError(f"no agent named {name!r}; there are {', '.join([OWN, *sorted(READERS)])} and all")
    return found


def foreign_settings() -> Foreign:
    """What the user set; broken layers are `clew doctor`'s matter, reading sessions goes on without them."""
    loaded = load_settings(home=clew_home(), project_root=None, trusted=False, env=os.environ, lenient=True)
    return loaded.settings.foreign


def named_session(query: str, homes: dict[str, Path]) -> FoundSession:
    """A session by path, id, title or words; on a terminal the user chooses among several. Raises TranscriptError; a
    path that is not there is called one."""
    agents = chosen_agents("all")
    try:
        return find_session(SessionStore(clew_home()), query, here(), homes=homes, agents=agents, choose=chooser())
    except SessionNotFound as error:
        if "/" in query and not any(letter.isspace() for letter in query) and not os.path.lexists(query):
            raise SessionNotFound(f"{query}: no such file, and no session fits it") from error
        raise


def here() -> Path:
    """The current directory, or the root where it was removed: reading sessions needs none."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")
