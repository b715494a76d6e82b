"""When a recap is shown: the whole table of triggers, with times given by hand."""

import pytest

from clew.orient.away import (
    Abort,
    Action,
    Asked,
    AwaySettings,
    AwayState,
    Blurred,
    Draft,
    DraftChanged,
    DraftMade,
    Focused,
    Happening,
    Opened,
    Reveal,
    TurnBegan,
    TurnDone,
    Typed,
    step,
    why,
)
from clew.orient.side_query import Stamp

A = Stamp("s1", "e1")
B = Stamp("s1", "e2")
OTHER = Stamp("s2", "x1")
SIX_S = AwaySettings(away_s=6.0)


def play(
    *events: Happening, settings: AwaySettings = SIX_S, state: AwayState | None = None
) -> tuple[AwayState, list[Action]]:
    current = state or AwayState()
    done: list[Action] = []
    for event in events:
        current, actions = step(current, event, settings)
        done.extend(actions)
    return current, done


def idle(turns: int = 3, since: int = 3, key: Stamp = A) -> TurnDone:
    return TurnDone(0.0, key, turns, since)


def reveals(actions: list[Action]) -> list[Reveal]:
    return [action for action in actions if isinstance(action, Reveal)]


def test_three_turns_and_seven_seconds_away_show_one_recap() -> None:
    state, actions = play(idle(), Blurred(1.0), Focused(8.0))
    assert reveals(actions) == [Reveal(A, "away")]
    assert "away 7 s" in why(state)


def test_it_is_drafted_early_and_once_per_key() -> None:
    _, actions = play(idle(), Blurred(1.0), Focused(2.0), Blurred(3.0))
    assert [action for action in actions if isinstance(action, Draft)] == [Draft(A)]


def test_two_turns_are_too_few() -> None:
    state, actions = play(idle(turns=2), Blurred(1.0), Focused(8.0))
    assert actions == []
    assert "2 of the 3 user turns" in why(state)


def test_one_new_turn_after_a_recap_is_too_few() -> None:
    state, actions = play(idle(turns=9, since=1), Blurred(1.0), Focused(8.0))
    assert reveals(actions) == []
    assert "only 1 of 2 new user turns" in why(state)


def test_a_recap_shown_counts_anew() -> None:
    _, actions = play(idle(), Blurred(1.0), Focused(8.0), Blurred(10.0), Focused(30.0))
    assert len(reveals(actions)) == 1


def test_a_short_absence_is_forgotten() -> None:
    state, actions = play(idle(), Blurred(1.0), Focused(4.0), Focused(100.0))
    assert reveals(actions) == []
    assert state.away_since_s is None
    assert "less than the threshold" in why(state)


def test_blur_twice_counts_from_the_first() -> None:
    _, actions = play(idle(), Blurred(1.0), Blurred(6.0), Focused(8.0))
    assert len(reveals(actions)) == 1


def test_back_while_the_agent_works_waits_for_the_end_of_the_turn() -> None:
    state, actions = play(idle(), TurnBegan(0.5), Blurred(1.0), Focused(8.0))
    assert reveals(actions) == []
    assert "waits" in why(state)
    _, later = play(TurnDone(9.0, B, 4, 4), state=state)
    assert reveals(later) == [Reveal(B, "away")]


def test_an_unsent_draft_is_not_overwritten() -> None:
    state, actions = play(idle(), DraftChanged(0.5, unsent=True), Blurred(1.0), Focused(8.0))
    assert reveals(actions) == []
    assert "unsent draft" in why(state)


def test_a_turn_makes_the_draft_stale() -> None:
    _, actions = play(idle(), TurnBegan(2.0))
    assert actions == [Draft(A), Abort(A)]


def test_a_late_draft_is_dropped() -> None:
    state, _ = play(idle(), TurnBegan(2.0), TurnDone(3.0, B, 4, 4), DraftMade(4.0, A))
    assert state.drafted is None
    assert "dropped" in why(state)
    kept, _ = play(idle(), DraftMade(1.0, A))
    assert kept.drafted == A


def test_another_session_aborts_and_forgets() -> None:
    state, actions = play(
        idle(), Blurred(1.0), Opened(3.0, OTHER, 5, 5, resumed=False), DraftMade(4.0, A), Focused(20.0)
    )
    assert Abort(A) in actions
    assert reveals(actions) == []
    assert state.key == OTHER


def test_resume_shows_at_once_and_an_empty_session_nothing() -> None:
    assert reveals(play(Opened(0.0, OTHER, 1, 1, resumed=True))[1]) == [Reveal(OTHER, "resume")]
    assert reveals(play(Opened(0.0, OTHER, 0, 0, resumed=True))[1]) == []


def test_without_focus_events_typing_after_a_pause_counts() -> None:
    _, actions = play(idle(), Typed(1.0), Typed(2.0), Typed(20.0))
    assert reveals(actions) == [Reveal(A, "away")]
    _, quick = play(idle(), Typed(1.0), Typed(3.0))
    assert reveals(quick) == []


def test_with_focus_events_a_pause_in_typing_is_no_absence() -> None:
    _, actions = play(idle(), Blurred(0.1), Focused(0.2), Typed(1.0), Typed(60.0))
    assert reveals(actions) == []


def test_a_key_while_blurred_means_somebody_is_here() -> None:
    _, actions = play(idle(), Blurred(1.0), Typed(9.0))
    assert reveals(actions) == [Reveal(A, "away")]


def test_switched_off_aborts_and_stays_silent() -> None:
    state, _ = play(idle(), Blurred(1.0))
    off, actions = play(Focused(90.0), state=state, settings=AwaySettings(enabled=False))
    assert actions == [Abort(A)]
    assert "switched off" in why(off)
    assert reveals(play(Opened(0.0, A, 3, 3, resumed=True), settings=AwaySettings(enabled=False))[1]) == []


def test_asking_always_shows() -> None:
    _, actions = play(idle(turns=1, since=0), Asked(1.0), settings=AwaySettings(enabled=False))
    assert actions == [Reveal(A, "manual")]


def test_nothing_open_nothing_shown() -> None:
    state, actions = play(Asked(1.0))
    assert actions == []
    assert "no session" in why(state)


@pytest.mark.parametrize("away_s", [0.5, 60.0, 900.0])
def test_the_threshold_is_the_settings(away_s: float) -> None:
    settings = AwaySettings(away_s=away_s)
    assert reveals(play(idle(), Blurred(0.0), Focused(away_s), settings=settings)[1])
    assert not reveals(play(idle(), Blurred(0.0), Focused(away_s - 0.1), settings=settings)[1])
