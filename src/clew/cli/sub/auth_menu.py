"""The menu of `clew auth`: a key, a server on this machine, or any OpenAI-compatible address."""

import asyncio
import getpass
from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec.structs import replace

from clew.cli.sub.auth import (
    Refused,
    complain,
    key_from_person,
    key_in,
    models_at,
    standing_in_the_way,
    status_lines,
    tell,
    try_way,
)
from clew.config.errors import SettingsError
from clew.host.workspace import Workspace
from clew.llm.errors import LLMError
from clew.llm.models.connect import all_rows
from clew.llm.models.target import Secret
from clew.llm.probe.local_servers import local_servers
from clew.parts.models.auth_status import auth_status
from clew.parts.models.connecting import Way, take

WAYS = (
    "A key of a provider",
    "A server on this machine (Ollama, llama.cpp, vLLM, LM Studio)",
    "Another OpenAI-compatible address",
    "Leave everything as it is",
)
LISTED = 30


def menu(workspace: Workspace) -> int:
    """Ask which way, what it needs, whether to try it; then write. Enter without an answer leaves."""
    tell(status_lines(auth_status(workspace)))
    try:
        match chosen("How do you want to reach a model?", WAYS):
            case 0:
                way = by_key(workspace)
            case 1:
                way = by_local_server(workspace)
            case 2:
                way = by_address(workspace)
            case _:
                way = None
        if way is None:
            tell(["Nothing was changed."])
            return 0
        if yes("Try it now, with one cheap request?"):
            try_way(way, workspace)
        tell([*take(way, workspace.home), *standing_in_the_way(way, workspace.env)])
    except (EOFError, KeyboardInterrupt):
        tell(["", "Nothing was changed."])
        return 130
    except (Refused, SettingsError, LLMError) as error:
        return complain(str(error), 1)
    return 0


def by_key(workspace: Workspace) -> Way | None:
    """A provider of the table, and its key."""
    rows = [row for row in all_rows(workspace.settings.providers).values() if not row.local and row.keys]
    picked = chosen("Which provider?", [row.label or row.name for row in rows])
    if picked is None:
        return None
    row = rows[picked]
    way = Way(provider=row.name, key=key_from_person(row))
    if not row.default_model:
        return _with_model(way, asked("Model or deployment:"))
    return _with_model(way, asked(f"Model [{row.default_model}]:") or row.default_model)


def by_local_server(workspace: Workspace) -> Way | None:
    """One that answers now."""
    servers = asyncio.run(local_servers(workspace.env, workspace.settings.providers))
    if not servers:
        tell(["No server answers on this machine. Start one (for example: ollama serve), then run clew auth again."])
        return None
    offered = [(server.provider, model) for server in servers for model in server.models][:LISTED]
    if not offered:
        raise Refused("a server answers here, but it offers no model")
    picked = chosen("Which model?", [f"{provider}/{model}" for provider, model in offered])
    return Way(provider=offered[picked][0], model=offered[picked][1]) if picked is not None else None


def by_address(workspace: Workspace) -> Way | None:
    """Where it is, what to call it, its key if it has one, and the model."""
    url = asked("Address (the part before /chat/completions):")
    if not url:
        return None
    url = url if "://" in url else f"https://{url}"
    suggested = name_for(url)
    name = asked(f"Name for it [{suggested}]:") or suggested
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise Refused(f"{name!r} cannot name a provider: use letters, digits, - and _")
    typed = getpass.getpass("Key (it is not shown; Enter: none): ")
    way = Way(provider=name, base_url=url, key=key_in(typed) if typed.strip() else Secret(""))
    offered = models_at(way, workspace)[:LISTED]
    if not offered:
        return _with_model(way, asked("Model:"))
    picked = chosen("Which model?", offered)
    return _with_model(way, offered[picked]) if picked is not None else None


def name_for(url: str) -> str:
    """A short name from the host: `llm.corp.example` is `corp`."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    parts = [part for part in host.split(".") if part and not part.isdigit()]
    word = (parts[-2] if len(parts) > 1 else parts[0] if parts else "") or "server"
    return word if word.replace("-", "").isalnum() and word.isascii() else "server"


def _with_model(way: Way, model: str) -> Way | None:
    """None: no model was named, so nothing can be used."""
    return replace(way, model=model) if model else None


def chosen(question: str, options: Sequence[str]) -> int | None:
    """The number of an answer, from 0; None: none was given."""
    tell(["", question, *(f"  {number:>2}. {option}" for number, option in enumerate(options, 1))])
    while answer := asked("Number (Enter: leave):"):
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(options):
            return int(answer) - 1
        tell([f"Type a number from 1 to {len(options)}."])
    return None


def yes(question: str) -> bool:
    """Enter is yes."""
    return asked(f"{question} [Y/n]").lower() in ("", "y", "yes")


def asked(question: str) -> str:
    """One line."""
    return input(f"{question} ").strip()
