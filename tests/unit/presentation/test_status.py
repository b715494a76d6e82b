"""The lines around the transcript, and the last one for the shell."""

import pytest
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.presentation.rows.spans import plain
from clew.presentation.status import activity_row, farewell, footer_row, team_words
from clew.presentation.story.activity import Activity
from clew.protocol.event_kinds.agents import MemberRow, TeamRow
from clew.protocol.events import SessionEnded
from clew.protocol.standing import Standing
from clew.protocol.state import SessionState


def test_a_wait_for_the_next_try_is_told_from_its_reason() -> None:
    activity = Activity(doing="retrying", what="attempt 2 of 10: the server is gone", since_s=100.0, until_s=103.0)
    row = plain(activity_row(activity, 100, now_s=101.0))
    assert "Trying again in 2 s, attempt 2 of 10: the server is gone · 1.0 s" in row
    assert plain(activity_row(activity, 100, now_s=101.0, stopping=True)).endswith("Stopping · 1.0 s")


@pytest.mark.parametrize(
    ("unsaved", "turns", "kept", "words"),
    [
        (0, 1, True, "Continue with: clew --resume s1"),
        (0, 0, True, ""),
        (0, 1, False, ""),
        (1, 1, True, "1 entry could not be saved; what was before, if anything: clew --resume s1"),
        (8, 1, True, "8 entries could not be saved; what was before, if anything: clew --resume s1"),
    ],
)
def test_what_is_missing_is_not_offered(unsaved: int, turns: int, words: str, *, kept: bool) -> None:
    facts = SessionFacts(session_id="s1", state=replace(SessionState(), turns=turns), kept=kept)
    assert farewell(SessionEnded(reason="closed", unsaved=unsaved), facts) == words


def test_the_footer_says_the_team_and_who_works_or_waits() -> None:
    ann = MemberRow(name="ann", standing=Standing.WORKING)
    bob = MemberRow(name="bob", standing=Standing.WAITING)
    idle = MemberRow(name="eve", standing=Standing.IDLE)

    def facts(*members: MemberRow) -> SessionFacts:
        return SessionFacts(state=replace(SessionState(), team=TeamRow(name="blue\x1b", members=members)))

    assert "blue" in plain(footer_row(facts(ann, bob, idle), 120))
    assert plain(footer_row(facts(ann, bob, idle), 120)).count("bob waits for you, ann works") == 1
    assert team_words(facts(ann, ann, ann), 120).endswith(": 3 work")
    assert team_words(facts(ann), 60).endswith(": 1 works")
    assert team_words(facts(idle), 120).endswith(": nobody works")
    assert "\x1b" not in team_words(facts(idle), 120)
    assert team_words(SessionFacts(), 120) == ""
