"""Short ways: pickers of values, shortcuts on a question mark, the sign of vi's mode, a queued prompt sent now."""

from clew.protocol.event_kinds.agents import TaskRow
from clew.protocol.events import PlaceChanged, PromptQueued, ScreenChanged, TaskEnded, TaskStarted
from clew.protocol.ids import PromptId, TaskId
from clew.protocol.lookups.tasks import ListTasks, TasksListed
from clew.protocol.ops import Interrupt, SetPermissionMode, SetTheme, SubmitPrompt, WithdrawPrompt
from clew.protocol.standing import Standing
from tui.screen_lab import over, prompt, screen, turn, words


async def test_themes_and_modes_are_chosen_from_a_list() -> None:
    async with screen() as lab:
        await lab.type("/theme")
        await lab.press("enter")
        assert "only the colours your terminal gives" in lab.text()
        await lab.type("light")
        await lab.press("enter")
        assert lab.client.asked(SetTheme) == [SetTheme(theme="clew-light")]
        await lab.type("/mode")
        await lab.press("enter")
        assert "Permission mode" in lab.text()
        assert "bypassPermissions" not in lab.text()
        await lab.type("plan")
        await lab.press("enter")
        assert lab.client.asked(SetPermissionMode) == [SetPermissionMode(mode="plan")]


async def test_a_question_mark_alone_shows_the_shortcuts() -> None:
    async with screen() as lab:
        await lab.press("question_mark")
        assert "keys · everywhere" in lab.text()
        assert lab.app.prompt.text == ""
        await lab.press("escape")
        await lab.type("why")
        await lab.press("question_mark")
        assert lab.app.prompt.text == "why?"


async def test_the_footer_has_the_sign_of_the_mode_of_vi() -> None:
    async with screen() as lab:
        assert "INSERT" not in lab.rows()[-1]
        await lab.tell(ScreenChanged(name="vim", value="on"))
        assert "INSERT" in lab.rows()[-1]
        await lab.press("escape")
        assert "NORMAL" in lab.rows()[-1]
        await lab.tell(ScreenChanged(name="vim", value="off"))
        assert "NORMAL" not in lab.rows()[-1]


async def test_enter_in_an_empty_prompt_sends_the_next_queued_one_now() -> None:
    async with screen() as lab:
        await lab.tell(turn(), prompt("x"), words("I work"))
        await lab.tell(*(PromptQueued(prompt_id=PromptId(name), content=name) for name in ("one", "two")))
        assert "Enter sends it now" in lab.text()
        await lab.press("enter")
        sent = [op for op in lab.client.ops if isinstance(op, WithdrawPrompt | Interrupt | SubmitPrompt)]
        assert sent == [
            WithdrawPrompt(prompt_id=PromptId("one")),
            WithdrawPrompt(prompt_id=PromptId("two")),
            Interrupt(),
            SubmitPrompt(content="one"),
            SubmitPrompt(content="two"),
        ]


async def test_the_header_keeps_the_project_when_the_directory_changes() -> None:
    async with screen() as lab:
        await lab.tell(PlaceChanged(cwd="/work/parcels/deep/inside", branch="other"))
        assert lab.rows()[0].startswith(" clew · parcels · other")


async def test_commands_in_the_background_are_counted_with_their_newest_line() -> None:
    async with screen((100, 24)) as lab:
        begun = TaskStarted(task_id=TaskId("b1"), kind="shell", title="make all")
        await lab.tell(turn(), prompt("x"), begun, words("it runs"), over())
        assert "1 in the background" in lab.rows()[-1]
        assert lab.client.asked(ListTasks)
        told = TaskRow(task_id=TaskId("b1"), kind="shell", title="make all", tail=("one", "compiling depot.c"))
        await lab.tell(TasksListed(tasks=(told,)))
        assert "1 in the background: compiling depot.c" in lab.rows()[-1]
        await lab.later(4)
        assert len(lab.client.asked(ListTasks)) == 2
        await lab.tell(TaskEnded(task_id=TaskId("b1"), standing=Standing.COMPLETED, exit_code=0))
        assert "background" not in lab.rows()[-1]


async def test_every_command_stands_above_what_it_brings() -> None:
    async with screen() as lab:
        for line in ("/version", "/status", "/clear"):
            await lab.type(line)
            await lab.press("escape", "enter")
        rows = lab.rows()
        assert all(f"┆ {line}" in rows for line in ("/version", "/status", "/clear"))
