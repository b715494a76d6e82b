"""/hooks: what is listed, and that only what was listed can be approved."""

import pytest

from clew.commands.base import CommandContext, CommandResult, SessionFacts
from clew.commands.facts import facts_with
from clew.commands.hooks import hook_line, listing
from clew.commands.registry import run_command
from clew.protocol.event_kinds.programs import HookState
from clew.protocol.events import HookRan, HookRow
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks


def row(digest: str, state: HookState, command: str = "./check.sh") -> HookRow:
    return HookRow(
        digest=digest,
        moment="PostToolUse",
        matcher="Edit|Write",
        command=command,
        source="/p/.claude/settings.json",
        scope="claude_project",
        state=state,
    )


LISTED = HooksListed(
    hooks=(row("d1", "approved"), row("d2", "unapproved"), row("d3", "untrusted"), row("d4", "unapproved")),
    problems=("/p/.claude/settings.json: hooks.X is no moment",),
)


def run(text: str, *, listed: bool = True) -> CommandResult:
    facts = facts_with(LISTED, SessionFacts()) if listed else SessionFacts()
    return run_command(text, CommandContext(facts=facts))


def test_the_list_names_moment_state_command_and_file() -> None:
    text = "\n".join(listing(LISTED))
    for words in ("PostToolUse (Edit|Write)", "runs", "not approved", "./check.sh", "settings.json"):
        assert words in text
    assert "hooks.X is no moment" in text
    assert "There are no hooks" in listing(HooksListed(hooks=()))[0]


def test_hidden_signs_of_a_command_are_seen() -> None:
    told = listing(HooksListed(hooks=(row("d", "unapproved", "true \u202e\x1b[2J"),)))
    assert "\u202e" not in "".join(told)
    assert "\x1b" not in "".join(told)


@pytest.mark.parametrize(
    ("typed", "op"),
    [
        ("/hooks", ListHooks()),
        ("/hooks approve 2", ApproveHooks(digests=("d2",))),
        ("/hooks approve 2 4", ApproveHooks(digests=("d2", "d4"))),
        ("/hooks approve all", ApproveHooks(digests=("d2", "d4"))),
        ("/hooks revoke 1", ApproveHooks(digests=("d1",), approved=False)),
    ],
)
def test_what_is_asked_for(typed: str, op: object) -> None:
    result = run(typed)
    assert (*result.ops, *result.lookups) == (op,)


@pytest.mark.parametrize(
    "typed",
    ["/hooks approve", "/hooks approve 9", "/hooks approve 0", "/hooks approve x", "/hooks revoke all", "/hooks go"],
)
def test_what_is_not_understood_changes_nothing(typed: str) -> None:
    result = run(typed)
    assert result.is_error
    assert not result.ops


def test_nothing_is_approved_unseen() -> None:
    result = run("/hooks approve 1", listed=False)
    assert result.is_error
    assert "List them first" in result.lines[0]


def test_how_a_hook_went_is_one_short_line() -> None:
    ran = HookRan(
        hook="./check.sh\n--all", moment="PreToolUse", outcome="failed", detail="exit code 1:\nno\n" + "x" * 900
    )
    line = hook_line(ran)
    assert "\n" not in line
    assert len(line) <= 400
    assert "./check.sh --all" in line
