"""`clew doctor`: what works here and what is enforced, tested now, not remembered."""

import argparse
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from clew import __version__
from clew.cli.run.agent_flags import positive
from clew.cli.sub.place import ask, this_place_if_any
from clew.commands.doctor import verdict
from clew.protocol.lookups.place import CheckRow, RunChecks
from clew.text.terminal_text import sanitize

HELP = "what works here and what is enforced"
MARKS = {"ok": "ok      ", "info": "        ", "warning": "weak    ", "problem": "PROBLEM "}


class DoctorReport(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    version: str
    checks: tuple[CheckRow, ...]
    problems: int
    warnings: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The form of the answer, and a model to look at closely."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--probe", metavar="MODEL", help="try what a model really does, with a few real requests")
    parser.add_argument("--probe-tokens", type=positive, metavar="N", help="size of the longest prompt of a probe")
    words = "save what agents left in checkouts of their own below refs/clew/, and remove these checkouts"
    parser.add_argument("--clean-worktrees", action="store_true", help=words)
    parser.add_argument("--yes", action="store_true", help="probe without asking first")


def run(args: argparse.Namespace) -> int:
    """Always 0 when the report could be made: a finding is an answer, not a failure."""
    if args.probe is not None:
        from clew.cli.sub.doctor_probe import probe  # models are asked only where that is wanted

        return probe(args.probe, tokens=args.probe_tokens, asked=not args.yes, as_json=args.json)
    checks = ask(this_place_if_any(), RunChecks(clean_worktrees=args.clean_worktrees)).checks
    report = DoctorReport(
        version=__version__,
        checks=checks,
        problems=sum(check.state == "problem" for check in checks),
        warnings=sum(check.state == "warning" for check in checks),
    )
    if args.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report)).decode() + "\n")
    else:
        sys.stdout.write("\n".join(lines(report)) + "\n")
    sys.stdout.flush()
    return 0


def lines(report: DoctorReport) -> Iterator[str]:
    """For people: one line per check, its details below."""
    yield f"clew {report.version}"
    for check in report.checks:
        yield f"{MARKS[check.state]}{check.name:<12}{sanitize(check.summary, one_line=True)}"
        yield from (f"{'':20}{sanitize(detail, one_line=True)}" for detail in check.details)
    yield verdict(report.checks)
