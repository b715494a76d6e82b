"""The plan dialog: Markdown that scrolls, every way to answer, and the person's own editor."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.protocol.events import PlanAnswered, PlanProposed
from clew.protocol.ids import CallId, RequestId
from clew.protocol.lookups.session import OpenPlan, PlanOpened, PlanShown, SavePlan
from clew.protocol.ops import AnswerPlan
from clew.tui.dialogs.plan import PlanDialog
from clew.tui.dialogs.plan_editor import PlanEditorDialog
from clew.tui.dialogs.registry import DialogContext, dialog_for
from fakes.effort import HANG_S
from tui.hosting import Host

ID = RequestId("p")
PLAN = "# Move the cache\n\n1. Read **cache.py**\n2. Write `store.py`\n"
PROPOSED = PlanProposed(request_id=ID, call_id=CallId("c"), plan=PLAN, path="/h/s/plan.md", mode_after="default")


def asked(event: PlanProposed = PROPOSED) -> Callable[[], PlanDialog]:
    return lambda: PlanDialog(event, DialogContext(), quiet_s=0)


@pytest.mark.parametrize(
    ("keys", "op"),
    [
        (["y"], AnswerPlan(request_id=ID, decision="accept")),
        (["1"], AnswerPlan(request_id=ID, decision="accept")),
        (["a"], AnswerPlan(request_id=ID, decision="accept_edits")),
        (["down", "down", "enter"], AnswerPlan(request_id=ID, decision="accept_edits")),
        (["n", *"tests", "enter"], AnswerPlan(request_id=ID, decision="keep_planning", comment="tests")),
        (["n", "enter"], AnswerPlan(request_id=ID, decision="keep_planning")),
        (["n", "escape", "y"], AnswerPlan(request_id=ID, decision="accept")),
        (["x"], AnswerPlan(request_id=ID, decision="keep_planning", stop=True)),
        (["escape"], AnswerPlan(request_id=ID, decision="keep_planning", stop=True)),
    ],
)
async def test_keys_answer(keys: list[str], op: AnswerPlan) -> None:
    app = Host(asked())
    async with app.run_test(size=(60, 20)) as pilot:
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        assert app.answers == [(op,)]


async def test_enter_alone_accepts_nothing() -> None:
    app = Host(asked())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("enter", "space", "z")
        await pilot.pause()
        assert app.answers == []


async def test_a_long_plan_scrolls_and_keeps_its_answers_in_sight() -> None:
    items = "\n".join(f"{number}. Item {number} \x1b[31mred" for number in range(1, 200))
    app = Host(asked(PlanProposed(request_id=ID, call_id=CallId("c"), plan=items, path="/h/plan.md")))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        first = app.rows()
        assert "\x1b" not in "".join(first)
        assert any("Item 1 " in row for row in first)
        assert any("Accept, and make edits" in row for row in first)
        for _ in range(60):
            await pilot.press("pagedown")
        await pilot.pause()
        assert any("Item 199" in row for row in app.rows())
        assert any("Accept, and make edits" in row for row in app.rows())


def test_the_registry_opens_it_and_an_answer_elsewhere_closes_it() -> None:
    dialog = dialog_for(PROPOSED, DialogContext())
    assert isinstance(dialog, PlanDialog)
    assert dialog.settled_by(PlanAnswered(request_id=ID, call_id=CallId("c"), decision="accept"))
    assert not dialog.settled_by(PlanAnswered(request_id=RequestId("q"), call_id=CallId("c"), decision="accept"))


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf "# My way\\n" > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))


async def until(app: Host, wanted: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG_S):
        while not wanted():  # noqa: ASYNC110 (a thread and another process work meanwhile)
            await asyncio.sleep(0.01)
    await asyncio.sleep(0)


@pytest.mark.usefixtures("editor")
async def test_the_plan_is_edited_outside_and_shown_as_it_is_then() -> None:
    app = Host(asked())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("e")
        await pilot.pause()
        (opening,) = app.inquiries
        assert isinstance(opening, OpenPlan)
        app.answer(PlanOpened(plan=PLAN, path="/h/s/plan.md"))
        await until(app, lambda: len(app.inquiries) == 2)
        saving = app.inquiries[1]
        assert isinstance(saving, SavePlan)
        assert saving.plan == "# My way\n"
        app.answer(PlanShown(plan=saving.plan, path="", saved=True))
        await pilot.pause()
        assert any("My way" in row for row in app.rows())
        assert any("edited by you" in row for row in app.rows())
        await pilot.press("y")
        await pilot.pause()
        assert app.answers == [(AnswerPlan(request_id=ID, decision="accept"),)]


@pytest.mark.usefixtures("editor")
async def test_a_command_opens_it_too() -> None:
    opened = PlanOpened(plan=PLAN, path="/h/s/plan.md")
    app = Host(lambda: PlanEditorDialog(opened, quiet_s=0))
    async with app.run_test(size=(60, 20)):
        await until(app, lambda: bool(app.answers))
        assert app.answers == [(SavePlan(plan="# My way\n"),)]


async def test_an_editor_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    app = Host(lambda: PlanEditorDialog(PlanOpened(plan=PLAN, path="/p"), quiet_s=0))
    async with app.run_test(size=(60, 20)) as pilot:
        await until(app, lambda: any("could not be started" in row for row in app.rows()))
        await pilot.press("escape")
        await pilot.pause()
        assert (app.answers, app.dismissals) == ([], 1)
