"""The user's deny and ask rules for files, as far as the words of a command name those files."""

import glob
import itertools
import os
from collections.abc import Iterator

from clew.permissions.access import Decision, Verdict
from clew.permissions.conditions import Policy
from clew.permissions.rules import Rule, expand_home, matches_path
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set

READS = word_set("Read Grep NotebookRead Glob LS")
WRITES = word_set("Edit Write NotebookEdit MultiEdit")
WALKERS = word_set("rg ag ack find fd fdfind tar zip rsync mv tree du")
"""Programs that go through all below a directory that they are given, without a flag for it."""
RECURSIVE = ("-r", "-R", "--recursive", "-a", "--archive")
MAX_WORDS = 2_000
MAX_EXPANDED = 500
MAX_SIGNS = 2
"""Parts of a path that are patterns; more of them would be looked at for too long."""
PATTERN_SIGNS = "*?["


def file_verdict(scan: Scan, policy: Policy, *, reads_only: bool) -> Verdict | None:
    """What a rule says to a file that the command names; None: no rule is about any. Rules for reading hold for every
    command, rules for editing for those that are not proven to only read. A directory above such files asks where the
    program goes through all of it."""
    for effect in ("deny", "ask"):
        rules = [rule for rule in policy.rules if rule.effect == effect and _is_meant(rule, reads_only=reads_only)]
        if rules and (found := _first(scan, rules, policy, effect)) is not None:
            return found
    return None


def _is_meant(rule: Rule, *, reads_only: bool) -> bool:
    return not rule.whole_tool and (rule.tool in READS or (rule.tool in WRITES and not reads_only))


def _first(scan: Scan, rules: list[Rule], policy: Policy, effect: Decision) -> Verdict | None:
    root = policy.places.roots[0] if policy.places.roots else ""
    home, left = policy.places.home, MAX_WORDS
    above: Rule | None = None
    for command in scan.effective:
        for path in _paths(command, home):
            left -= 1
            if left < 0 or path is None:
                return Verdict(decision="ask", why="it names too many files to hold them against your rules")
            for spelling in {path, os.path.realpath(path)}:
                for rule in rules:
                    start = _start(rule, root, home)
                    if matches_path(rule, spelling, root, home) or (start and spelling == start):
                        why = f"your rule {rule.text} says {effect}"
                        return Verdict(decision=effect, why=why, rule=rule.text)
                    if start and start.startswith(spelling.rstrip("/") + "/") and _goes_through(command):
                        above = above or rule
    if above is None:
        return None
    return Verdict(decision="ask", why=f"it goes through files that your rule {above.text} is about", rule=above.text)


def _start(rule: Rule, root: str, home: str) -> str:
    """The directory that a pattern begins with; empty where it begins with a sign for any text."""
    pattern = expand_home(rule.pattern, home).removeprefix("./")
    pattern = pattern[1:] if pattern.startswith("//") else pattern
    whole = pattern if pattern.startswith("/") else f"{root}/{pattern}"
    parts = whole.split("/")
    fixed = parts[: next((at for at, part in enumerate(parts) if _has_sign(part)), len(parts))]
    start = "/".join(fixed) if len(fixed) < len(parts) else ""
    return start if start not in ("", root) else ""


def _has_sign(part: str) -> bool:
    return any(sign in part for sign in PATTERN_SIGNS)


def _goes_through(command: Effective) -> bool:
    words = [value.text for value in command.argv[1:]]
    short = any(word.startswith("-") and not word.startswith("--") and set(word) & set("rR") for word in words)
    return command.walks or command.name in WALKERS or short or any(word in RECURSIVE for word in words)


def _paths(command: Effective, home: str) -> Iterator[str | None]:
    """The paths that words and redirections may name, absolute; of a pattern what it stands for now. None: of one that
    may stand for more than can be looked at."""
    if command.cwd is None:
        return
    targets = [value for _, values in command.redirects for value in values]
    named = False
    for value in (*command.argv[1:], *targets):
        if not value.known or not value.text:
            continue
        named = named or not value.text.startswith("-")
        for text in _texts(value):
            path = os.path.normpath(os.path.join(command.cwd, expand_home(text, home)))
            yield path
            if value.globs and _has_sign(text):
                yield from _expanded(path)
    if not named or command.name in WALKERS:
        yield command.cwd


def _expanded(path: str) -> Iterator[str | None]:
    if sum(_has_sign(part) for part in path.split("/")) > MAX_SIGNS:
        yield None
        return
    yield from itertools.islice(glob.iglob(path), MAX_EXPANDED)


def _texts(value: Value) -> tuple[str, ...]:
    """A word, and what stands behind `=` or `:` in it: `--file=x`, `if=x`, `HEAD:x`."""
    text = value.text
    behind = [text.split(sign, 1)[1] for sign in "=:" if sign in text]
    return (text, *(part for part in behind if part))
