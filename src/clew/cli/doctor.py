"""`clew doctor`: what works here and what is enforced, tested now, not remembered."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from clew import __version__
from clew.cli.doctor_checks import (
    Check,
    check_bash,
    check_git,
    check_home,
    check_providers,
    check_python,
    check_sandbox,
    check_search,
    check_settings,
    check_terminal,
    check_trust,
)
from clew.config.load import load_settings
from clew.permissions.trust import TrustStore
from clew.system.git import find_project_root
from clew.system.home import clew_home
from clew.system.terminal_text import sanitize

HELP = "what works here and what is enforced"
MARKS = {"ok": "ok      ", "info": "        ", "warning": "weak    ", "problem": "PROBLEM "}


class Report(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    version: str
    checks: tuple[Check, ...]
    problems: int
    warnings: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Only the form of the answer."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Always 0 when the report could be made: a finding is an answer, not a failure."""
    checks = tuple(examine(os.environ))
    report = Report(
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


def lines(report: Report) -> Iterator[str]:
    """For people: one line per check, its details below."""
    yield f"clew {report.version}"
    for check in report.checks:
        yield f"{MARKS[check.state]}{check.name:<12}{sanitize(check.summary, one_line=True)}"
        yield from (f"{'':20}{sanitize(detail, one_line=True)}" for detail in check.details)
    if not report.problems and not report.warnings:
        yield "Everything works."
        return
    yield f"{counted(report.problems, 'problem')}, {counted(report.warnings, 'weak point')}."


def counted(number: int, noun: str) -> str:
    """With the right ending."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def examine(env: Mapping[str, str]) -> Iterator[Check]:
    """All checks. One that breaks is a finding of its own and never ends the report."""
    home = clew_home(env)
    cwd = current_directory()
    root = find_project_root(cwd) if cwd is not None else None
    trust = TrustStore(home)
    trusted = root is not None and trust.is_trusted(root)
    loaded = load_settings(home=home, project_root=root, trusted=trusted, env=env, lenient=True)
    roots = (str(root),) if root is not None else ()
    checks: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("python", check_python),
        ("bash", lambda: check_bash(env, roots)),
        ("git", lambda: check_git(env, roots)),
        ("sandbox", lambda: check_sandbox(loaded.settings.sandbox)),
        ("search", lambda: check_search(env, roots)),
        ("terminal", lambda: check_terminal(env)),
        ("home", lambda: check_home(home)),
        ("settings", lambda: check_settings(loaded)),
        ("providers", lambda: check_providers(loaded, env)),
        ("trust", lambda: check_trust(trust, root, trusted=trusted)),
    )
    for name, check in checks:
        yield guarded(name, check)


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """A check's own failure as a finding."""
    try:
        return check()
    except Exception as error:  # one broken check must not hide the others: that is what doctor is for
        return Check(name=name, state="problem", summary=f"the check failed: {type(error).__name__}: {error}")


def current_directory() -> Path | None:
    """None when it was removed under us."""
    try:
        return Path(os.getcwd())
    except FileNotFoundError:
        return None
