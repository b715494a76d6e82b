"""Permission rules of a place: which are in force, and a person's changes of the saved ones and of trust."""

from typing import Any

from msgspec.structs import replace

from clew.agents.permits import Permits, SavedRules, policy_of, rules_of
from clew.config.errors import SettingsError
from clew.config.schema import Permissions
from clew.host.workspace import Workspace
from clew.permissions.rules import RuleError
from clew.permissions.trust import TrustStore, trust_root
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.rules_and_models import (
    AllowRule,
    ForgetTrust,
    ListRules,
    RemoveRule,
    RuleRow,
    RulesListed,
    TrustForgotten,
)
from clew.transcript.log.store import SessionStore


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """The rules that a session would have here, before or after a change. A rule in the settings that cannot be
    understood is refused by a list, and keeps nobody from changing a saved one. Raises LookupRefused or OSError."""
    if isinstance(lookup, ForgetTrust):
        there_was = TrustStore(workspace.home).forget(lookup.directory)
        return TrustForgotten(place=trust_root(lookup.directory), there_was=there_was)
    assert isinstance(lookup, ListRules | AllowRule | RemoveRule)
    try:
        rules_of(workspace.settings.permissions, workspace)
    except SettingsError as error:
        if isinstance(lookup, ListRules):
            raise LookupRefused(str(error.__cause__ or error)) from error
        workspace = without_rules(workspace)
    return rules_listed(lookup, permits_at(workspace))


def rules_listed(lookup: ListRules | AllowRule | RemoveRule, permits: Permits) -> RulesListed:
    """Make the change that is asked for, if any, and list the rules. Raises LookupRefused, or OSError when the file
    cannot be written; then nothing changed."""
    try:
        if isinstance(lookup, AllowRule):
            permits.allow(lookup.rule)
        elif isinstance(lookup, RemoveRule):
            permits.forget(lookup.rule)
    except RuleError as error:
        raise LookupRefused(str(error)) from error
    except KeyError as error:
        words = f'{error.args[0]} was not saved with "always"; rules in settings are changed there'
        raise LookupRefused(words) from error
    return RulesListed(mode=permits.policy.mode, rules=by_origin(rule_rows(permits)), saved_in=permits.saved_in)


def rule_rows(permits: Permits) -> tuple[RuleRow, ...]:
    """The rules in force, as front ends list them."""
    return tuple(
        RuleRow(
            decision=rule.effect,
            rule=rule.text,
            scope="project" if saved else "session" if given else rule.scope,
            removable=saved or given,
        )
        for rule, saved, given in permits.origins()
    )


def by_origin(rows: tuple[RuleRow, ...]) -> tuple[RuleRow, ...]:
    """The rows, where a rule that is in the settings and saved too has one of each. Saved rules come last."""
    last = {(row.decision, row.rule): number for number, row in enumerate(rows)}
    return tuple(
        row
        if row.scope != "project" or last[row.decision, row.rule] == number
        else replace(row, scope="user", removable=False)
        for number, row in enumerate(rows)
    )


def permits_at(workspace: Workspace) -> Permits:
    """The permits that a session would begin with here. Raises SettingsError for a rule that is not understood."""
    saved = SavedRules(SessionStore(workspace.home).project_dir(workspace.root))
    return Permits(
        policy_of(workspace, saved),
        save=saved.add,
        unsave=saved.remove,
        saved=saved.texts,
        saved_in=str(saved.path),
    )


def without_rules(workspace: Workspace) -> Workspace:
    """The place as if its settings had no rules."""
    settings = replace(workspace.settings, permissions=Permissions())
    return replace(workspace, loaded=replace(workspace.loaded, settings=settings))
