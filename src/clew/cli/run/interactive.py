"""`clew` with a person: a model, the session that is meant, trust, then the front end."""

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial

from msgspec.structs import replace

from clew.assembly.place import answer_at
from clew.cli.own_process import begin_collection, say
from clew.cli.run.print_mode import failed, listed
from clew.cli.run.request import picked, request_of
from clew.cli.sub.place import make_hub
from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.hub import NoSuchSession
from clew.host.model_choice import NoModel, check_model
from clew.host.old_past import resolve
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace, remember_trust, workspace_of
from clew.llm.errors import LLMError, MissingCredential, UnknownModel
from clew.protocol.client import Client
from clew.system.home import clew_home
from clew.transcript.errors import AmbiguousSession, SessionNotFound, TranscriptError


def run_interactive(args: argparse.Namespace) -> int:
    """Start a conversation at the terminal; without a model, show where you were and how to connect one."""
    try:
        request = request_of(args, headless=False)
        if request.teammate:
            from clew.assembly.teammate import as_teammate  # only members of teams

            request = as_teammate(request)
        workspace = workspace_of(request)
        try:
            check_model(workspace)  # nothing of a project has a say in it
        except (NoModel, MissingCredential) as missing:
            if args.prompt or request.resuming:
                return failed(str(missing), 1)
            from clew.cli.run.welcome import welcome  # the board is loaded only where it is shown

            return welcome(workspace, str(missing) if isinstance(missing, MissingCredential) else "")
        if request.resume is not None and not request.resume.strip() and not args.plain and full_screen(request.env):
            request = picked_on_screen(request, workspace)
        if request.resuming:
            request = resolve(picked(request), workspace)  # what is not there is said before anything is asked
            workspace = workspace_of(request)
        if not workspace.trusted and not request.teammate and ask_trust(workspace, plain=args.plain):
            remember_trust(workspace.home, workspace.root)
        return asyncio.run(converse(args, request, workspace.settings))
    except (SettingsError, UnknownModel) as error:
        return failed(str(error), 2)
    except AmbiguousSession as error:
        return listed(error)
    except (TranscriptError, LLMError) as error:
        return failed(str(error), 1)


def picked_on_screen(request: SessionRequest, workspace: Workspace) -> SessionRequest:
    """`--resume` without a name where there is a screen: a list with search and preview. Raises SessionNotFound when
    none is chosen."""
    with redrawn_often():
        from clew.tui.options import keymap_or_problem  # loaded only where it is shown
        from clew.tui.resume_screen import choose_on_screen

    keymap, _ = keymap_or_problem(clew_home(request.env))
    chosen = asyncio.run(
        choose_on_screen(
            partial(answer_at, workspace),
            cwd=str(workspace.cwd),
            screen=workspace.settings.screen,
            env=request.env,
            keymap=keymap,
        )
    )
    if not chosen:
        why = "there is no session to go on with yet" if chosen is None else "no session was chosen"
        raise SessionNotFound(why)
    return replace(request, resume=chosen)


async def converse(args: argparse.Namespace, request: SessionRequest, settings: Settings) -> int:
    """Open the session and talk until it ends."""
    hub = make_hub()
    session = hub.open(request)
    client = hub.connect(session)
    begin_collection()
    code = await talk(client, request, settings, plain=args.plain, prompt=args.prompt or "", verbose=args.verbose)
    with contextlib.suppress(NoSuchSession):  # the screen may have gone on with another session, and closed that
        if guests := hub.guests(session):
            say(f"the session goes on here for {', '.join(guests)}; Ctrl-C closes it for all")
            await hub.linger(session)
    return code


async def talk(
    client: Client,
    request: SessionRequest,
    settings: Settings,
    *,
    plain: bool = False,
    prompt: str = "",
    verbose: bool = False,
) -> int:
    """The whole session at the terminal: on the full screen where there is one, else line by line."""
    home = clew_home(request.env) if request.persist else None
    away_s = settings.recap.away_minutes * 60 if settings.recap.enabled else 0.0
    if not plain and full_screen(request.env):
        with redrawn_often():
            from clew.tui.options import ScreenOptions  # the screen is loaded only where it is shown
            from clew.tui.run import run_screen

        return await run_screen(
            client,
            ScreenOptions(
                home=home,
                env=request.env,
                screen=settings.screen,
                notifications=settings.notifications.terminal,
                prompt=prompt,
                away_s=away_s,
            ),
        )
    from clew.plain.options import PlainOptions  # nor is this one loaded in vain
    from clew.plain.run import run_plain

    screen = settings.screen
    options = PlainOptions(
        home=home,
        env=request.env,
        prompt=prompt,
        verbose=verbose,
        show_reasoning=screen.reasoning,
        density=screen.density,
        tools=dict(screen.tools),
        reduced_motion=screen.reduced_motion,
        notifications=settings.notifications.terminal,
        away_s=away_s,
    )
    return await run_plain(client, options=options)


@contextmanager
def redrawn_often() -> Generator[None]:
    """Textual looks at this variable when it is loaded: a key may wait for the next picture, so they come twice as
    often as usual. Nothing that is started from here gets to see it."""
    mine = "TEXTUAL_FPS" not in os.environ
    os.environ.setdefault("TEXTUAL_FPS", "120")
    try:
        yield
    finally:
        if mine:
            del os.environ["TEXTUAL_FPS"]


def full_screen(env: Mapping[str, str]) -> bool:
    """Whether this terminal can be drawn on."""
    capable = env.get("TERM", "") not in ("", "dumb", "unknown")
    return capable and sys.stdin.isatty() and sys.stdout.isatty()


def ask_trust(workspace: Workspace, *, plain: bool) -> bool:
    """Nothing of the project is read before a person says so; without one, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"{workspace.root} is not trusted: its settings and memory files are not read (--trust to change that)")
        return False
    if not plain and full_screen(workspace.env):
        from clew.tui.trust_screen import ask_trust_on_screen

        return ask_trust_on_screen(str(workspace.root), workspace.settings.screen, workspace.env)
    from clew.plain.dialogs.confirm import confirm

    return confirm(
        [
            "clew has not worked in this directory before.",
            "If you trust it, its memory files, settings, skills and commands are read and its git state is looked at;",
            "if not, clew works without them.",
        ],
        "Trust this directory?",
        quoted=str(workspace.root),
        stdin=sys.stdin,
        stdout=sys.stderr,
    )
