"""What waits to join: shown, taken back to be edited, dropped."""

from textual import on
from textual.app import ComposeResult

from clew.protocol.event_kinds.turns import PromptQueued
from clew.protocol.ids import PromptId
from clew.protocol.messages import TextPart
from clew.tui.prompt.queue_list import QueueList
from tui.prompt_app import PromptApp
from tui.test_prompt import rows


def queued(*texts: str) -> tuple[PromptQueued, ...]:
    return tuple(PromptQueued(prompt_id=PromptId(text), content=text) for text in texts)


class QueueApp(PromptApp):
    """The queue above the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = QueueList()
        self.wanted: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        above, panel = super().compose()
        yield above
        yield self.queue
        yield panel

    @on(QueueList.EditWanted)
    def note_edit(self, event: QueueList.EditWanted) -> None:
        self.wanted.append(("edit", event.prompt_id))

    @on(QueueList.DropWanted)
    def note_drop(self, event: QueueList.DropWanted) -> None:
        self.wanted.append(("drop", event.prompt_id))

    @on(QueueList.Left)
    def note_left(self) -> None:
        self.wanted.append(("left", ""))
        self.prompt.focus()


async def test_what_is_queued_is_seen_edited_and_dropped_by_keys_and_mouse() -> None:
    app = QueueApp()
    async with app.run_test(size=(40, 24)) as pilot:
        assert not app.queue.display
        app.queue.show(
            (
                *queued("first", "second\nwith \x1b[31mlines", "third " + "long " * 30),
                PromptQueued(prompt_id=PromptId("r"), content="a reminder", origin="clew"),
                PromptQueued(prompt_id=PromptId("p"), content=(TextPart(text="with a picture"),)),
            )
        )
        await pilot.pause()
        shown = [row for row in rows(app) if "queued" in row]
        assert len(shown) == 4, "what the program queued itself is not the person's"
        assert all(len(row) == 40 for row in shown)
        assert "second⏎with" in shown[1]
        assert not any("\x1b" in row for row in rows(app))
        assert app.queue.last is not None
        assert app.queue.last.prompt_id == "p"

        app.queue.focus()
        await pilot.press("up", "up", "enter", "x")
        assert app.wanted == [("edit", "second\nwith \x1b[31mlines"), ("drop", "second\nwith \x1b[31mlines")]
        app.wanted.clear()
        await pilot.click(app.queue, offset=(12, 0))
        await pilot.click(app.queue, offset=(39, 1))
        await pilot.pause()
        assert [kind for kind, _ in app.wanted] == ["edit", "drop"]
        app.wanted.clear()
        await pilot.press("down", "down", "down", "down")
        assert app.wanted == [("left", "")], "below the last row is the prompt"
        app.queue.focus()
        await pilot.pause()
        app.queue.show(())
        await pilot.pause()
        assert not app.queue.display
        assert app.prompt.has_focus


async def test_many_rows_scroll_to_the_marked_one() -> None:
    app = QueueApp()
    async with app.run_test(size=(40, 30)) as pilot:
        app.queue.show(queued(*(f"number {number}" for number in range(12))))
        await pilot.pause()
        assert app.queue.region.height == 5
        app.queue.focus()
        await pilot.pause()
        assert any("> queued number 11" in row for row in rows(app))
        await pilot.press(*["up"] * 11)
        await pilot.pause()
        assert any("> queued number 0" in row for row in rows(app))


async def test_on_a_tiny_screen_the_prompt_stays_in_sight() -> None:
    app = QueueApp()
    async with app.run_test(size=(10, 6)) as pilot:
        app.queue.show(queued(*(f"number {number}" for number in range(12))))
        await pilot.press("slash", "r", "e")
        await pilot.pause()
        assert rows(app)[-1].startswith("› /re")
        assert app.panel.completions.region.height == 2
        await pilot.press("down", "down", "down")
        await pilot.pause()
        assert any(row.startswith("> ") for row in rows(app))
