"""Everything a verdict depends on besides the access itself: places, mode, rules, trust, sandbox."""

from msgspec import Struct
from msgspec.structs import replace

from clew.permissions.access import Decision, Mode
from clew.permissions.files import Places
from clew.permissions.paths import real
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
