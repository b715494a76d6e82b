"""Rules on offer, in the two pieces that programs know; and which of them an answer wants, exactly as offered."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from clew.protocol.event_kinds.asks import RuleOffer, RuleScope
from clew.streaming.shapes.control import PermissionUpdate, RuleValue

DESTINATIONS: dict[RuleScope, str] = {"session": "session", "project": "localSettings", "user": "userSettings"}
"""Where a rule would be kept, as programs name the places."""


class WantedRules(Struct, kw_only=True):
    """What the updates of an answer come to."""

    rules: tuple[str, ...] = ()
    session_only: bool = False
    mode: str = ""
    problems: tuple[str, ...] = ()
    """What is not done, a sentence each."""


def offered_updates(offers: Sequence[RuleOffer]) -> tuple[PermissionUpdate, ...]:
    """One suggestion for each place where rules would be kept."""
    return tuple(
        PermissionUpdate(
            type="addRules",
            rules=tuple(value_of(offer.rule) for offer in offers if offer.scope == scope),
            behavior="allow",
            destination=place,
        )
        for scope, place in DESTINATIONS.items()
        if any(offer.scope == scope for offer in offers)
    )


def rules_wanted(offers: Sequence[RuleOffer], updates: Sequence[PermissionUpdate]) -> WantedRules:
    """The offered rules among them, the mode, and what cannot be done. Where nothing is said, a rule holds for the
    session."""
    wanted = WantedRules()
    problems: list[str] = []
    for update in updates:
        if update.type == "setMode" and update.mode:
            wanted.mode = update.mode
        elif update.type == "addRules" and update.behavior in (None, "allow"):
            known = {value_of(offer.rule): offer.rule for offer in offers}
            wanted.rules += tuple(known[rule] for rule in update.rules or () if rule in known)
            wanted.session_only = wanted.session_only or update.destination in (None, "session")
            problems += unknown(update.rules or (), known)
        else:
            problems.append(f"permission update {update.type!r} is not done: only offered allow rules and setMode are")
    wanted.rules = tuple(dict.fromkeys(wanted.rules))
    wanted.problems = tuple(problems)
    return wanted


def unknown(rules: Sequence[RuleValue], known: dict[RuleValue, str]) -> Iterator[str]:
    """Rules that were never offered; they would be wider than what was asked about."""
    for rule in rules:
        if rule not in known:
            yield f"the rule {text_of_rule(rule)!r} was not offered with this question, so it is not kept"


def value_of(rule: str) -> RuleValue:
    """`Bash(git diff *)` in two pieces."""
    tool, bracket, rest = rule.partition("(")
    if bracket and rest.endswith(")"):
        return RuleValue(tool_name=tool, rule_content=rest[:-1])
    return RuleValue(tool_name=rule)


def text_of_rule(value: RuleValue) -> str:
    """And back in one."""
    return value.tool_name if value.rule_content is None else f"{value.tool_name}({value.rule_content})"
