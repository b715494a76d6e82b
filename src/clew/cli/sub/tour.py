"""`clew tour`: two minutes through the real clew in a project of its own, with a model that is a script."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from clew.assembly.opening import open_session
from clew.cli.own_process import begin_collection
from clew.cli.tour.alone import walk_alone
from clew.cli.tour.guide import Guide
from clew.cli.tour.model import PAUSE_S
from clew.cli.tour.place import TourPlace, make_place
from clew.cli.tour.script import TourScript, load_script
from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.workspace import open_workspace

HELP = "two minutes through clew, without a model: a small project, a scripted session, everything else is real"


EXIT_INTERRUPTED = 130
ENDING = (signal.SIGTERM, signal.SIGHUP)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--plain", action="store_true", help="line by line, for screen readers and dumb terminals")
    parser.add_argument("--headless", action="store_true", help="walk it alone and print what happened, for tests")
    parser.add_argument("--keep", action="store_true", help="leave the project and its session on disk, and say where")


def run(args: argparse.Namespace) -> int:
    """Walk it; what it made is removed afterwards, unless it is to be kept."""
    if not args.headless and not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("clew: the tour needs a terminal; clew tour --headless walks it alone\n")
        return 2
    script = load_script()
    end_in_order()
    place = make_place(script, os.environ, looks(), pause_s=0.0 if args.headless else PAUSE_S)
    try:
        if args.headless:
            return asyncio.run(alone(place, script))
        return walk(place, script, plain=args.plain)
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    finally:
        if args.keep:
            print(f"The project is kept in {place.project}, its session in {place.folder / 'home'}.")
        else:
            place.remove()


async def alone(place: TourPlace, script: TourScript) -> int:
    """Without a person; ended from outside, the session is closed in order."""
    task = asyncio.current_task()
    assert task is not None
    for number in ENDING:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await walk_alone(place, script, lambda line: print(line, flush=True))


def end_in_order() -> None:
    """So that a tour that is ended from outside takes away what it made, also while no session runs: those have
    handlers of their own, and leave none behind."""
    for number in ENDING:
        signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(EXIT_INTERRUPTED)


def looks() -> Settings:
    """How the user wants the screen; the tour must not fail for a setting that is wrong."""
    try:
        return open_workspace(Path(os.getcwd()), os.environ, lenient=True).settings
    except SettingsError:
        return Settings()


def walk(place: TourPlace, script: TourScript, *, plain: bool) -> int:
    """With a person: up to the leaving, and back."""
    from clew.cli.run.interactive import full_screen  # front ends are loaded where they are shown

    drawn = full_screen(place.env)
    guide = Guide(script, full_screen=drawn and not plain, fills=drawn)
    code = asyncio.run(half(place, guide, plain=plain))
    if "leaving" not in guide.seen:
        print("You left the tour before its end; clew tour starts it again.")
        return code
    print("\nYou left, and nothing is lost: the session is in its log.")
    print("Any time later, in the same place:  clew --continue")
    if not wants_back():
        print("The tour ends here; clew tour starts it again.")
        return 0
    code = asyncio.run(half(place, guide, plain=plain, resume=guide.session_id))
    for line in FAREWELL:
        print(line)
    return code


FAREWELL = (
    "",
    "That was the tour; its project and session are gone.",
    "  clew          in a project of yours: start for real",
    "  clew recap    where you were, also in other agents",
    "  clew doctor   what works here, and what is enforced",
)


def wants_back() -> bool:
    """Enter comes back; q, Ctrl-C or the end of the input do not."""
    end_in_order()
    try:
        return input("Press Enter to come back now (q ends the tour): ").strip().lower() not in ("q", "quit", "n", "no")
    except (EOFError, KeyboardInterrupt):
        print()
        return False


async def half(place: TourPlace, guide: Guide, *, plain: bool, resume: str = "") -> int:
    """One session of the tour at the terminal."""
    from clew.cli.run.interactive import talk, workspace_of  # as above

    request = place.request(resume=resume)
    client = guide.around(open_session(request))
    begin_collection()
    return await talk(client, request, workspace_of(request).settings, plain=plain)
