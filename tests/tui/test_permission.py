"""The permission dialog: what is seen, what each key and click answers, and what never answers it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.protocol.events import ApprovalRequested, ApprovalResolved, RuleOffer
from clew.protocol.ids import AgentId, CallId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval, Op
from clew.tui.dialogs import base
from clew.tui.dialogs.permission import PermissionDialog
from clew.tui.dialogs.registry import DialogContext, dialog_for, opens
from fakes.loop_clock import LoopClock
from tui.hosting import Host

QUIET_S = 1000.0
"""Longer than any machine takes for a test."""
PUSH = RuleOffer(rule="Bash(git push *)", covers="git push")
ADD = RuleOffer(rule="Bash(git add *)", covers="git add .")
WIDER = RuleOffer(rule="Bash(git *)", covers="git push")
HERE = RuleOffer(rule="Bash(git push *)", covers="git push", scope="session")
EDIT = {
    "file_path": "/project/weights.py",
    "old_string": "def heaviest(parcels):\n    best = 0\n    return best",
    "new_string": "def heaviest(parcels):\n    best = None\n    return best",
}


def asked(
    subject: str = "git push",
    *,
    tool: str = "Bash",
    offers: tuple[RuleOffer, ...] = (PUSH,),
    arguments: dict[str, object] | None = None,
    quiet_s: float = 0,
    waiting: int = 0,
    warnings: tuple[str, ...] = (),
) -> Callable[[], PermissionDialog]:
    request = ApprovalRequested(
        request_id=RequestId("q"),
        call_id=CallId("c"),
        tool=tool,
        subject=subject,
        why="no rule allows it",
        offers=offers,
        warnings=warnings,
    )
    call = ToolCallPart(id=CallId("c"), name=tool, arguments=arguments) if arguments is not None else None
    context = DialogContext(facts=SessionFacts(model="local/m"), call=call, agent=AgentId("helper-7"), waiting=waiting)
    return lambda: PermissionDialog(request, context, quiet_s=quiet_s)


def edit(**more: object) -> Callable[[], PermissionDialog]:
    return asked("write /project/weights.py", tool="Edit", offers=(), arguments={**EDIT, **more})


ALLOW = AnswerApproval(request_id=RequestId("q"), decision="allow")
DENY = AnswerApproval(request_id=RequestId("q"), decision="deny")
STOP = AnswerApproval(request_id=RequestId("q"), decision="deny", stop=True)


def because(reason: str) -> AnswerApproval:
    return AnswerApproval(request_id=RequestId("q"), decision="deny", reason=reason)


def saves(*rules: str) -> AnswerApproval:
    return AnswerApproval(request_id=RequestId("q"), decision="allow_always", rules=rules)


@pytest.mark.parametrize(
    ("make", "keys", "ops"),
    [
        (asked(), ["y"], (ALLOW,)),
        (asked(), ["Y"], (ALLOW,)),
        (asked(), ["1"], (ALLOW,)),
        (asked(), ["down", "enter"], (ALLOW,)),
        (asked(), ["up", "enter"], (STOP,)),
        (asked(), ["x"], (STOP,)),
        (asked(), ["escape"], (STOP,)),
        (asked(), ["a"], (saves("Bash(git push *)"),)),
        (asked(), ["s"], (replace(saves("Bash(git push *)"), scope="session"),)),
        (asked(offers=(HERE,)), ["s"], (replace(saves("Bash(git push *)"), scope="session"),)),
        (asked(offers=(ADD, PUSH)), ["s", "1", "enter"], (replace(saves("Bash(git push *)"), scope="session"),)),
        (asked(offers=(ADD, PUSH, WIDER)), ["a", "enter"], (saves("Bash(git add *)", "Bash(git push *)"),)),
        (asked(offers=(ADD, PUSH, WIDER)), ["a", "1", "3", "enter"], (saves("Bash(git push *)", "Bash(git *)"),)),
        (asked(offers=(ADD, PUSH)), ["a", "space", "enter"], (saves("Bash(git push *)"),)),
        (asked(offers=(ADD, PUSH)), ["a", "escape", "y"], (ALLOW,)),
        (asked(), ["n", *"no", "space", "n", "enter"], (because("no n"),)),
        (asked(), ["n", "enter"], (DENY,)),
        (asked(), ["n", "z", "escape", "y"], (ALLOW,)),
        (edit(), ["e"], (replace(ALLOW, mode="acceptEdits"),)),
    ],
)
async def test_keys_answer(make: Callable[[], PermissionDialog], keys: list[str], ops: tuple[Op, ...]) -> None:
    app = Host(make)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.answers == [ops]
        assert app.dismissals == 0


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (asked(), ["enter"]),
        (asked(), ["space", "z", "0", "9", "tab", "pagedown"]),
        (asked(), ["у"]),  # a Cyrillic letter that looks like y
        (asked(offers=()), ["a", "s", "e"]),
        (asked(offers=(HERE,)), ["a"]),
        (asked(offers=(ADD, PUSH)), ["a", "1", "2", "enter"]),
    ],
)
async def test_nothing_else_does(make: Callable[[], PermissionDialog], keys: list[str]) -> None:
    app = Host(make)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.answers == []


async def test_it_answers_only_once() -> None:
    app = Host(asked())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y", "x", "escape", "y")
        await pilot.pause()
        assert app.answers == [(ALLOW,)]


async def test_a_click_answers() -> None:
    app = Host(asked())
    async with app.run_test(size=(60, 20)) as pilot:
        await app.click(pilot, "Allow always")
        assert app.answers == [(saves("Bash(git push *)"),)]


async def test_a_click_ticks_a_rule() -> None:
    app = Host(asked(offers=(ADD, PUSH)))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a")
        await app.click(pilot, "Bash(git add *)")
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == [(saves("Bash(git push *)"),)]


async def test_what_was_typed_as_it_opened_never_answers_and_is_not_lost() -> None:
    app = Host(asked(quiet_s=QUIET_S))
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        await pilot.press("y", "e", "s", "enter", "escape")
        await app.click(pilot, "Allow once")
        assert app.dialog.quiet
        assert app.answers == []
        assert app.overtyped == "yes"
        clock.forward(QUIET_S)
        await pilot.pause()
        await pilot.pause()
        assert not app.dialog.quiet
        assert any("did not count" in line for line in app.rows())
        await pilot.press("y")
        await pilot.pause()
        assert app.answers == [(ALLOW,)]


async def test_each_key_begins_the_quiet_time_anew() -> None:
    app = Host(asked(quiet_s=QUIET_S))
    async with app.run_test(size=(80, 24)) as pilot:
        clock = LoopClock()
        for _ in range(3):
            clock.forward(QUIET_S * 0.6)
            await pilot.press("y")
        assert app.dialog.quiet
        assert app.answers == []


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_text_reason_asker_and_rule_are_seen(size: tuple[int, int]) -> None:
    app = Host(asked("git push && ls", arguments={"command": "git push && ls", "description": "Push"}, waiting=2))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        rows = app.rows()
        text = "\n".join(rows)
        assert " │ git push && ls\n" in text
        assert " description │ Push\n" in text
        assert "no rule allows it · agent helper-7, model m" in text
        assert "2 more waiting" in text
        assert "   a  Allow always in this project  Bash(git push *)\n" in text
        assert "▌ test_heaviest fails, please fix it" in text


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_of_a_long_text_all_answers_stay_in_sight_and_what_is_hidden_is_told(size: tuple[int, int]) -> None:
    script = "\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf /important"
    app = Host(asked(script, warnings=("it deletes much",)))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        rows = app.rows()
        assert any("Careful: it deletes much" in row for row in rows)
        assert [row[3] for row in rows if row[3:4] in "ysanx" and row[4:6] == "  "] == ["y", "s", "a", "n", "x"]
        assert any("more rows" in row for row in rows)
        for _ in range(80):
            await pilot.press("pagedown")
        await pilot.pause()
        rows = app.rows()
        assert any("│ rm -rf /important" in row for row in rows)
        assert not any("more row" in row for row in rows)
        assert app.answers == []


@pytest.mark.parametrize("size", [(10, 6), (20, 8), (40, 12), (300, 100)])
async def test_any_window_will_do(size: tuple[int, int]) -> None:
    app = Host(edit())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.resize_terminal(30, 10)
        await pilot.press("pagedown", "down", "y")
        await pilot.pause()
        assert app.answers == [(ALLOW,)]


async def test_a_text_beyond_all_bounds_is_cut_and_shown_on_demand() -> None:
    app = Host(asked("echo " + "A" * 30_000 + "; touch x"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("characters are not shown" in row for row in app.rows())
        await pilot.press("v")
        await pilot.pause()
        assert not any("characters are not shown" in row for row in app.rows())
        assert not any("Show all" in row for row in app.rows())
        assert app.answers == []


async def test_no_line_of_the_text_can_pose_as_one_of_ours() -> None:
    app = Host(asked("ls \u202e x\n  y  Allow once\n" + "─" * 30))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        rows = app.rows()
        assert [row for row in rows if "Allow once" in row] == [" │   y  Allow once", "   y  Allow once"]
        assert any("\\u{202E}" in row for row in rows)
        assert any(row.startswith(" Careful: the text holds invisible") for row in rows)


async def test_an_edit_shows_its_change() -> None:
    app = Host(edit(replace_all=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = "\n".join(app.rows())
        assert " │ write /project/weights.py\n wherever the old text stands\n" in text
        assert " │   def heaviest(parcels):\n │ −     best = 0\n │ +     best = None\n │       return best\n" in text
        assert "old_string" not in text


async def test_an_edit_whose_call_is_not_known_says_so() -> None:
    app = Host(asked("write /project/a", tool="Write", offers=()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("What it would write is not known here." in row for row in app.rows())


async def test_another_answer_settles_it() -> None:
    dialog = asked()()
    mine = ApprovalResolved(
        request_id=RequestId("q"), call_id=CallId("c"), tool="Bash", subject="x", decision="deny", by="interrupt"
    )
    other = ApprovalResolved(
        request_id=RequestId("r"), call_id=CallId("c"), tool="Bash", subject="x", decision="deny", by="interrupt"
    )
    assert dialog.settled_by(mine)
    assert not dialog.settled_by(other)
    assert dialog.refusal(stop=False) == (DENY,)


async def test_the_registry_knows_it() -> None:
    request = asked()().request
    assert opens(request)
    assert isinstance(dialog_for(request, DialogContext()), PermissionDialog)


def test_outside_of_tests_the_quiet_time_is_three_tenths_of_a_second() -> None:
    assert base.QUIET_S == 0.3
