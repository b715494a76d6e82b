"""Whatever is pressed, resized and scrolled while a session goes on: the transcript ends as the log tells it.

`CLEW_FUZZ_SEEDS=200` tries more of them.
"""

import os
import random
from collections.abc import Iterator

import pytest
from textual import events

from clew.presentation.rows.passage_rows import View, passage_rows
from clew.presentation.rows.spans import plain
from clew.presentation.story.passages import BatchPassage, NotePassage, Passage, RecapPassage, TurnPassage
from clew.presentation.story.telling import retold
from clew.protocol.events import Event
from clew.tui.app import ClewApp
from clew.tui.options import ScreenOptions
from tui.screen_fuzz import MadeUpSession, RememberingClient
from tui.screen_lab import ScreenLab, snapshot, started

SEEDS = range(int(os.environ.get("CLEW_FUZZ_SEEDS", "10")))
KEYS = (
    *("pageup", "pageup", "pagedown", "ctrl+o", "alt+t", "ctrl+t", "escape", "alt+end", "up", "down", "enter", "tab"),
    *("a", "space", "y", "n", "[", "]", "g", "G", "ctrl+f", "ctrl+l", "backspace", "shift+tab", "f1", "ctrl+r"),
)
SIZES = ((80, 24), (60, 20), (120, 40), (10, 6), (33, 9), (1, 1), (200, 12))
MOUSE = (events.MouseScrollUp, events.MouseScrollDown, events.MouseDown, events.MouseMove, events.MouseUp)
CWD = "/work/parcels"
MOST_LOOKS = 50
"""So often the whole is looked at before it must be at rest."""


def expected(session: MadeUpSession, lab: ScreenLab) -> list[str]:
    """The rows of the whole log at the width and density of the screen, without the widget's own arithmetic."""
    port = lab.app.transcript.viewport
    rows: list[str] = []
    before: Passage | None = None
    for passage in retold(tuple(session.log), CWD):
        view = View(
            columns=lab.app.transcript.size.width,
            density=port.density,
            tools=port.tools,
            opened=port.opened.get(passage.key),
            reasoning=port.reasoning,
            cwd=CWD,
        )
        told = [plain(row).rstrip() for row in passage_rows(passage, view)]
        if told and before is not None and not close(before, passage):
            rows.append("")
        rows += told
        before = passage
    return rows


def close(before: Passage, passage: Passage) -> bool:
    tight = (BatchPassage, NotePassage)
    if isinstance(before, RecapPassage) and isinstance(passage, TurnPassage):
        return True
    return isinstance(before, tight) and isinstance(passage, tight)


async def shown(lab: ScreenLab) -> list[str]:
    """All rows of the transcript, once nothing changes any more: a size or a page of history may come late."""
    for _ in range(MOST_LOOKS):
        view = lab.app.transcript
        while not lab.app.conversation.story.whole or lab.app.conversation._loading:
            view.to_start()
            lab.app.conversation.load_older()
            await lab.settle()
        await lab.settle()  # the last page may have come after the last drawing
        rows = await scrolled_over(lab)
        if rows is not None:
            return rows
    raise AssertionError("the screen does not come to rest")


async def scrolled_over(lab: ScreenLab) -> list[str] | None:
    """What is drawn, from the very top down, a few rows at a time; None: the story or the size became another."""
    view = lab.app.transcript
    stands = standing(lab)
    view.to_start()
    rows: dict[tuple[int, int], str] = {}
    while True:
        await lab.pilot.pause()
        if standing(lab) != stands or view.viewport._told is not lab.app.conversation.story.past:
            return None
        places = [view.viewport.passage_at(y) for y in range(len(view.viewport.lines()))]
        for place, text in zip(places, drawn(lab), strict=True):
            assert place is not None
            assert rows.setdefault(place, text) == text, "a row changed while it was scrolled over"
        if view.viewport.following:
            break
        view.scroll_rows(max(view.size.height - 2, 1))
    assert list(rows) == sorted(rows), "rows were jumped over"
    return list(rows.values())


def standing(lab: ScreenLab) -> tuple[object, ...]:
    """What the rows depend on: the story, what of it is shown, and the room for it."""
    view, port = lab.app.transcript, lab.app.transcript.viewport
    story = lab.app.conversation.story
    shown = (*map(id, (story, port._told)), *map(id, port._now), view.size, port._columns, port._height)
    return (*shown, port.density, tuple(sorted(port.opened.items())), port.reasoning)


def drawn(lab: ScreenLab) -> list[str]:
    view = lab.app.transcript
    count = len(view.viewport.lines())
    return ["".join(segment.text for segment in view.render_line(y)).rstrip() for y in range(count)]


async def disturb(lab: ScreenLab, luck: random.Random) -> None:
    """Something a person may do at any time."""
    what = luck.random()
    if what < 0.6:
        await lab.pilot.press(luck.choice(KEYS))
    elif what < 0.75:
        await lab.pilot.resize_terminal(*luck.choice(SIZES))
    elif what < 0.9:
        lab.app.transcript.scroll_rows(luck.randint(-30, 10))
    else:
        await wheel(lab, luck)


async def wheel(lab: ScreenLab, luck: random.Random) -> None:
    kind = luck.choice(MOUSE)
    x, y = luck.randint(0, 70), luck.randint(0, 20)
    lab.app.screen._forward_event(kind(None, x, y, 0, 1, 1, False, False, False, x, y))
    await lab.pilot.pause()


def events_of(session: MadeUpSession, luck: random.Random, turns: int) -> Iterator[Event]:
    for number in range(turns):
        for event in session.turn(number):
            yield session.written(event)


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_screen_shows_what_the_log_tells(seed: int) -> None:
    luck = random.Random(seed)
    session = MadeUpSession(luck)
    before = luck.choice((0, 3, 8))
    for _ in events_of(session, luck, before):
        pass
    client = RememberingClient(session)
    app = ClewApp(client, ScreenOptions(env={"TERM": "foot"}))  # a terminal that takes what is copied
    async with app.run_test(size=luck.choice(SIZES[:3])) as pilot:
        lab = ScreenLab(app, client, pilot)
        await lab.tell(started(resumed=before > 0), snapshot())
        for event in events_of(session, luck, luck.randint(2, 5)):
            client.tell(event)
            if luck.random() < 0.15:
                await disturb(lab, luck)
        await lab.settle()
        await pilot.resize_terminal(*luck.choice(SIZES[:3]))
        if app.bottom.dialog is not None:
            app.bottom.close()
        app.reading.end()
        await lab.settle()
        assert await shown(lab) == expected(session, lab)
