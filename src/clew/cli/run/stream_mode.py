"""`--input-format stream-json`: many turns, driven by a program over stdin and stdout."""

import argparse
import asyncio
import os
import sys

from msgspec.structs import replace

from clew.assembly.opening import open_session
from clew.cli.own_process import begin_collection
from clew.cli.run.interactive import workspace_of
from clew.cli.run.print_mode import READS_SESSION_STATE, ended_by, hear_no_signals, words_for
from clew.cli.run.request import picked, request_of
from clew.config.schema import Settings
from clew.headless.dialogue import run_dialogue
from clew.headless.dialogue_options import DialogueOptions
from clew.headless.run import print_unstarted
from clew.headless.stop_signals import hold_signals
from clew.protocol.client import Client


def run_stream(args: argparse.Namespace) -> int:
    """Until the driving program closes stdin. One that waits for a result gets it, also when nothing could begin."""
    begun = False

    async def whole(client: Client, settings: Settings) -> int:
        nonlocal begun
        hold_signals()
        begun = True  # from here on the run itself prints its results
        try:
            return await converse(args, client, settings)
        finally:
            hear_no_signals()

    try:
        request = replace(picked(request_of(args, headless=True)), driven=True)
        settings = workspace_of(request).settings
        return asyncio.run(whole(open_session(request), settings))
    except BaseException as error:
        hear_no_signals()
        if not begun:
            print_unstarted("stream-json", words_for(error), out=sys.stdout)
        return ended_by(error)


async def converse(args: argparse.Namespace, client: Client, settings: Settings) -> int:
    """The whole run."""
    begin_collection()
    options = DialogueOptions(
        partial=args.include_partial_messages,
        hooks=getattr(args, "include_hook_events", False),
        replay_prompts=args.replay_user_messages,
        session_state=os.environ.get(READS_SESSION_STATE, "") in ("1", "true"),
        ask_program=args.permission_prompt_tool == "stdio",
        tool_answers=args.permission_prompt_tool not in (None, "stdio"),
        approval_timeout_s=settings.headless.approval_timeout_s,
    )
    return await run_dialogue(client, options, stdin=sys.stdin.fileno(), out=sys.stdout, err=sys.stderr)
