"""The screen as a person has it: what is shown for what happens, and what keys ask of the session."""

from pathlib import Path

import pytest
from textual import events

from clew.config.schema import ScreenSettings
from clew.protocol.events import (
    ApprovalResolved,
    Notice,
    PromptQueued,
    PromptWithdrawn,
    RecapReady,
    Recorded,
    RetryScheduled,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    ToolProgress,
)
from clew.protocol.ids import CallId, EntryId, PromptId, RequestId
from clew.protocol.lookups.rules_and_models import ListModels, ModelsListed
from clew.protocol.lookups.session import HistoryLoaded, LoadHistory
from clew.protocol.ops import (
    AnswerApproval,
    Close,
    Interrupt,
    RequestRecap,
    RunShell,
    SetPermissionMode,
    SubmitPrompt,
    WithdrawPrompt,
)
from tui.screen_lab import (
    AT,
    asks,
    call,
    delta,
    edited,
    over,
    prompt,
    ran,
    runs,
    screen,
    snapshot,
    started,
    turn,
    words,
)


async def test_a_turn_from_prompt_to_roll_up() -> None:
    async with screen() as lab:
        await lab.type("fix it")
        await lab.press("enter")
        assert lab.client.asked(SubmitPrompt)[0].content == "fix it"
        read = call("Edit", file_path="weights.py")
        await lab.tell(turn(), prompt("fix it"), delta("I look "), delta("first."))
        assert "  I look first." in lab.rows()
        assert "▌ fix it" in lab.rows()
        assert "Esc interrupts" in lab.text()
        await lab.tell(words("I look first."), read, runs(read), edited())
        assert any(row.startswith("● Edited weights.py +1 -1") for row in lab.rows())
        assert any("2 −     best = 0" in row for row in lab.rows())
        assert any("2 +     best = None" in row for row in lab.rows())
        await lab.tell(words("**Both** pass.", reply="r2"), over())
        assert "  Both pass." in lab.rows()
        assert any(row.startswith("── 7.0 s · Edited weights.py +1 -1 ─") for row in lab.rows())
        assert "Esc interrupts" not in lab.text()


async def test_escape_interrupts_once_and_clears_when_pressed_twice() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"))
        await lab.type("later")
        await lab.press("escape")
        await lab.press("escape")
        assert len(lab.client.asked(Interrupt)) == 1
        assert "Stopping" in lab.text()
        await lab.tell(over(reason="interrupted"))
        assert lab.app.prompt.text == "later"
        await lab.press("escape")
        assert lab.app.prompt.text == "later"
        await lab.press("escape")
        assert lab.app.prompt.text == ""
        await lab.press("up")
        assert lab.app.prompt.text == "later"


async def test_ctrl_c_twice_quits_and_the_session_is_closed() -> None:
    async with screen() as lab:
        await lab.press("ctrl+c")
        assert not lab.client.asked(Close)
        assert "again quits" in lab.text()
        await lab.press("ctrl+c")
        assert lab.client.asked(Close)
    assert lab.app.return_value == 130


async def test_an_approval_takes_the_place_of_the_prompt_and_the_draft_stays() -> None:
    async with screen() as lab:
        step = call("Bash", command="rm -rf build")
        await lab.type("my draft")
        await lab.tell(turn(), prompt("x"), step, asks())
        assert "Allow Bash?" in lab.text()
        assert "rm -rf build" in lab.text()
        dialog = lab.app.bottom.dialog
        assert dialog is not None
        await lab.later(0.4)
        await lab.press("y")
        answer = lab.client.asked(AnswerApproval)[0]
        assert (answer.request_id, answer.decision) == ("ask-1", "allow")
        resolved = ApprovalResolved(
            request_id=RequestId("ask-1"), call_id=CallId("c1"), tool="Bash", subject="rm", decision="allow"
        )
        await lab.tell(resolved)
        assert lab.app.bottom.dialog is None
        assert lab.app.prompt.text == "my draft"


async def test_an_approval_that_somebody_else_answered_closes() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), call("Bash", command="rm"), asks())
        assert lab.app.bottom.asking
        resolved = ApprovalResolved(
            request_id=RequestId("ask-1"), call_id=CallId("c1"), tool="Bash", subject="rm", decision="deny"
        )
        await lab.tell(resolved)
        assert not lab.app.bottom.asking
        assert not lab.client.asked(AnswerApproval)


async def test_who_joins_late_is_asked_what_is_open() -> None:
    async with screen() as lab:
        await lab.tell(started(resumed=True), snapshot(working=True, waiting=(asks(),)))
        assert lab.app.bottom.asking


async def test_failures_open_by_themselves_and_density_changes_history_too() -> None:
    async with screen() as lab:
        good, bad = call("Bash", command="true"), call("Bash", "c2", "r2", command="pytest")
        await lab.tell(turn(), prompt("x"), good, ran("true", "quiet output"), bad)
        await lab.tell(ran("pytest", "E   assert 1 == 2", 1, "c2"), over())
        assert "quiet output" not in lab.text()
        assert "assert 1 == 2" in lab.text()
        await lab.press("ctrl+o")
        assert "quiet output" in lab.text()
        await lab.press("ctrl+o", "ctrl+o")
        assert "quiet output" not in lab.text()


async def test_a_click_opens_a_batch() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), call("Bash", command="ls"), ran("ls", "a-file"), over())
        y = next(at for at, row in enumerate(lab.rows()) if row.startswith("●"))
        await lab.pilot.click(offset=(5, y))
        await lab.settle()
        assert "a-file" in lab.text()


async def test_the_tail_of_a_running_command_is_live() -> None:
    async with screen() as lab:
        step = call("Bash", command="make")
        await lab.tell(
            turn(), prompt("x"), step, runs(step), ToolProgress(call_id=CallId("c1"), text="compiling one\n")
        )
        assert "compiling one" in lab.text()
        assert "Running Bash make" in lab.text()


async def test_a_retry_is_told_with_its_reason() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), RetryScheduled(attempt=2, max_attempts=5, delay_s=9.0, reason="overloaded"))
        assert "Trying again" in lab.text()
        assert "attempt 2 of 5: overloaded" in lab.text()


async def test_what_a_model_writes_never_stands_in_the_gutter() -> None:
    imitation = "▌ delete everything\n\n● Edited secrets.py\n\n※ recap: all is well\n\n── 7 s · $0.03 ──"
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words(imitation), over())
        rows = [row for row in lab.rows()[1:-3] if row and not row.startswith("── 7.0 s")]
        assert [row for row in rows if not row.startswith("  ")] == ["▌ x"]


@pytest.mark.parametrize("size", [(10, 6), (60, 20), (80, 24), (120, 40)])
async def test_every_size_shows_the_prompt_and_nothing_wider_than_the_screen(size: tuple[int, int]) -> None:
    text = "Ein langer Satz 中文字符没有空格 👩‍👩‍👧 with `code`.\n\n| a | b |\n|---|---|\n| 1 | " + "long " * 30 + "|\n"
    async with screen(size) as lab:
        await lab.tell(
            turn(), prompt("do 中文"), words(text), call("Bash", command="x" * 200), ran("x", "y" * 300), over()
        )
        assert any("▌" in row for row in lab.rows()[-4:])
        assert all(len(row) <= size[0] for row in lab.rows() if row.isascii())


async def test_untrusted_text_has_no_controls_left() -> None:
    async with screen() as lab:
        await lab.tell(
            turn(), prompt("x"), words("a\x1b]0;owned\x07b\x1b[31mred\u202e"), Notice(level="info", text="\x1b[2J")
        )
        assert "\x1b" not in lab.text()
        assert "\u202e" not in lab.text()


async def test_resume_shows_recap_and_last_exchange_and_loads_the_rest_when_scrolled() -> None:
    async with screen() as lab:
        await lab.tell(started(resumed=True), snapshot(turns=2))
        assert lab.client.asked(LoadHistory)
        page = tuple(
            Recorded(at=AT, event=event) for event in (prompt("the last question", 9), words("The answer."), over())
        )
        await lab.tell(HistoryLoaded(events=page, before=EntryId("p9")), RecapReady(text="You fix it."))
        assert "▌ the last question" in lab.rows()
        assert "※ recap: You fix it." in lab.rows()
        await lab.press("pageup")
        older = lab.client.asked(LoadHistory)[-1]
        assert older.before == "p9"
        rest = (
            Recorded(at=AT, event=prompt("the first question", 1)),
            Recorded(at=AT, event=words("Yes.", reply="r0")),
        )
        await lab.tell(HistoryLoaded(events=rest, before=None))
        assert lab.rows()[1] == "▌ the first question"


async def test_escape_scrolled_up_goes_to_the_newest_line_first_at_work_and_at_rest() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), *(words(f"paragraph {n}", reply=f"r{n}") for n in range(40)))
        assert "Esc interrupts" in lab.rows()[-1]
        await lab.press("pageup")
        assert "Esc goes there, then interrupts" in lab.rows()[-1]
        await lab.press("escape")
        assert not lab.client.asked(Interrupt)
        assert "  paragraph 39" in lab.rows()
        assert "Esc interrupts" in lab.rows()[-1]
        await lab.press("escape")
        assert len(lab.client.asked(Interrupt)) == 1
        await lab.tell(over(reason="interrupted"))
        await lab.press("pageup")
        assert lab.rows()[-1].endswith("Esc goes there")
        await lab.press("escape")
        assert "newer below" not in lab.text()
        assert "F1 help" in lab.rows()[-1]


async def test_scrolled_up_nothing_moves_while_words_arrive() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), *(words(f"paragraph {n}", reply=f"r{n}") for n in range(40)))
        await lab.press("pageup")
        before = lab.rows()[1:15]
        assert "newer below" in lab.text()
        await lab.tell(*(delta(f"more {n} ", reply="grows") for n in range(30)))
        assert lab.rows()[1:15] == before
        await lab.tell(over())
        await lab.press("escape")
        assert "newer below" not in lab.text()
        assert "more 29" not in lab.text()  # it was never whole, so it is in no log


async def test_what_is_queued_is_seen_and_can_be_taken_back() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), PromptQueued(prompt_id=PromptId("q1"), content="and also this"))
        assert "and also this" in lab.text()
        await lab.press("up")
        assert lab.client.asked(WithdrawPrompt)[0].prompt_id == "q1"
        await lab.tell(PromptWithdrawn(prompt_id=PromptId("q1")))
        assert lab.app.prompt.text == "and also this"


async def test_shift_tab_cycles_the_mode() -> None:
    async with screen() as lab:
        await lab.press("shift+tab")
        assert lab.client.asked(SetPermissionMode)[0].mode == "acceptEdits"


async def test_a_shell_line_runs_and_its_output_is_shown() -> None:
    async with screen() as lab:
        await lab.type("!ls")
        await lab.press("enter")
        assert lab.client.asked(RunShell)[0].command == "ls"
        request = RequestId("s1")
        await lab.tell(ShellStarted(request_id=request, command="ls"), ShellProgress(request_id=request, text="one\n"))
        assert "one" in lab.text()
        ended = ShellEnded(
            request_id=request, entry_id=EntryId("e"), parent_id=None, command="ls", output="one\ntwo\n", exit_code=2
        )
        await lab.tell(ended)
        assert "two" in lab.text()
        assert "exit 2" in lab.text()


async def test_a_command_without_an_argument_opens_its_picker() -> None:
    async with screen() as lab:
        await lab.type("/model")
        await lab.press("enter")
        assert lab.client.asked(ListModels)
        await lab.tell(ModelsListed(models=("a/one", "a/two")))
        assert lab.app.bottom.asking
        assert "one" in lab.text()
        await lab.press("escape")
        assert not lab.app.bottom.asking


async def test_an_unknown_command_sends_nothing() -> None:
    async with screen() as lab:
        await lab.type("/nonsense")
        await lab.press("enter")
        assert not lab.client.asked(SubmitPrompt)
        assert "Unknown command" in lab.text()


async def test_search_finds_and_marks_what_is_far_above() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), *(words(f"paragraph {n}", reply=f"r{n}") for n in range(60)), over())
        await lab.press("ctrl+f")
        await lab.type("paragraph 7")
        await lab.press("enter")
        assert "  paragraph 7" in lab.rows()
        await lab.press("escape")
        assert "  paragraph 59" in lab.rows()
        assert lab.app.focused is lab.app.prompt


async def test_reading_walks_from_prompt_to_prompt_and_copies() -> None:
    async with screen() as lab:
        for number in range(1, 8):
            await lab.tell(
                turn(number), prompt(f"question {number}", number), words("so " * 90, reply=f"r{number}"), over(number)
            )
        await lab.press("ctrl+t", "[", "[", "[")
        current = lab.app.transcript.current()
        assert current is not None
        assert current.key == "p5"
        await lab.press("y")
        assert lab.app.clipboard == "question 5"


async def test_a_return_after_a_while_asks_for_a_recap() -> None:
    async with screen(away_s=0.01) as lab:
        for number in (1, 2, 3):
            await lab.tell(turn(number), prompt("x", number), over(number))
        lab.app.post_message(events.AppBlur())
        await lab.pilot.pause(0.1)
        lab.app.post_message(events.AppFocus())
        await lab.settle()
        assert lab.client.asked(RequestRecap)


async def test_no_colour_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen(env={"NO_COLOR": "1"}, screen=ScreenSettings(theme="clew-light")) as lab:
        await lab.tell(turn(), prompt("x"), words("**bold** `code`"), over())
        for strip in lab.app.screen._compositor.render_strips():
            for segment in strip:
                assert segment.style is None or segment.style.color is None or segment.style.color.is_default


async def test_the_keys_of_a_broken_file_are_told_and_the_usual_ones_work(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"prompt": {"hyper+q": "fly"}}')
    async with screen(home=tmp_path) as lab:
        assert "fly" in lab.text()
        await lab.type("hi")
        assert lab.app.prompt.text == "hi"
