"""`clew` with a person: trust, a model, the conversation, then the front end."""

import argparse
import asyncio
import os
import sys

from clew.cli.agent import settled
from clew.cli.conversation import Conversation, open_conversation
from clew.cli.print_mode import failed, listed, unread_notes
from clew.cli.voice import Voice, say
from clew.cli.wiring import NoModel, assemble, chosen_model, connector
from clew.cli.workspace import Workspace, open_workspace, remember_trust
from clew.commands.base import RuleRow
from clew.config.errors import SettingsError
from clew.llm.connect import configured_providers
from clew.llm.errors import LLMError, MissingCredential, UnknownModel
from clew.llm.probe import local_servers
from clew.plain.confirm import confirm
from clew.plain.options import PlainOptions
from clew.plain.run import run_plain
from clew.system.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, TranscriptError


def run_interactive(args: argparse.Namespace) -> int:
    """Start a conversation at the terminal; without a model, show where you were and how to connect one."""
    try:
        workspace = open_workspace(args, os.environ)
        try:
            connector(workspace)(chosen_model(workspace))  # nothing of a project has a say in it
        except (NoModel, MissingCredential) as missing:
            if args.prompt or args.continue_ or args.resume is not None:
                return failed(str(missing), 1)
            return welcome(workspace, str(missing))
        if not workspace.trusted and ask_trust(workspace):
            remember_trust(workspace.home, workspace.root)
            workspace = open_workspace(args, os.environ)
        for warning in workspace.loaded.warnings:
            say(warning)
        voice = Voice()
        conversation = open_conversation(args, workspace, voice)
        return asyncio.run(converse(args, workspace, conversation, voice))
    except (SettingsError, UnknownModel) as error:
        return failed(str(error), 2)
    except AmbiguousSession as error:
        return listed(error)
    except TranscriptError as error:
        return failed(str(error), 1)
    except LLMError as error:
        return failed(str(error), 1)


async def converse(args: argparse.Namespace, workspace: Workspace, conversation: Conversation, voice: Voice) -> int:
    """The whole session at the terminal."""
    assembled = assemble(args, workspace, conversation, headless=False)
    voice.session = assembled.session
    settled()

    def rules() -> tuple[RuleRow, ...]:
        return tuple(
            RuleRow(decision=rule.effect, rule=rule.text, scope=rule.scope)
            for rule in assembled.toolbox.permits.policy.rules
        )

    options = PlainOptions(
        home=None if args.no_session_persistence else workspace.home,
        kept=conversation.path is not None,
        env=workspace.env,
        prompt=args.prompt or "",
        notes=(*unread_notes(workspace), *assembled.notes, *conversation.notes),
        models=lambda: ready_models(workspace),
        rules=rules,
    )
    return await run_plain(assembled.session, options=options)


def ready_models(workspace: Workspace) -> tuple[str, ...]:
    """The default models of the providers that can be used now."""
    found = configured_providers(workspace.env, workspace.settings.providers)
    return tuple(f"{one.name}/{one.default_model}" for one in found if one.ready and one.default_model)


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
