"""`clew auth`: the ways to a model, the one in use, and keys that are kept.

The menu of `clew auth`: a key, a server on this machine, or any OpenAI-compatible address.
"""

import argparse
import asyncio
import getpass
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from clew.cli.sub.place import ask
from clew.config.errors import SettingsError
from clew.config.schema import Provider
from clew.host.workspace import Workspace, open_workspace
from clew.llm.errors import LLMError, UnknownModel
from clew.llm.models.connect import all_rows, resolve
from clew.llm.models.providers import ALIASES, ProviderRow
from clew.llm.models.target import Secret
from clew.llm.probe.local_servers import local_servers
from clew.protocol.lookups.auth import (
    AuthStatus,
    ForgetProvider,
    OfferModels,
    ProviderWay,
    ShowAuth,
    TryModel,
    UseProvider,
)
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.text.terminal_text import sanitize

WAYS = (
    "A key of a provider",
    "A server on this machine (Ollama, llama.cpp, vLLM, LM Studio)",
    "Another OpenAI-compatible address",
    "Leave everything as it is",
)
LISTED = 30


def menu(workspace: Workspace) -> int:
    """Ask which way, what it needs, whether to try it; then write. Enter without an answer leaves."""
    tell(status_lines(ask(workspace, ShowAuth()).status))
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
        tell([*ask(workspace, UseProvider(way=way)).told, *standing_in_the_way(way, workspace.env)])
    except (EOFError, KeyboardInterrupt):
        tell(["", "Nothing was changed."])
        return 130
    except (AuthRefused, SettingsError, LLMError, LookupRefused) as error:
        return complain(str(error), 1)
    return 0


def by_key(workspace: Workspace) -> ProviderWay | None:
    """A provider of the table, and its key."""
    rows = [row for row in all_rows(workspace.settings.providers).values() if not row.local and row.keys]
    picked = chosen("Which provider?", [row.label or row.name for row in rows])
    if picked is None:
        return None
    row = rows[picked]
    way = ProviderWay(provider=row.name, key=key_from_person(row).reveal())
    if not row.default_model:
        return _with_model(way, asked("Model or deployment:"))
    return _with_model(way, asked(f"Model [{row.default_model}]:") or row.default_model)


def by_local_server(workspace: Workspace) -> ProviderWay | None:
    """One that answers now."""
    servers = asyncio.run(local_servers(workspace.env, workspace.settings.providers))
    if not servers:
        tell(["No server answers on this machine. Start one (for example: ollama serve), then run clew auth again."])
        return None
    offered = [(server.provider, model) for server in servers for model in server.models][:LISTED]
    if not offered:
        raise AuthRefused("a server answers here, but it offers no model")
    picked = chosen("Which model?", [f"{provider}/{model}" for provider, model in offered])
    return ProviderWay(provider=offered[picked][0], model=offered[picked][1]) if picked is not None else None


def by_address(workspace: Workspace) -> ProviderWay | None:
    """Where it is, what to call it, its key if it has one, and the model."""
    url = asked("Address (the part before /chat/completions):")
    if not url:
        return None
    url = url if "://" in url else f"https://{url}"
    suggested = name_for(url)
    name = asked(f"Name for it [{suggested}]:") or suggested
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise AuthRefused(f"{name!r} cannot name a provider: use letters, digits, - and _")
    typed = getpass.getpass("Key (it is not shown; Enter: none): ")
    way = ProviderWay(provider=name, base_url=url, key=key_in(typed).reveal() if typed.strip() else "")
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


def _with_model(way: ProviderWay, model: str) -> ProviderWay | None:
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


HELP = "the ways to a model, and the one in use"
ACTIONS = {
    "status": "how the active model is reached, and what is missing",
    "set": "use a provider: save its key, its address or its command, and make it the model",
    "check": "try the active model, or another, with one cheap request",
    "remove": "forget the key of a provider and what was set up for it",
}
MAX_KEY_CHARS = 16 * 1024


class AuthRefused(Exception):
    """What was asked for cannot be done; the words say why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Without an action: a menu on a terminal, else the status."""
    actions = parser.add_subparsers(dest="action", metavar="status|set|check|remove")
    status = actions.add_parser("status", description=ACTIONS["status"], help=ACTIONS["status"])
    status.add_argument("--json", action="store_true", help="print one JSON object")
    put = actions.add_parser("set", description=ACTIONS["set"], help=ACTIONS["set"])
    put.add_argument("provider", help="a name of docs/models.md, or a new one together with --url")
    put.add_argument("--model", metavar="NAME", help="its model to use; default: the provider's own")
    put.add_argument("--url", metavar="URL", help="the address of an OpenAI-compatible server")
    put.add_argument("--key-stdin", action="store_true", help="read the key from stdin instead of asking for it")
    put.add_argument("--no-key", action="store_true", help="it needs none")
    put.add_argument("--check", action="store_true", help="try it with one cheap request; nothing is kept if it fails")
    put.add_argument("--keep", action="store_true", help="only save: the model and the way in use stay as they are")
    put.add_argument("--command", nargs=argparse.REMAINDER, metavar="ARG", help="a command that prints the key; last")
    check = actions.add_parser("check", description=ACTIONS["check"], help=ACTIONS["check"])
    check.add_argument("model", nargs="?", metavar="PROVIDER/MODEL")
    remove = actions.add_parser("remove", description=ACTIONS["remove"], help=ACTIONS["remove"])
    remove.add_argument("provider")


def run(args: argparse.Namespace) -> int:
    """0 when all is well, 1 when a key is missing or refused, 2 when the question makes no sense."""
    try:
        workspace = open_workspace(Path(os.getcwd()), os.environ, lenient=args.action in (None, "status", "remove"))
        match args.action:
            case "set":
                return put(args, workspace)
            case "check":
                return checked(args.model or "", workspace)
            case "remove":
                return removed(args.provider, workspace)
            case _:
                return shown(args, workspace)
    except (SettingsError, UnknownModel, AuthRefused, LookupMisused) as error:
        return complain(str(error), 2)
    except (LLMError, LookupRefused) as error:
        return complain(str(error), 1)


def shown(args: argparse.Namespace, workspace: Workspace) -> int:
    """The status; a person at a terminal who named no action gets the menu."""
    if args.action is None and sys.stdin.isatty() and sys.stdout.isatty():
        return menu(workspace)
    status = ask(workspace, ShowAuth()).status
    if args.action is not None and args.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(status)).decode() + "\n")
    else:
        tell(status_lines(status))
    return 0 if status.ready else 1


def status_lines(status: AuthStatus) -> Iterable[str]:
    """For people."""
    yield f"model    {status.model or 'none'}" + (f"  (chosen by {status.chosen_by})" if status.model else "")
    if status.provider:
        yield f"key      {status.label}: {status.key}"
    if status.address:
        yield f"address  {status.address}"
    if status.saved:
        yield f"saved    keys of {', '.join(status.saved)}"
    yield from (f"note     {note}" for note in status.notes)
    yield from (f"PROBLEM  {problem}" for problem in status.problems)


def put(args: argparse.Namespace, workspace: Workspace) -> int:
    """Work out the way, try it where asked, then write."""
    way = way_of(args, workspace)
    if args.check:
        try_way(way, workspace)
    tell([*ask(workspace, UseProvider(way=way)).told, *standing_in_the_way(way, workspace.env)])
    return 0


def way_of(args: argparse.Namespace, workspace: Workspace) -> ProviderWay:
    """What the arguments mean."""
    row = row_named(args.provider, workspace, url=args.url or "")
    if args.command is not None and (args.key_stdin or not args.command):
        raise AuthRefused("--command takes the program and its arguments, and no key")
    key = Secret("")
    if args.command is None and not args.no_key and not row.local:
        key = key_from_stdin() if args.key_stdin else key_from_person(row)
    way = ProviderWay(provider=row.name, key=key.reveal(), base_url=args.url or "", command=tuple(args.command or ()))
    if args.keep:
        return way
    return msgspec.structs.replace(way, model=args.model or model_of(way, row, workspace))


def row_named(name: str, workspace: Workspace, *, url: str) -> ProviderRow:
    """The provider of this name; with an address it may be new."""
    known = all_rows(workspace.settings.providers)
    found = name if name in known else ALIASES.get(name.lower(), name)
    if found in known:
        return known[found]
    if not url:
        resolve(f"{name}/x", workspace.settings.providers)  # says which one is meant
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise AuthRefused(f"{name!r} cannot name a provider: use letters, digits, - and _")
    return all_rows({name: Provider(base_url=url)})[name]


def model_of(way: ProviderWay, row: ProviderRow, workspace: Workspace) -> str:
    """The provider's own default; of a server, the one it offers."""
    override = workspace.settings.providers.get(row.name, Provider())
    if not way.base_url and (known := next(iter(override.models), "") or row.default_model):
        return known
    offered = models_at(way, workspace)
    if len(offered) == 1:
        return offered[0]
    few = f": {', '.join(sanitize(name, one_line=True) for name in offered[:12])}" if offered else ""
    raise AuthRefused(f"which model of {row.name}? add --model NAME{few}")


def models_at(way: ProviderWay, workspace: Workspace) -> tuple[str, ...]:
    """What the server lists; nothing, when it has no list or is a cloud's. Raises LookupRefused."""
    return ask(workspace, OfferModels(way=way)).models


def try_way(way: ProviderWay, workspace: Workspace) -> None:
    """One request as it would be made. Raises LookupRefused; nothing was written then."""
    tell([ask(workspace, TryModel(way=way)).told])


def checked(name: str, workspace: Workspace) -> int:
    """Try a model that is set up."""
    name = name or ask(workspace, ShowAuth()).status.model
    if not name:
        raise AuthRefused("no model is connected: run `clew auth` to choose a way")
    tell([ask(workspace, TryModel(model=name)).told])
    return 0


def removed(provider: str, workspace: Workspace) -> int:
    """Forget what was saved."""
    names = (provider, ALIASES.get(provider.lower(), provider))
    told = next((told for name in names if (told := ask(workspace, ForgetProvider(provider=name)).told)), ())
    if not told:
        return complain(f"nothing is saved for {provider!r}", 1)
    tell(told)
    return 0


def key_from_stdin() -> Secret:
    """One line, so that a key never stands among the arguments, where every process can read it."""
    return key_in(sys.stdin.readline(MAX_KEY_CHARS + 2))


def key_from_person(row: ProviderRow) -> Secret:
    """Typed or pasted, and not shown."""
    if not sys.stdin.isatty():
        raise AuthRefused("nobody can type a key here: give it on stdin with --key-stdin, or add --no-key")
    return key_in(getpass.getpass(f"Key of {row.label or row.name} (it is not shown): "))


def key_in(text: str) -> Secret:
    """The key in a line, if it can be one."""
    key = text.strip()
    if not key:
        raise AuthRefused("no key was given; nothing was changed")
    if len(key) > MAX_KEY_CHARS or not (key.isascii() and key.isprintable() and " " not in key):
        raise AuthRefused("that is no key: it has blanks or letters that no key has; nothing was changed")
    return Secret(key)


def standing_in_the_way(way: ProviderWay, env: Mapping[str, str]) -> list[str]:
    """Variables that win over what was just set."""
    row = all_rows({}).get(way.provider)
    notes = [
        f"note: {variable} is set and goes before the saved key"
        for variable, _ in (row.keys if row is not None and way.key else ())
        if env.get(variable, "").strip()
    ]
    if way.model and env.get("CLEW_MODEL", "").strip() not in ("", f"{way.provider}/{way.model}"):
        notes.append("note: CLEW_MODEL is set and goes before the model of the settings")
    return notes


def tell(lines: Iterable[str]) -> None:
    """Lines for a person."""
    for line in lines:
        sys.stdout.write(sanitize(line, one_line=True) + "\n")
    sys.stdout.flush()


def complain(words: str, code: int) -> int:
    """One line on stderr."""
    sys.stderr.write(f"clew auth: {sanitize(words, one_line=True)}\n")
    return code
