"""What the user wants: requests, replies, answers, commands, refinements, pivots, rewinds."""

import pytest

from clew.ledger.goals import is_reply
from unit.ledger.talk import Talk


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes please",
        "go on",
        "3",
        "ok, go ahead",
        "1 and 2",
        "b",
        "好的",
        "继续",
        "да",
        "weiter",
        "はい",
        "👍",
        "lgtm",
        "oui",
    ],
)
def test_replies_are_not_goals(text: str) -> None:
    assert is_reply(text)
    talk = Talk().user("Add a --json flag to the report command").agent("Shall I also update the README?").user(text)
    ledger = talk.ledger()
    assert ledger.goal is not None
    assert ledger.goal.text == "Add a --json flag to the report command"
    assert len(ledger.goals) == 1


@pytest.mark.parametrize(
    "text", ["fix the tests", "use vite instead", "把按钮改成红色", "why does it fail", "rename foo to bar"]
)
def test_short_requests_are_requests(text: str) -> None:
    assert not is_reply(text)


def test_an_answer_keeps_the_question_it_answers() -> None:
    ledger = Talk().user("Set up a dev server").agent("Which one would you prefer, Vite or serve?").user("3").ledger()
    assert ledger.last_request is not None
    assert ledger.last_request.kind == "answer"
    assert ledger.last_request.question == "Which one would you prefer, Vite or serve?"


def test_slash_commands_of_the_program_are_no_goals() -> None:
    ledger = Talk().user("/clear").user("<command-name>/model</command-name>").ledger()
    assert ledger.goal is None
    assert ledger.user_turns == 0


def test_the_words_after_a_command_are_the_goal() -> None:
    text = "<command-name>/plan</command-name><command-args>port the parser</command-args>"
    ledger = Talk().user(text).ledger()
    assert ledger.goal is not None
    assert (ledger.goal.text, ledger.goal.command) == ("port the parser", "/plan")


def test_a_command_of_the_user_begins_the_work() -> None:
    ledger = Talk().user("/team:review").agent("I'll perform a security review of the branch.").ledger()
    assert ledger.goal is not None
    assert (ledger.goal.kind, ledger.goal.command) == ("command", "/team:review")
    assert ledger.goal.restated == "perform a security review of the branch"


def test_later_requests_refine_and_the_first_stays_the_goal() -> None:
    ledger = (
        Talk()
        .user("Write a CSV importer for parcels")
        .agent("Done.")
        .user("The importer should skip empty rows too")
        .ledger()
    )
    assert [goal.kind for goal in ledger.goals] == ["request", "refine"]
    assert ledger.goal is not None
    assert ledger.goal.text.startswith("Write a CSV importer")


@pytest.mark.parametrize(
    "turn", ["New task: draw the logo as SVG", "Forget that. Draw the logo as SVG", "新任务：画一个图标"]
)
def test_an_announced_pivot_becomes_the_goal(turn: str) -> None:
    ledger = Talk().user("Write a CSV importer for parcels").agent("Done.").user(turn).ledger()
    assert ledger.goal is not None
    assert ledger.goal.kind == "pivot"
    assert ledger.goal.text == turn


def test_programs_words_are_not_the_users() -> None:
    talk = Talk().user("<system-reminder>Fix the moon</system-reminder>").user("do this", meta=True)
    talk.user("<ide_opened_file>x</ide_opened_file>\nRename the class Parcel to Package")
    ledger = talk.ledger()
    assert [goal.text for goal in ledger.goals] == ["Rename the class Parcel to Package"]


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
