"""Everything a verdict depends on besides the access itself: places, mode, rules, trust, sandbox."""

import os

from msgspec import Struct
from msgspec.structs import replace

from clew.permissions.access import Access, Decision, FileAccess, MemoryAccess, Mode, ShellAccess, ToolAccess
from clew.permissions.files import Places
from clew.permissions.paths import beneath, real
from clew.permissions.rules import READ_FAMILY, Rule, covers_tool, exact_path, matches_path


class Policy(Struct, frozen=True, kw_only=True):
    """What is in force. Build it with `make_policy`."""

    places: Places
    mode: Mode = "default"
    rules: tuple[Rule, ...] = ()
    trusted: bool = True
    sandboxed: bool = False
    """A sandbox that passed its self-test holds for shell commands."""

    def matching(self, effect: Decision, tool: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.effect == effect and covers_tool(rule, tool))


def with_rules(policy: Policy, rules: tuple[Rule, ...]) -> Policy:
    """The policy with other rules. Project rules can only narrow: their allow rules are dropped (T2).

    An allow rule that names exactly one file opens it although its name is a secret's, to tools, shell and sandbox
    alike (test_opened_secrets.py). A pattern never does."""
    kept = tuple(rule for rule in rules if not (rule.scope == "project" and rule.effect == "allow"))
    root = policy.places.roots[0] if policy.places.roots else ""
    exact = {
        path: rule
        for rule in kept
        if rule.effect == "allow" and rule.tool == "Read" and (path := exact_path(rule, root, policy.places.home))
    }
    narrowed = [rule for rule in kept if rule.effect != "allow" and rule.tool in (*READ_FAMILY, "*")]
    opened = frozenset(
        target
        for path in exact
        if not any(matches_path(rule, one, root, policy.places.home) for rule in narrowed for one in (path, real(path)))
        and (target := real(path)) == path
    )
    return replace(policy, rules=kept, places=replace(policy.places, opened=opened))


def make_policy(
    *,
    root: str,
    home: str,
    clew_home: str,
    mode: Mode = "default",
    rules: tuple[Rule, ...] = (),
    additional: tuple[str, ...] = (),
    trusted: bool = True,
    sandboxed: bool = False,
) -> Policy:
    """Resolve the user's directories once."""
    places = Places(roots=tuple(real(path) for path in (root, *additional)), home=real(home), clew_home=real(clew_home))
    return with_rules(Policy(places=places, mode=mode, trusted=trusted, sandboxed=sandboxed), rules)


def target_of(access: FileAccess) -> str:
    """Where a file access leads. What is deleted is a link itself."""
    path = os.path.join(access.cwd, os.path.expanduser(access.path))
    if access.op != "delete":
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def seen_from(at: str, access: Access, policy: Policy) -> Policy:
    """The policy with the checkout `at` as the only workspace, for commands and for files in it."""
    if not at or (isinstance(access, FileAccess) and not beneath(target_of(access), at)):
        return policy
    return replace(policy, places=replace(policy.places, roots=(at,)))


def leaving(checkout: str, accesses: tuple[Access, ...], *, alone: bool = True) -> str:
    """Why one of these would change something outside an agent's own checkout; empty: none would, as far as is known
    before it runs. `alone` false: for what is no file a person may be asked, as in the project's own checkout."""
    for access in accesses:
        match access:
            case FileAccess(op="write" | "delete") if not beneath(target_of(access), checkout):
                return f"this agent works in a checkout of its own: it changes files below {checkout} only"
            case _ if not alone:
                continue
            case ShellAccess(leaves_sandbox=True):
                return "this agent works in a checkout of its own: its commands do not leave the sandbox"
            case MemoryAccess():
                return "this agent works in a checkout of its own: it keeps nothing in memory files"
            case ToolAccess(read_only=False) if access.tool.startswith("mcp__"):
                return "this agent works in a checkout of its own: servers do not know it, so only tools that read"
            case _:
                continue
    return ""
