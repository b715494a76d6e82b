"""When a recap is shown unasked: the whole table of triggers, with times given by hand."""

import pytest

from clew.orient.away import Away, Sign, ended, noticed

SIX_S = 6.0


def play(state: Away, *signs: tuple[Sign, float], away_s: float = SIX_S, unsent: bool = False) -> tuple[Away, int]:
    shown = 0
    for sign, at_s in signs:
        state, now = noticed(state, sign, at_s, away_s=away_s, unsent=unsent)
        shown += now
    return state, shown


def idle(prompts: int = 3, since: int = 3) -> Away:
    return Away(prompts=prompts, since_recap=since)


def test_three_prompts_and_seven_seconds_away_show_one_recap() -> None:
    _, shown = play(idle(), ("left", 1.0), ("back", 8.0))
    assert shown == 1


def test_two_prompts_are_too_few() -> None:
    _, shown = play(idle(prompts=2), ("left", 1.0), ("back", 8.0))
    assert shown == 0


def test_one_new_prompt_after_a_recap_is_too_few() -> None:
    _, shown = play(idle(prompts=9, since=1), ("left", 1.0), ("back", 8.0))
    assert shown == 0


def test_a_recap_shown_counts_anew() -> None:
    state, shown = play(idle(), ("left", 1.0), ("back", 8.0), ("left", 10.0), ("back", 30.0))
    assert shown == 1
    _, again = play(state.prompted().prompted(), ("left", 40.0), ("back", 60.0))
    assert again == 1
    assert play(idle().shown(), ("left", 1.0), ("back", 8.0))[1] == 0


def test_a_short_absence_is_forgotten() -> None:
    state, shown = play(idle(), ("left", 1.0), ("back", 4.0), ("back", 100.0))
    assert shown == 0
    assert state.left_s is None


def test_leaving_twice_counts_from_the_first() -> None:
    assert play(idle(), ("left", 1.0), ("left", 6.0), ("back", 8.0))[1] == 1


def test_back_while_the_agent_works_waits_for_the_end_of_the_turn() -> None:
    state, shown = play(idle().began(), ("left", 1.0), ("back", 8.0))
    assert shown == 0
    assert ended(state, unsent=False)[1]
    assert not ended(state, unsent=True)[1]
    assert not ended(idle().began(), unsent=False)[1]


def test_unsent_words_are_not_disturbed() -> None:
    _, shown = play(idle(), ("left", 1.0), ("back", 8.0), unsent=True)
    assert shown == 0


def test_another_session_forgets_the_absence() -> None:
    state, _ = play(idle(), ("left", 1.0))
    _, shown = play(state.opened(5), ("back", 20.0))
    assert shown == 0


def test_without_focus_events_typing_after_a_pause_counts() -> None:
    assert play(idle(), ("typed", 1.0), ("typed", 2.0), ("typed", 20.0))[1] == 1
    assert play(idle(), ("typed", 1.0), ("typed", 3.0))[1] == 0
    assert play(idle(), ("typed", 100.0))[1] == 0


def test_with_focus_events_a_pause_in_typing_is_no_absence() -> None:
    assert play(idle(), ("left", 0.1), ("back", 0.2), ("typed", 1.0), ("typed", 60.0))[1] == 0


def test_a_key_while_away_means_somebody_is_here() -> None:
    assert play(idle(), ("left", 1.0), ("typed", 9.0))[1] == 1


@pytest.mark.parametrize("away_s", [0.5, 60.0, 900.0])
def test_the_threshold_is_the_settings(away_s: float) -> None:
    assert play(idle(), ("left", 0.0), ("back", away_s), away_s=away_s)[1] == 1
    assert play(idle(), ("left", 0.0), ("back", away_s - 0.1), away_s=away_s)[1] == 0
