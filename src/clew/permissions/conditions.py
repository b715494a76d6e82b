"""Everything a verdict depends on besides the access itself: places, mode, rules, trust, sandbox."""

from msgspec import Struct

from clew.permissions.access import Decision, Mode
from clew.permissions.files import Places
from clew.permissions.paths import real
from clew.permissions.rules import Rule


class Policy(Struct, frozen=True, kw_only=True):
    """What is in force. Build it with `make_policy`."""

    places: Places
    mode: Mode = "default"
    rules: tuple[Rule, ...] = ()
    trusted: bool = True
    sandboxed: bool = False
    """A sandbox that passed its self-test holds for shell commands."""

    def matching(self, effect: Decision, tool: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.effect == effect and rule.tool in (tool, "*"))


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
    """Resolve the user's directories once. Project rules can only narrow: their allow rules are dropped (T2)."""
    kept = tuple(rule for rule in rules if not (rule.scope == "project" and rule.effect == "allow"))
    places = Places(roots=tuple(real(path) for path in (root, *additional)), home=real(home), clew_home=real(clew_home))
    return Policy(places=places, mode=mode, rules=kept, trusted=trusted, sandboxed=sandboxed)
