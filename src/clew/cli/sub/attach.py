"""`clew attach`: the screen, or plain, on a session that lives in another process."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from clew.cli.run.interactive import talk
from clew.cli.sub.live_session import NotReached, live_session, reach_session, refused_here
from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.request import SessionRequest
from clew.host.workspace import workspace_of
from clew.protocol.base import Rights
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.protocol.lookups.catalog import NamedSession
from clew.text.terminal_text import sanitize

HELP = "the screen of a session that runs in another terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew attach SESSION`."""
    parser.add_argument("session", metavar="SESSION", help="an id, the start of one, a title, or words that were said")
    parser.add_argument("--plain", action="store_true", help="line by line")
    parser.add_argument("--watch", action="store_true", help="only look: nothing that is typed reaches the session")
    parser.add_argument("--verbose", action="store_true", help="tell more; with plain also what tools are given")


def run(args: argparse.Namespace) -> int:
    """Talk to a live session until you leave it or it ends."""
    if refused := refused_here():
        return _failed(refused, 1)
    try:
        found = live_session(args.session)
        request = SessionRequest(cwd=Path.cwd(), env=os.environ)
        settings = workspace_of(request).settings
        return asyncio.run(_attached(args, found, request, settings))
    except (SettingsError, ValueError, LookupMisused) as error:
        return _failed(str(error), 2)
    except (NotReached, LookupRefused, OSError) as error:
        return _failed(str(error), 1)


async def _attached(args: argparse.Namespace, found: NamedSession, request: SessionRequest, settings: Settings) -> int:
    rights = Rights.WATCH if args.watch else Rights.DRIVE
    client = await reach_session(found, rights, "clew attach")
    try:
        code = await talk(client, request, settings, plain=args.plain, verbose=args.verbose)
    finally:
        await client.leave()
    if client.lost:
        return _failed(f"{client.lost}; clew -r {found.session_id} goes on with it", 1)
    if not client.ended:
        sys.stderr.write(f"Left; the session goes on. clew attach {found.session_id} comes back to it.\n")
    return code


def _failed(words: str, code: int) -> int:
    sys.stderr.write(f"clew attach: {sanitize(words, one_line=True)}\n")
    return code
