"""What the user wants: requests, replies, commands, rewinds, and what programs write in the user's name."""

import pytest

from clew.ledger.requests import is_reply
from unit.ledger.talk import Talk


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes please", "go on", "3", "ok, go ahead", "1 and 2", "b", "好的", "继续", "да", "はい", "👍", "lgtm"],
)
def test_replies_to_a_question_are_no_requests_of_their_own(text: str) -> None:
    talk = Talk().user("Add a --json flag to the report command").agent("Shall I also update the README?").user(text)
    ledger = talk.ledger()
    assert [goal.text for goal in ledger.goals] == ["Add a --json flag to the report command"]
    assert ledger.turn == 1
    assert ledger.last_request is not None
    assert (ledger.last_request.kind, ledger.last_request.question) == ("reply", "Shall I also update the README?")


@pytest.mark.parametrize(
    "text", ["fix the tests", "把按钮改成红色", "why does it fail", "rename foo to bar", "run x.py"]
)
def test_short_requests_are_requests(text: str) -> None:
    assert not is_reply(text)


def test_slash_commands_of_the_program_are_no_goals() -> None:
    ledger = Talk().user("/clear").user("<command-name>/model</command-name>").ledger()
    assert ledger.goal is None
    assert ledger.user_turns == 0


def test_the_words_after_a_command_are_the_goal() -> None:
    text = "<command-name>/plan</command-name><command-args>port the parser</command-args>"
    goal = Talk().user(text).ledger().goal
    assert goal is not None
    assert (goal.text, goal.command) == ("port the parser", "/plan")


def test_a_command_of_the_user_begins_the_work() -> None:
    goal = Talk().user("/team:review").agent("I'll look at the branch.").ledger().goal
    assert goal is not None
    assert (goal.kind, goal.command) == ("command", "/team:review")


def test_a_greeting_gives_way_to_the_first_request_and_one_word_is_a_session_too() -> None:
    goal = Talk().user("hello").agent("Hi!").user("Write a CSV importer for parcels").ledger().goal
    assert goal is not None
    assert goal.text == "Write a CSV importer for parcels"
    alone = Talk().user("hello").agent("Hi!").ledger().goal
    assert alone is not None
    assert alone.text == "hello"


def test_programs_words_are_not_the_users() -> None:
    talk = Talk().user("<system-reminder>Fix the moon</system-reminder>").user("do this", meta=True)
    talk.user("<ide_opened_file>x</ide_opened_file>\nRename the class Parcel to Package")
    assert [goal.text for goal in talk.ledger().goals] == ["Rename the class Parcel to Package"]


def test_the_task_inside_tags_is_the_request() -> None:
    text = "Solve it.\n<pr_description>reindex() drops the last row</pr_description>\nMany rules follow."
    goal = Talk().user(text).ledger().goal
    assert goal is not None
    assert goal.text == "reindex() drops the last row"


def test_a_rewound_prompt_is_forgotten() -> None:
    talk = Talk().user("Write a CSV importer for parcels").agent("Done.")
    talk.user("Now write it all in Haskell, with monads").agent("Hm.").user(
        "Now add tests for the importer", parent="e2"
    )
    assert [goal.text for goal in talk.ledger().goals] == [
        "Write a CSV importer for parcels",
        "Now add tests for the importer",
    ]


def test_a_megabyte_of_log_does_not_hide_the_request() -> None:
    log = "2026-01-01 12:00:00 ERROR worker died\n" * 30000
    goal = Talk().user("Find out why the worker dies.\n" + log).ledger().goal
    assert goal is not None
    assert goal.text.startswith("Find out why the worker dies.")
    assert len(goal.text) <= 4000


def test_a_sequence_for_the_terminal_is_no_word_of_a_request() -> None:
    goal = Talk().user("\x1b]0;owned\x07 do it in dates.py, \x1b[1mplease").ledger().goal
    assert goal is not None
    assert goal.text == "do it in dates.py, please"
