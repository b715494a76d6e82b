"""`clew permissions`: what would be allowed, asked or refused, and why. Judges only; runs nothing."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, cast

import msgspec

from clew.cli.sub.place import ask, this_place, this_place_if_any
from clew.commands.permissions import HOLDS
from clew.config.errors import SettingsError
from clew.permissions.access import Decision, FileAccess, FileOp, Mode, ShellAccess, Verdict
from clew.permissions.policy import Policy, judge, make_policy
from clew.permissions.rules import Rule, RuleError, parse_rule, prefix_rule
from clew.permissions.shell.verdict import ShellVerdict, judge_shell
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.rules_and_models import AllowRule, ForgetTrust, ListRules, RemoveRule, RuleRow
from clew.system.home import clew_home
from clew.text.terminal_text import reveal, sanitize, warnings

HELP = "check or explain what permissions say about a command or a path"

_MODES: dict[str, Mode] = {
    "default": "default",
    "plan": "plan",
    "acceptEdits": "acceptEdits",
    "accept-edits": "acceptEdits",
    "bypassPermissions": "bypassPermissions",
    "bypass": "bypassPermissions",
}
_OPS: tuple[FileOp, ...] = ("read", "list", "write", "delete")
_EFFECTS: tuple[Decision, ...] = ("allow", "ask", "deny")


class BadCase(ValueError):
    """A line of the input that is not a case."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="read cases as JSON lines from stdin, print one verdict per line")
    check.add_argument("--jsonl", action="store_true", help="one JSON object per line, in and out (the only format)")
    explain = actions.add_parser("explain", help="say for people what would happen to a command, and why")
    explain.add_argument("command", help="the shell command, as one argument")
    explain.add_argument("--mode", choices=tuple(_MODES), default="default")
    explain.add_argument("--allow", action="append", default=[], metavar="RULE", help="as if this rule were saved")
    explain.add_argument("--deny", action="append", default=[], metavar="RULE", help="as if this rule were saved")
    actions.add_parser("list", help="the rules and limits in force for this directory")
    allow = actions.add_parser("allow", help="save an allow rule for this project")
    allow.add_argument("rule", help="for example 'Bash(npm test *)' or 'Read(.env)'")
    remove = actions.add_parser("remove", help='take back a rule that was saved with "always" in this project')
    remove.add_argument("rule", help="the rule as `clew permissions list` shows it")
    untrust = actions.add_parser(
        "untrust", help="stop trusting a directory; nothing of it runs until you trust it again"
    )
    untrust.add_argument("directory", nargs="?", default=".", help="the directory (default: this one)")


def run(args: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "check": _check,
        "explain": _explain,
        "list": _list,
        "allow": _allow,
        "remove": _remove,
        "untrust": _untrust,
    }
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    if not args.jsonl:
        print("clew permissions check: only --jsonl is offered; add it", file=sys.stderr)
        return 2
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        out.write(msgspec.json.encode(check_line(line, os.getcwd())) + b"\n")
        out.flush()
    return 0


def check_line(line: bytes, workspace: str) -> dict[str, Any]:
    """One verdict for one line; a line that cannot be read asks and says why."""
    identity: Any = None
    try:
        case = _decode(line)
        identity = case.get("id")
        verdict = _judge_case(case, workspace)
    except (BadCase, RuleError, OSError, ValueError) as problem:
        verdict = Verdict(decision="ask", why=str(problem), rule="bad input")
    return {"id": identity, "verdict": verdict.decision, "why": verdict.why, "rule": verdict.rule}


def _decode(line: bytes) -> dict[str, Any]:
    try:
        case = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadCase(f"not a JSON object: {problem}") from problem
    if not isinstance(case, dict):
        raise BadCase("not a JSON object")
    return cast(dict[str, Any], case)


def _text(case: dict[str, Any], key: str) -> str:
    value = case.get(key, "")
    if not isinstance(value, str):
        raise BadCase(f"{key} must be a string")
    return value


def _judge_case(case: dict[str, Any], workspace: str) -> Verdict:
    cwd = _text(case, "cwd")
    cwd = (
        cwd
        if cwd.startswith("/")
        else workspace
        if cwd in ("", "workspace root", ".")
        else os.path.join(workspace, cwd)
    )
    rules = _case_rules(case.get("rules"))
    if "command" in case:
        mode = _mode(_text(case, "mode") or "default")
        access = ShellAccess(command=_text(case, "command"), cwd=cwd)
        return judge(access, _policy(workspace, mode, rules))
    if "op" not in case:
        raise BadCase("a case needs `command`, or `op` and `path`")
    op = _text(case, "op")
    if op not in _OPS:
        raise BadCase(f"op {op!r} is none of {', '.join(_OPS)}")
    usual = "acceptEdits" if op in ("write", "delete") else "default"
    access = FileAccess(op=op, path=_text(case, "path"), cwd=cwd)
    return judge(access, _policy(workspace, _mode(_text(case, "mode") or usual), rules))


def _mode(text: str) -> Mode:
    if text not in _MODES:
        raise BadCase(f"mode {text!r} is none of {', '.join(_MODES)}")
    return _MODES[text]


def _case_rules(given: Any) -> tuple[Rule, ...]:
    """Both forms: `allow_prefix`/`deny_prefix` lists of words, and lists of rules as in settings."""
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise BadCase("rules must be an object")
    rules: list[Rule] = []
    for key, values in cast(dict[str, Any], given).items():
        effect = key.removesuffix("_prefix")
        if effect not in _EFFECTS or not isinstance(values, list):
            raise BadCase(f"rules: {key!r} must be allow, ask, deny, or one of them with _prefix, and hold a list")
        for value in cast(list[Any], values):
            if not isinstance(value, str):
                raise BadCase(f"rules: {key!r} holds something that is not a string")
            rules.append(prefix_rule(value, effect) if key.endswith("_prefix") else parse_rule(value, effect))
    return tuple(rules)


def _policy(workspace: str, mode: Mode = "default", rules: tuple[Rule, ...] = ()) -> Policy:
    home = os.path.expanduser("~")
    return make_policy(root=workspace, home=home, clew_home=str(clew_home()), mode=mode, rules=rules)


def _rules_of(rows: tuple[RuleRow, ...]) -> tuple[Rule, ...]:
    return tuple(parse_rule(row.rule, cast(Decision, row.decision)) for row in rows)


def _explain(args: argparse.Namespace) -> int:
    try:
        given = tuple(parse_rule(text, effect) for effect in ("allow", "deny") for text in getattr(args, effect))
        place = this_place()
        rules = (*given, *_rules_of(ask(place, ListRules()).rules))
    except (RuleError, SettingsError, LookupRefused) as problem:
        print(f"clew permissions explain: {problem}", file=sys.stderr)
        return 2
    policy = _policy(str(place.root), _MODES[args.mode], rules)
    access = ShellAccess(command=args.command, cwd=os.getcwd())
    verdict = judge(access, policy)
    found = judge_shell(access, policy) if verdict.rule not in ("fault", "limits") else ShellVerdict(verdict)
    verdict = found.verdict
    if not place.trusted:
        print("note: this directory is not trusted yet; until then every command asks. With trust it would be:")
    print(f"{verdict.decision}: {sanitize(verdict.why, one_line=True)}" + _rule(verdict.rule))
    if verdict.decision == "ask":
        print("  note: this is the verdict without a sandbox; where one holds commands, it runs there without asking")
    for warning in warnings(args.command):
        print(f"  note: {warning}")
    for part in found.parts:
        print(f"  {part.decision:5} {sanitize(reveal(part.text), one_line=True)}")
        print(f"        {sanitize(part.why, one_line=True)}" + _rule(part.rule))
        for offer in part.offers:
            print(f"        always: {sanitize(offer.rule, one_line=True)}  ({HOLDS[offer.scope]})")
    return 0


def _rule(rule: str) -> str:
    return f"  [{sanitize(rule, one_line=True)}]" if rule else ""


def _list(args: argparse.Namespace) -> int:
    try:
        place = this_place()
        listed = ask(place, ListRules())
    except (SettingsError, LookupRefused) as problem:
        print(f"clew permissions list: {problem}", file=sys.stderr)
        return 2
    places = _policy(str(place.root)).places
    print(f"workspace  {sanitize(', '.join(places.roots), one_line=True)}")
    print(f"own state  {sanitize(places.clew_home, one_line=True)} (settings, trust and keys are closed to every tool)")
    print(f"trusted    {'yes' if place.trusted else 'not yet: project settings are not read, and every command asks'}")
    for row in listed.rules:
        print(f"{row.decision:10} {sanitize(row.rule, one_line=True)}  ({HOLDS[row.scope]})")
    if any(row.removable for row in listed.rules):
        print(
            f"saved in   {sanitize(listed.saved_in, one_line=True)}; take one back with `clew permissions remove RULE`"
        )
    print("always deny  root, home directories, disks, fork bombs, clew's own state")
    print("always ask   protected names (.git, agents' settings, shell start files, ...), secrets, places outside")
    return 0


def _allow(args: argparse.Namespace) -> int:
    try:
        ask(this_place(lenient=True), AllowRule(rule=args.rule))
    except (LookupRefused, OSError) as problem:
        print(f"clew permissions allow: {problem}", file=sys.stderr)
        return 1
    print(f"Allowed in this project until removed: {sanitize(args.rule.strip(), one_line=True)}")
    return 0


def _remove(args: argparse.Namespace) -> int:
    shown = sanitize(args.rule, one_line=True)
    try:
        ask(this_place(lenient=True), RemoveRule(rule=args.rule))
    except OSError as problem:
        print(f"clew permissions remove: {problem}", file=sys.stderr)
        return 1
    except LookupRefused:
        print(
            f"clew permissions remove: {shown} is not saved for this project; `clew permissions list` shows what is.",
            file=sys.stderr,
        )
        return 1
    print(f"Removed {shown}. Sessions that run now keep it until they end.")
    return 0


def _untrust(args: argparse.Namespace) -> int:
    try:
        forgotten = ask(this_place_if_any(), ForgetTrust(directory=args.directory))
    except OSError as problem:
        print(f"clew permissions untrust: {problem}", file=sys.stderr)
        return 1
    place = sanitize(forgotten.place, one_line=True)
    if forgotten.there_was:
        print(f"{place} is no longer trusted.")
        return 0
    print(f"clew permissions untrust: {place} was not trusted.", file=sys.stderr)
    return 1
