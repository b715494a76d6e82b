"""The question dialog: choices by key and mouse, several at once, words of one's own, back and forth, and no answer."""

from collections.abc import Callable

import pytest

from clew.protocol.events import Choice, Question, QuestionAnswered, QuestionAsked
from clew.protocol.ids import AgentId, CallId, RequestId
from clew.protocol.ops import AnswerQuestion
from clew.tui.dialogs.question import QuestionDialog
from clew.tui.dialogs.registry import DialogContext, dialog_for
from fakes.loop_clock import LoopClock
from tui.hosting import Host

ONE = Question(
    question="Which database?",
    header="Store",
    choices=(Choice(label="Postgres", description="needs a server"), Choice(label="SQLite"), Choice(label="None")),
)
MANY = Question(question="Which checks?", multiple=True, choices=(Choice(label="ruff"), Choice(label="pyright")))
OPEN = Question(question="What name?")
DECLINED = AnswerQuestion(request_id=RequestId("q"), answers=(), declined=True)


def asked(*questions: Question, quiet_s: float = 0) -> Callable[[], QuestionDialog]:
    event = QuestionAsked(request_id=RequestId("q"), call_id=CallId("c"), questions=questions)
    return lambda: QuestionDialog(event, DialogContext(), quiet_s=quiet_s)


def answers(*given: tuple[str, ...]) -> AnswerQuestion:
    return AnswerQuestion(request_id=RequestId("q"), answers=given)


@pytest.mark.parametrize(
    ("questions", "keys", "op"),
    [
        ([ONE], ["2"], answers(("SQLite",))),
        ([ONE], ["down", "down", "down", "enter"], answers(("None",))),
        ([ONE], ["4", *"My", "S", "enter"], answers(("MyS",))),
        ([ONE], ["4", "x", "escape", "1"], answers(("Postgres",))),
        ([ONE], ["4", "x", "up", "enter"], answers(("None",))),
        ([MANY], ["1", "2", "enter"], answers(("ruff", "pyright"))),
        ([MANY], ["1", "2", "1", "enter"], answers(("pyright",))),
        ([MANY], ["down", "space", "enter"], answers(("ruff",))),
        ([MANY], ["2", "3", *"mypy", "enter"], answers(("pyright", "mypy"))),
        ([OPEN], [*"parcels", "enter"], answers(("parcels",))),
        ([OPEN], ["1", "2", "enter"], answers(("12",))),
        ([ONE, MANY, OPEN], ["1", "2", "enter", "a", "enter"], answers(("Postgres",), ("pyright",), ("a",))),
        ([ONE, MANY], ["1", "left", "2", "1", "enter"], answers(("SQLite",), ("ruff",))),
        ([ONE, MANY], ["1", "left", "right", "1", "enter"], answers(("Postgres",), ("ruff",))),
        ([ONE], ["escape"], DECLINED),
        ([OPEN], ["x", "escape"], DECLINED),
    ],
)
async def test_keys_answer(questions: list[Question], keys: list[str], op: AnswerQuestion) -> None:
    app = Host(asked(*questions))
    async with app.run_test(size=(60, 20)) as pilot:
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        assert app.answers == [(op,)]


@pytest.mark.parametrize(
    ("questions", "keys"),
    [
        ([ONE], ["enter"]),
        ([ONE], ["9", "x", "right", "left", "space"]),
        ([ONE], ["4", "enter"]),
        ([MANY], ["1", "1", "down", "enter"]),
        ([OPEN], ["space", "enter"]),
        ([ONE, MANY], ["1"]),
    ],
)
async def test_nothing_else_does(questions: list[Question], keys: list[str]) -> None:
    app = Host(asked(*questions))
    async with app.run_test(size=(60, 20)) as pilot:
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        assert app.answers == []


async def test_a_click_answers() -> None:
    app = Host(asked(ONE))
    async with app.run_test(size=(60, 20)) as pilot:
        await app.click(pilot, "SQLite")
        assert app.answers == [(answers(("SQLite",)),)]


async def test_keys_of_the_quiet_time_reach_neither_options_nor_field() -> None:
    app = Host(asked(OPEN, quiet_s=1000))
    async with app.run_test(size=(60, 20)) as pilot:
        clock = LoopClock()
        await pilot.press("1", "x", "enter")
        assert app.overtyped == "1x"
        clock.forward(1000)
        await pilot.pause()
        await pilot.press("o", "k", "enter")
        await pilot.pause()
        assert app.answers == [(answers(("ok",)),)]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_what_is_seen(size: tuple[int, int]) -> None:
    app = Host(asked(ONE, MANY))
    async with app.run_test(size=size) as pilot:
        await pilot.press("down")
        await pilot.pause()
        rows = app.rows()
        first = next(at for at, row in enumerate(rows) if "Question" in row)
        assert rows[first].startswith(" ── Question · Store ──")
        assert rows[first].endswith(" 1 of 2 ─")
        assert rows[first + 1 :] == [
            " Which database?",
            "",
            " › 1  Postgres  needs a server",
            "   2  SQLite",
            "   3  None",
            "   4  Your own words …",
            "",
            " numbers, or ↑ ↓ and Enter · ← → questions · Esc declines",
        ]


async def test_words_of_the_model_are_made_safe_and_answers_stay_exact() -> None:
    sly = Question(question="Sure?\x1b[2J", choices=(Choice(label="yes\x1b[0m\nno", description="\u202ex"),))
    app = Host(asked(sly))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert not set("\x1b\u202e") & set("".join(app.rows()))
        await pilot.press("1")
        await pilot.pause()
        assert app.answers == [(answers(("yes\x1b[0m\nno",)),)]


async def test_another_answer_settles_it_and_the_registry_knows_it() -> None:
    dialog = asked(ONE)()
    assert dialog.settled_by(QuestionAnswered(request_id=RequestId("q"), call_id=CallId("c")))
    assert not dialog.settled_by(QuestionAnswered(request_id=RequestId("r"), call_id=CallId("c")))
    assert isinstance(dialog_for(dialog.asked, DialogContext()), QuestionDialog)


async def test_the_agent_that_asks_is_named() -> None:
    event = QuestionAsked(request_id=RequestId("q"), call_id=CallId("c"), questions=(ONE,))
    app = Host(lambda: QuestionDialog(event, DialogContext(agent=AgentId("helper-7"))))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert any(row.startswith(" ── Question of agent helper-7 · Store ──") for row in app.rows())
