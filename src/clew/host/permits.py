"""Permissions of a running session: the policy in force, and what the user adds to it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast, get_args

import msgspec

from clew.permissions.access import Access, FileAccess, Mode, ShellAccess, Verdict
from clew.permissions.conditions import Policy, with_rules
from clew.permissions.policy import judge, judge_call
from clew.permissions.rules import RuleError, add_rule, parse_rule
from clew.protocol.lookups.rules_and_models import RuleRow

MODES = get_args(Mode)
FOR_PEOPLE = frozenset({"protected names", "secret names", "leaves the sandbox", "memory", "limits", "fault"})
"""What a verdict names as its reason where no hook may answer; some of these a mode answers."""


def no_rule(rule: str) -> bool:
    """For a session that keeps no rules."""
    return False


class Permits:
    """Mode and rules can change while a session runs; each verdict uses what is in force at that moment."""

    def __init__(
        self,
        policy: Policy,
        *,
        save: Callable[[tuple[str, ...]], None],
        unsave: Callable[[str], bool] = no_rule,
        saved: Callable[[], Sequence[str]] = tuple,
        saved_in: str = "",
        results_dir: Path | None = None,
    ) -> None:
        """`save` keeps rules for later sessions, `unsave` forgets one. `results_dir`: long results this session wrote
        itself; the model was told to read them there."""
        self.policy = policy
        self._save = save
        self._unsave = unsave
        self._saved = saved
        self.saved_in = saved_in
        """The file behind `save`; empty where there is none."""
        self._session_only: set[str] = set()
        self._lent: tuple[str, ...] = ()
        self.started_with = policy.mode
        self._results_dir = results_dir
        self.plan_file = ""
        """The session's own plan, which the model may read and write in every mode; empty: it has none."""

    def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """What permissions say now."""
        return judge_call(tuple(access for access in accesses if not self._own(access)), self._in_force())

    def only_a_person(self, accesses: tuple[Access, ...]) -> bool:
        """Whether no hook may answer for these: what still asks where the user gave up asking (protected names,
        secrets, ask rules, what could not be judged), and a way out of the sandbox."""
        if any(isinstance(access, ShellAccess) and access.leaves_sandbox for access in accesses):
            return True
        asked = [access for access in accesses if not self._own(access)]
        policy = self._in_force()
        if any(judge(access, policy).rule in FOR_PEOPLE for access in asked):
            return True
        unasked = msgspec.structs.replace(policy, mode="bypassPermissions")
        return judge_call(tuple(asked), unasked).decision != "allow"

    def _own(self, access: Access) -> bool:
        """Whether this reads a result that was spilled, or touches the plan, wherever links lead."""
        if not isinstance(access, FileAccess) or access.op == "delete":
            return False
        target = os.path.realpath(os.path.join(access.cwd, access.path))
        if self.plan_file and target == self.plan_file:
            return True
        if self._results_dir is None or access.op == "write":
            return False
        return Path(target).is_relative_to(os.path.realpath(self._results_dir))

    def lend(self, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Allow rules that hold until `take_back`: what a command or skill of the user's own brings for its turn. Those
        that are understood."""
        taken: list[str] = []
        for text in rules:
            try:
                parse_rule(text, "allow", "session")
            except RuleError:
                continue
            taken.append(text)
        self._lent = tuple(dict.fromkeys((*self._lent, *taken)))
        return tuple(taken)

    def take_back(self) -> None:
        """The turn is over."""
        self._lent = ()

    def _in_force(self) -> Policy:
        """The policy with what is lent: allow rules only, which no deny or ask rule and no protected name yields to."""
        if not self._lent:
            return self.policy
        rules = self.policy.rules
        for text in self._lent:
            rules = add_rule(rules, text)
        return with_rules(self.policy, rules)

    def remember(self, rules: tuple[str, ...], *, kept: bool = True) -> None:
        """The user said "always" to exactly these rules, or with `kept` false: until this session ends."""
        taken: list[str] = []
        for text in rules:
            try:
                self.policy = with_rules(self.policy, add_rule(self.policy.rules, text))
            except RuleError:
                continue  # an offer that is no rule was never made by us
            taken.append(text)
        if taken and kept:
            self._save(tuple(taken))
            self._session_only.difference_update(taken)
        elif taken:
            self._session_only.update(taken)

    def allow(self, rule: str) -> None:
        """The user wrote this rule for the project. Raises RuleError, or OSError; then nothing changed."""
        rules = add_rule(self.policy.rules, rule)
        self._save((rule.strip(),))
        self.policy = with_rules(self.policy, rules)

    def forget(self, rule: str) -> None:
        """A rule that was saved with "always", or given for this session, no longer holds. Raises KeyError when it was
        not, or OSError."""
        given = rule.strip() in self._session_only
        if not self._unsave(rule) and not given:
            raise KeyError(rule)
        self._session_only.discard(rule.strip())
        kept = tuple(known for known in self.policy.rules if known.text != rule.strip() or known.effect != "allow")
        self.policy = with_rules(self.policy, kept)

    def rows(self) -> tuple[RuleRow, ...]:
        """The rules in force, as front ends list them."""
        saved = set(self._saved())
        return tuple(
            RuleRow(
                decision=rule.effect,
                rule=rule.text,
                scope="project" if kept else "session" if given else rule.scope,
                removable=kept or given,
            )
            for rule in self.policy.rules
            for kept in [rule.effect == "allow" and rule.text in saved]
            for given in [rule.effect == "allow" and rule.text in self._session_only]
        )

    def set_mode(self, mode: str) -> None:
        """Raises ValueError for a mode there is not."""
        if mode not in MODES:
            raise ValueError(f"there is no permission mode {mode!r}; modes are {', '.join(MODES)}")
        self.policy = msgspec.structs.replace(self.policy, mode=cast(Mode, mode))
