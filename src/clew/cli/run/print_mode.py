"""`clew -p`: one prompt through the headless front end."""

import argparse
import asyncio
import os
import signal
import sys

from msgspec.structs import replace

from clew.assembly.opening import open_session
from clew.cli.own_process import begin_collection, say
from clew.cli.run.request import picked, request_of
from clew.config.errors import SettingsError
from clew.headless.run import HeadlessOptions, print_unstarted, run_headless
from clew.headless.stop_signals import INTERRUPTED_CODE, hold_signals
from clew.host.model_choice import NoModel
from clew.llm.errors import LLMError, UnknownModel
from clew.protocol.client import Client
from clew.protocol.invocables import WITHOUT_A_SCREEN
from clew.protocol.op_kinds.slash_names import looks_like_name, words_said
from clew.text.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, TranscriptError

READS_SESSION_STATE = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
"""Set by hosts that hang up when the session rests, not at the first result."""


def run_print(args: argparse.Namespace, prompt: str) -> int:
    """Set everything up, then hand over to the event loop. What is wrong is said in one line, and to programs by a
    result."""
    begun = False

    async def whole(client: Client) -> int:
        nonlocal begun
        hold_signals()
        begun = True  # from here on the run itself prints its result
        try:
            return await converse(args, client, prompt)
        finally:
            hear_no_signals()

    try:
        request = picked(request_of(args, headless=True))
        if asks_recap(prompt):
            request = replace(request, labelled=True)  # recaps come from the same part as labels
        return asyncio.run(whole(open_session(request)))
    except BaseException as error:
        hear_no_signals()
        if not begun:
            print_unstarted(args.output_format, words_for(error), out=sys.stdout)
        return ended_by(error)


def asks_recap(prompt: str) -> bool:
    """Whether the prompt is /recap or another name of it."""
    return looks_like_name(prompt) and prompt.split()[0].lower() in ("/recap", "/away", "/catchup")


def words_for(error: BaseException) -> str:
    """Why nothing could begin, for a program."""
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__


def hear_no_signals() -> None:
    """The result is out or about to be: what ends the process now would only spoil it, or its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def ended_by(error: BaseException) -> int:
    """One line for a person, and the exit code; what is a bug or the system's own is for the last boundary."""
    match error:
        case SettingsError() | UnknownModel():
            return failed(str(error), 2)
        case AmbiguousSession():
            return listed(error)
        case TranscriptError() | LLMError() | NoModel():
            return failed(str(error), 1)
        case KeyboardInterrupt():
            return INTERRUPTED_CODE
        case _:
            raise error


async def converse(args: argparse.Namespace, client: Client, prompt: str) -> int:
    """The whole run."""
    begin_collection()
    options = HeadlessOptions(
        output_format=args.output_format,
        partial=args.include_partial_messages,
        hooks=args.include_hook_events,
        verbose=args.verbose,
        tool_answers=args.permission_prompt_tool not in (None, "stdio"),
        session_state=os.environ.get(READS_SESSION_STATE) == "1",
        slash_commands=WITHOUT_A_SCREEN,
    )
    name = None
    if prompt.startswith("/"):
        from clew.commands.registry import known_command  # most prompts are none

        if known_command(prompt):
            from clew.headless.commands import run_slash_command

            return await run_slash_command(client, prompt, options, out=sys.stdout, err=sys.stderr)
        from clew.headless.slash_name import SlashName

        name = SlashName(prompt) if looks_like_name(prompt) else None
    return await run_headless(client, words_said(prompt), options, name=name, out=sys.stdout, err=sys.stderr)


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
