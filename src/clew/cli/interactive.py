"""`clew` with a person: a model, the session that is meant, trust, then the front end."""

import argparse
import asyncio
import sys
from collections.abc import Mapping

from clew.cli.agent import settled
from clew.cli.print_mode import failed, listed
from clew.cli.request import picked, request_of
from clew.cli.voice import say
from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.model_choice import NoModel, chosen_model, connector
from clew.host.opening import open_session
from clew.host.past import resolve
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace, open_workspace, remember_trust
from clew.llm.connect import configured_providers
from clew.llm.errors import LLMError, MissingCredential, UnknownModel
from clew.llm.probe import local_servers
from clew.plain.confirm import confirm
from clew.system.home import clew_home
from clew.system.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, TranscriptError


def run_interactive(args: argparse.Namespace) -> int:
    """Start a conversation at the terminal; without a model, show where you were and how to connect one."""
    try:
        request = request_of(args, headless=False)
        workspace = workspace_of(request)
        try:
            connector(workspace)(chosen_model(workspace))  # nothing of a project has a say in it
        except (NoModel, MissingCredential) as missing:
            if args.prompt or request.resuming:
                return failed(str(missing), 1)
            return welcome(workspace, str(missing))
        request = resolve(picked(request), workspace)  # what is not there is said before anything is asked
        workspace = workspace_of(request)
        if not workspace.trusted and ask_trust(workspace):
            remember_trust(workspace.home, workspace.root)
        return asyncio.run(converse(args, request, workspace.settings))
    except (SettingsError, UnknownModel) as error:
        return failed(str(error), 2)
    except AmbiguousSession as error:
        return listed(error)
    except (TranscriptError, LLMError) as error:
        return failed(str(error), 1)


def workspace_of(request: SessionRequest) -> Workspace:
    """Where the session is to work."""
    return open_workspace(request.cwd, request.env, settings=request.settings, flags=request.flags)


async def converse(args: argparse.Namespace, request: SessionRequest, settings: Settings) -> int:
    """The whole session at the terminal: on the full screen where there is one, else line by line."""
    client = open_session(request)
    settled()
    home = clew_home(request.env) if request.persist else None
    away_s = settings.recap.away_minutes * 60 if settings.recap.enabled else 0.0
    if not args.plain and full_screen(request.env):
        from clew.tui.options import ScreenOptions  # the screen is loaded only where it is shown
        from clew.tui.run import run_screen

        return await run_screen(
            client,
            ScreenOptions(home=home, env=request.env, screen=settings.screen, prompt=args.prompt or "", away_s=away_s),
        )
    from clew.plain.options import PlainOptions  # nor is this one loaded in vain
    from clew.plain.run import run_plain

    screen = settings.screen
    options = PlainOptions(
        home=home,
        env=request.env,
        prompt=args.prompt or "",
        verbose=args.verbose,
        show_reasoning=screen.reasoning,
        density=screen.density,
        tools=dict(screen.tools),
        reduced_motion=screen.reduced_motion,
        away_s=away_s,
    )
    return await run_plain(client, options=options)


def full_screen(env: Mapping[str, str]) -> bool:
    """Whether this terminal can be drawn on."""
    capable = env.get("TERM", "") not in ("", "dumb", "unknown")
    return capable and sys.stdin.isatty() and sys.stdout.isatty()


def ask_trust(workspace: Workspace) -> bool:
    """Nothing of the project is read before a person says so; without one, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"{workspace.root} is not trusted: its settings and memory files are not read (--trust to change that)")
        return False
    return confirm(
        [
            "clew has not worked in this directory before.",
            "If you trust it, its memory files and settings are read and its git state is looked at;",
            "if not, clew works without them.",
        ],
        "Trust this directory?",
        quoted=str(workspace.root),
        stdin=sys.stdin,
        stdout=sys.stderr,
    )


def welcome(workspace: Workspace, why: str) -> int:
    """What clew can do without a model, and the ways to one."""
    from clew.cli import recap  # the board is loaded only where it is shown

    parser = argparse.ArgumentParser()
    recap.add_arguments(parser)
    sys.stdout.write("Where you were, in clew and other agents:\n\n")
    sys.stdout.flush()
    recap.run(parser.parse_args([]))
    sys.stdout.write(f"\nTo talk to a model: {why}.\n")
    for line in ways_to_a_model(workspace):
        sys.stdout.write(f"  {line}\n")
    sys.stdout.write("\nWithout a model: clew recap, clew sessions, clew show, clew doctor, clew --help\n")
    return 0


def ways_to_a_model(workspace: Workspace) -> list[str]:
    """Servers that run here first, then the keys, then the servers that could be started."""
    settings = workspace.settings
    running = {one.provider: one for one in asyncio.run(local_servers(workspace.env, settings.providers))}
    here: list[str] = []
    keys: list[str] = []
    startable: list[str] = []
    for provider in configured_providers(workspace.env, settings.providers):
        server = running.get(provider.name)
        if server is not None:
            name = sanitize(server.models[0], one_line=True) if server.models else "NAME"
            here.append(f"{provider.label} runs here:  clew --model {provider.name}/{name}")
        elif provider.local:
            startable.append(f"{provider.label}: start it, then  clew --model {provider.name}/NAME")
        elif provider.variable:
            keys.append(f"{provider.label}: export {provider.variable}=...")
    return here + keys + startable
