"""`clew -p`: one prompt through the headless front end."""

import argparse
import asyncio
import os
import sys

from clew.cli.agent import settled
from clew.cli.conversation import Conversation, open_conversation
from clew.cli.voice import say
from clew.cli.wiring import NoModel, assemble
from clew.cli.workspace import Workspace, open_workspace
from clew.config.errors import SettingsError
from clew.headless.run import HeadlessOptions, print_unstarted, run_headless
from clew.llm.errors import LLMError, UnknownModel
from clew.system.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, TranscriptError
from clew.transcript.interruption import CONTINUE_PROMPT


def run_print(args: argparse.Namespace, prompt: str) -> int:
    """Set everything up, then hand over to the event loop. What is wrong is said in one line."""
    try:
        workspace = open_workspace(args, os.environ)
        for warning in workspace.loaded.warnings:
            say(warning)
        conversation = open_conversation(args, workspace, lambda level, text: say(text))
        for note in conversation.notes:
            say(note)
        prompt = prompt or continuation(conversation)
        if not prompt:
            return failed("the session ended in order, so there is nothing to go on with; give a prompt", 2)
        return asyncio.run(converse(args, workspace, conversation, prompt))
    except (SettingsError, UnknownModel) as error:
        return failed(str(error), 2)
    except AmbiguousSession as error:
        print_unstarted(args.output_format, str(error), out=sys.stdout)
        return listed(error)
    except (TranscriptError, LLMError, NoModel) as error:
        print_unstarted(args.output_format, str(error), out=sys.stdout)
        return failed(str(error), 1)


def continuation(conversation: Conversation) -> str:
    """What lets an interrupted turn go on when the user says nothing."""
    return CONTINUE_PROMPT if conversation.interrupted != "none" else ""


async def converse(args: argparse.Namespace, workspace: Workspace, conversation: Conversation, prompt: str) -> int:
    """The whole run."""
    assembled = assemble(args, workspace, conversation, headless=True)
    settled()
    if args.verbose:
        for note in (*unread_notes(workspace), *assembled.notes):
            say(note)
    options = HeadlessOptions(
        output_format=args.output_format, partial=args.include_partial_messages, verbose=args.verbose
    )
    return await run_headless(assembled.session, prompt, options, out=sys.stdout, err=sys.stderr)


def unread_notes(workspace: Workspace) -> list[str]:
    """What of the project was left alone because nobody trusts it yet."""
    return [f"{path} is not read: the directory is not trusted (see --trust)" for path in workspace.loaded.unread]


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
