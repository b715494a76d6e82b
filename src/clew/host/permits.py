"""Permissions of a running session: the policy in force, and what the user adds to it."""

from collections.abc import Callable
from typing import cast, get_args

import msgspec

from clew.permissions.access import Access, Mode, Verdict
from clew.permissions.policy import Policy, judge_call
from clew.permissions.rules import RuleError, add_rule

MODES = get_args(Mode)


class Permits:
    """Mode and rules can change while a session runs; each verdict uses what is in force at that moment."""

    def __init__(self, policy: Policy, *, save: Callable[[tuple[str, ...]], None]) -> None:
        """`save` keeps rules for later sessions; it says itself when it cannot."""
        self.policy = policy
        self._save = save

    def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """What permissions say now."""
        return judge_call(accesses, self.policy)

    def remember(self, rules: tuple[str, ...]) -> None:
        """The user said "always" to exactly these rules."""
        kept: list[str] = []
        for text in rules:
            try:
                self.policy = msgspec.structs.replace(self.policy, rules=add_rule(self.policy.rules, text))
            except RuleError:
                continue  # an offer that is no rule was never made by us
            kept.append(text)
        if kept:
            self._save(tuple(kept))

    def set_mode(self, mode: str) -> None:
        """Raises ValueError for a mode there is not."""
        if mode not in MODES:
            raise ValueError(f"there is no permission mode {mode!r}; modes are {', '.join(MODES)}")
        self.policy = msgspec.structs.replace(self.policy, mode=cast(Mode, mode))
