"""What breaks is told by whoever started the screen, and the session is closed in order."""

import pytest

from clew.protocol.events import Notice
from clew.protocol.ops import Close, Op
from clew.tui.app import ClewApp
from clew.tui.options import ScreenOptions
from clew.tui.reading.drawing import RowLine
from clew.tui.run import run_screen
from tui.screen_lab import PlayedClient, snapshot, started


class BrokenClient(PlayedClient):
    """Its events end in an error."""

    async def events(self):
        async for envelope in super().events():
            yield envelope
            if isinstance(envelope.event, Notice):
                raise RuntimeError("the events broke")


@pytest.fixture(autouse=True)
def headless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal is drawn on here."""
    run = ClewApp.run_async

    async def without_terminal(app: ClewApp, *, mouse: bool) -> int | None:
        return await run(app, headless=True, mouse=mouse)

    monkeypatch.setattr(ClewApp, "run_async", without_terminal)


async def test_events_that_break_are_told_and_the_session_is_closed() -> None:
    client = BrokenClient()
    client.tell(started(), snapshot(), Notice(level="info", text="x"))
    with pytest.raises(RuntimeError, match="the events broke"):
        await run_screen(client, ScreenOptions(close_timeout_s=5))
    assert client.asked(Close)


async def test_a_widget_that_breaks_is_told_and_the_session_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: RowLine, y: int) -> None:
        raise ValueError("a widget broke")

    monkeypatch.setattr(RowLine, "render_line", broken)
    client = PlayedClient()
    client.tell(started(), snapshot())
    with pytest.raises(ValueError, match="a widget broke"):
        await run_screen(client, ScreenOptions(close_timeout_s=5))
    assert client.asked(Close)


class SilentClient(PlayedClient):
    """Never says good-bye."""

    async def submit(self, op: Op) -> None:
        self.ops.append(op)


async def test_a_session_that_never_ends_does_not_keep_the_screen() -> None:
    client = SilentClient()
    app = ClewApp(client, ScreenOptions(close_timeout_s=0.05))
    async with app.run_test() as pilot:
        client.tell(started(), snapshot())
        await pilot.press("ctrl+d")
        while app.return_value is None:
            await pilot.pause()
    assert client.asked(Close)
    assert app.return_value == 0
