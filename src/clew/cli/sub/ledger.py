"""`clew ledger`: the facts of a session, each with its source."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from clew.cli.sub.agent_homes import chosen_agents, chosen_homes
from clew.cli.sub.recap import inner_id, locate
from clew.ledger.facts import Fact, Ledger
from clew.orient.load import LoadedSession, load_session
from clew.protocol.lookups.base import LookupMisused, LookupRefused
from clew.text.figures import money
from clew.text.redact import redact
from clew.text.terminal_text import sanitize

HELP = "the facts of a session, with their sources"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("session", metavar="SESSION|FILE", help="a session id or a transcript of any agent")
    parser.add_argument("--agent", default="all", metavar="NAME", help="read the file as this agent's")
    parser.add_argument("--json", action="store_true", help="the whole ledger as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the ledger."""
    try:
        agent = None if args.agent == "all" else (chosen_agents(args.agent) or ("",))[0]
        place = locate(args.session, agent=agent, homes=chosen_homes([]))
    except LookupMisused as error:
        print(f"clew ledger: {sanitize(str(error), one_line=True)}", file=sys.stderr)
        return 2
    except LookupRefused as error:
        print(f"clew ledger: {sanitize(str(error))}", file=sys.stderr)
        return 1
    try:
        session = load_session(Path(place.path), agent=place.agent, session_id=inner_id(place))
    except OSError as error:
        print(f"clew ledger: cannot read {sanitize(args.session, one_line=True)}: {error.strerror}", file=sys.stderr)
        return 1
    if session.agent == "unknown":
        print(f"clew ledger: {sanitize(args.session, one_line=True)} is not a transcript we can read", file=sys.stderr)
        return 1
    if args.json:
        sys.stdout.write(redact(msgspec.json.encode(ledger_object(session)).decode()) + "\n")
        return 0
    for line in lines(session.ledger):
        print(sanitize(redact(line), one_line=True))
    return 0


def ledger_object(session: LoadedSession) -> dict[str, Any]:
    """The ledger as JSON, with where it came from."""
    return {
        "file": session.path,
        "agent": session.agent,
        "session": session.session_id,
        **msgspec.to_builtins(session.ledger),
    }


def lines(ledger: Ledger) -> Iterator[str]:
    """One line per fact: family, words, short ids of its sources."""
    yield _line(
        "state", ledger.state + (f" ({ledger.state_detail})" if ledger.state_detail else ""), ledger.state_source
    )
    for goal in ledger.goals:
        yield _fact(
            "goal" if goal is ledger.goal or goal == ledger.goal else goal.kind, goal.text or goal.command, goal
        )
    for rule in ledger.rules:
        yield _fact("rule", rule.text, rule)
    for file in ledger.files:
        done = [
            word
            for word, yes in (
                ("created", file.created),
                ("deleted", file.deleted),
                ("changed", file.edits and not file.created),
            )
            if yes
        ]
        yield _fact("file", f"{file.path} {' '.join(done) or 'read'} +{file.added} -{file.removed}", file)
    for command in ledger.commands:
        ended = (
            "background"
            if command.background
            else f"exit {command.exit_code}"
            if command.exit_code is not None
            else "exit unknown"
        )
        yield _fact("command", f"{command.command} [{ended}]", command)
    for run in ledger.tests:
        yield _fact("tests", f"{run.runner}: {run.passed} passed, {run.failed} failed, {run.skipped} skipped", run)
    for check in ledger.checks:
        yield _fact(
            check.kind, f"{check.command} {'ok' if check.ok else 'failed' if check.ok is False else 'unknown'}", check
        )
    for commit in ledger.commits:
        yield _fact(commit.kind, f"{commit.ref} {commit.subject}".strip(), commit)
    for item in ledger.todos.items if ledger.todos else ():
        yield _line("todo", f"[{item.status}] {item.content}", ledger.todos.source if ledger.todos else ())
    yield from _rest(ledger)


def _rest(ledger: Ledger) -> Iterator[str]:
    if ledger.plan:
        yield _fact("plan", ledger.plan.text, ledger.plan)
    for approval in ledger.approvals:
        decision = "refused by a rule" if approval.by_rule else approval.decision
        yield _fact("approval", f"{decision}: {approval.tool} {approval.subject}", approval)
    for agent in ledger.agents:
        yield _fact("agent", f"{agent.standing}: {agent.name} {agent.task}", agent)
    for error in ledger.errors:
        yield _fact("error", f"{'resolved' if error.resolved else 'open'}: {error.where}: {error.text}", error)
    for name, said in (("question", ledger.question), ("said", ledger.said)):
        if said:
            yield _fact(name, said.text, said)
    if ledger.limit:
        yield _fact("limit", f"{ledger.limit.kind} {ledger.limit.text}", ledger.limit)
    usage = ledger.costs.usage
    cost = f", {money(ledger.costs.usd)}" if ledger.costs.usd is not None else ""
    yield _line("usage", f"{usage.prompt_tokens} in, {usage.output_tokens} out{cost}", ())


def _fact(name: str, text: str, fact: Fact) -> str:
    return _line(name, text, fact.source)


def _line(name: str, text: str, source: tuple[str, ...]) -> str:
    words = " ".join(text.split())
    shown = words if len(words) <= 160 else words[:159] + "…"
    return f"{name:<9} {shown}" + (f"  <{', '.join(entry[:8] for entry in source)}>" if source else "")
