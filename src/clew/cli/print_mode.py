"""`clew -p`: one prompt through the headless front end."""

import argparse
import asyncio
import sys

from clew.cli.agent import settled
from clew.cli.request import picked, request_of
from clew.cli.voice import say
from clew.config.errors import SettingsError
from clew.headless.printer import Printer
from clew.headless.run import HeadlessOptions, print_unstarted, run_headless
from clew.host.model_choice import NoModel
from clew.host.opening import open_session
from clew.llm.errors import LLMError, UnknownModel
from clew.protocol.client import Client
from clew.system.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, TranscriptError


def run_print(args: argparse.Namespace, prompt: str) -> int:
    """Set everything up, then hand over to the event loop. What is wrong is said in one line."""
    try:
        return asyncio.run(converse(args, open_session(picked(request_of(args, headless=True))), prompt))
    except (SettingsError, UnknownModel) as error:
        return failed(str(error), 2)
    except AmbiguousSession as error:
        print_unstarted(args.output_format, str(error), out=sys.stdout)
        return listed(error)
    except (TranscriptError, LLMError, NoModel) as error:
        print_unstarted(args.output_format, str(error), out=sys.stdout)
        return failed(str(error), 1)


async def converse(args: argparse.Namespace, client: Client, prompt: str) -> int:
    """The whole run."""
    settled()
    options = HeadlessOptions(
        output_format=args.output_format, partial=args.include_partial_messages, verbose=args.verbose
    )
    if prompt.startswith("/"):
        from clew.commands.registry import known_command  # most prompts are none

        if known_command(prompt):
            from clew.headless.commands import run_slash_command

            as_json = args.output_format != "text"
            return await run_slash_command(client, prompt, as_json=as_json, printer=Printer(sys.stdout, sys.stderr))
    return await run_headless(client, prompt, options, out=sys.stdout, err=sys.stderr)


def failed(text: str, code: int) -> int:
    """A line for a person, and the exit code."""
    say(text)
    return code


def listed(error: AmbiguousSession) -> int:
    """Several sessions fit: each on a line of its own."""
    say(str(error).partition("\n")[0])
    for match in error.matches:
        sys.stderr.write(f"  {sanitize(match, one_line=True)}\n")
    return 1
