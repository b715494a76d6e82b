"""`--input-format stream-json`: many turns, driven by a program over stdin and stdout."""

import argparse
import asyncio
import os
import sys

from msgspec.structs import replace

from clew.cli.agent import settled
from clew.cli.interactive import workspace_of
from clew.cli.print_mode import failed
from clew.cli.request import picked, request_of
from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.headless.dialogue import DialogueOptions, run_dialogue
from clew.headless.run import print_unstarted
from clew.headless.stopping import INTERRUPTED_CODE
from clew.host.model_choice import NoModel
from clew.host.opening import open_session
from clew.llm.errors import LLMError, UnknownModel
from clew.protocol.client import Client
from clew.transcript.errors import TranscriptError

READS_SESSION_STATE = "CLAUDE_CODE_SDK_READS_SESSION_STATE"


def run_stream(args: argparse.Namespace) -> int:
    """Until the driving program closes stdin. One that waits for a result gets it, also when nothing could begin."""
    begun = False

    async def whole(client: Client, settings: Settings) -> int:
        nonlocal begun
        begun = True  # from here on the run itself prints its results
        return await converse(args, client, settings)

    try:
        request = replace(picked(request_of(args, headless=True)), driven=True)
        settings = workspace_of(request).settings
        return asyncio.run(whole(open_session(request), settings))
    except (SettingsError, UnknownModel) as error:
        return unstarted(str(error), 2)
    except (TranscriptError, LLMError, NoModel) as error:
        return unstarted(str(error), 1)
    except KeyboardInterrupt:
        return INTERRUPTED_CODE if begun else unstarted("interrupted", INTERRUPTED_CODE)


async def converse(args: argparse.Namespace, client: Client, settings: Settings) -> int:
    """The whole run."""
    settled()
    options = DialogueOptions(
        partial=args.include_partial_messages,
        hooks=getattr(args, "include_hook_events", False),
        replay_prompts=args.replay_user_messages,
        session_state=os.environ.get(READS_SESSION_STATE, "") in ("1", "true"),
        ask_program=args.permission_prompt_tool == "stdio",
        approval_timeout_s=settings.headless.approval_timeout_s,
    )
    return await run_dialogue(client, options, stdin=sys.stdin.fileno(), out=sys.stdout, err=sys.stderr)


def unstarted(error: str, code: int) -> int:
    """A result for the program, a line for a person."""
    print_unstarted("stream-json", error, out=sys.stdout)
    return failed(error, code)
