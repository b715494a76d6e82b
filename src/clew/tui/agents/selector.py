"""The list of agents in the background, in the footer: walked by keys, one of them viewed, stopped or cleared."""

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from clew.commands.tasks import STANDING_WORDS
from clew.composing.keymap import Keymap
from clew.protocol.agent_path import called
from clew.protocol.events import TaskRow
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.text.figures import duration
from clew.text.terminal_text import clip, display_width, sanitize
from clew.tui.owning_app import app_of

MAX_SHOWN = 6
TICK_S = 1.0
"""How often the times of those at work are drawn anew; not at all while none works."""


class AgentSelector(ScrollView, can_focus=True):
    """A row for `main` and one for each agent in the background; no row at all while there is none. It decides nothing:
    what a key asks for is done by others, and what is viewed is told to it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "agents--row",
        "agents--marked",
        "agents--running",
        "agents--ended",
        "agents--asking",
    }

    def __init__(
        self,
        *,
        tokens: Callable[[TaskRow], int],
        elapsed_s: Callable[[TaskRow], float],
        view: Callable[[AgentId], None],
        end: Callable[[AgentId], None],
        leave: Callable[[str], None],
        keymap: Keymap,
        ascii_only: bool = False,
    ) -> None:
        """`leave` gets the letter that was typed, if one was. All are called before the next key is looked at."""
        super().__init__(id="agents")
        self._tokens = tokens
        self._elapsed_s = elapsed_s
        self._view, self._end, self._leave = view, end, leave
        self._keymap = keymap
        self._dot = "*" if ascii_only else "●"
        self._rows: tuple[TaskRow, ...] = ()
        self._cursor = 0
        self.viewed = MAIN_AGENT
        self._ticks: Timer | None = None
        self.add_class("-empty")

    @property
    def marked(self) -> AgentId:
        """The row that stands out: the cursor's while it has the keys, else the agent that is viewed."""
        if not self.has_focus:
            return self.viewed
        return AgentId(self._rows[self._cursor - 1].task_id) if self._cursor else MAIN_AGENT

    @property
    def _height(self) -> int:
        """Never more than a part of the screen."""
        return min(len(self._rows) + 1, MAX_SHOWN, max(2, app_of(self).size.height // 5))

    def show(self, rows: tuple[TaskRow, ...], viewed: AgentId) -> None:
        """Show these, by their start; the cursor stays with its agent."""
        at = self._rows[self._cursor - 1].task_id if self._cursor else None
        self._rows, self.viewed = rows, viewed
        place = next((number for number, row in enumerate(rows, start=1) if row.task_id == at), None)
        self._cursor = place if place is not None else min(self._cursor, len(rows))
        self.set_class(not rows, "-empty")
        self.styles.height = self._height if rows else 0
        self.virtual_size = Size(0, len(rows) + 1 if rows else 0)
        self._in_sight()
        at_work = any(row.standing.open for row in rows)
        if at_work and self._ticks is None and self.is_attached:
            self._ticks = self.set_interval(TICK_S, self.refresh)
        elif not at_work and self._ticks is not None:
            self._ticks.stop()
            self._ticks = None
        if not rows and self.has_focus:
            self._leave("")

    @property
    def filled(self) -> bool:
        """There is something to choose."""
        return bool(self._rows)

    def enter(self) -> None:
        """The cursor begins on the main conversation."""
        self._cursor = 0
        self._in_sight()

    def on_blur(self) -> None:
        """What is viewed stands out again."""
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Its own keys; a letter goes on into the prompt."""
        if self.press(event.key, event.character if event.is_printable else None):
            event.stop()
            event.prevent_default()

    def press(self, key: str, character: str | None) -> bool:
        """Do what a key means here; whether it means anything."""
        action = self._keymap.action(("agents",), (key,))
        if action == "close" or (action == "previous" and not self._cursor):
            self._leave("")
        elif action in ("previous", "next"):
            self._cursor = max(0, min(self._cursor + (1 if action == "next" else -1), len(self._rows)))
            self._in_sight()
        elif action == "view":
            self._view(self.marked)
        elif action == "end":
            if self._cursor:
                self._end(self.marked)
        elif character:
            self._leave(character)
        else:
            return False
        return True

    def on_click(self, event: events.Click) -> None:
        """A click views the agent."""
        event.stop()
        place = event.y + self.scroll_offset.y
        if place <= len(self._rows):
            self._cursor = place
            agent = AgentId(self._rows[place - 1].task_id) if place else MAIN_AGENT
            self._view(agent)

    def _in_sight(self) -> None:
        top, height = self.scroll_offset.y, self._height
        if not top <= self._cursor < top + height:
            top = self._cursor if self._cursor < top else self._cursor - height + 1
            self.scroll_to(0, max(0, top), animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        if place > len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[place - 1] if place else None
        marked = self.marked == (AgentId(row.task_id) if row is not None else MAIN_AGENT)
        style = self.get_component_rich_style("agents--marked" if marked else "agents--row")
        lead = "> " if marked and self.has_focus else "  "
        name, right = self._words(row, marked=marked)
        dot = self.get_component_rich_style(_dot_class(row))
        room = max(8, width - len(lead) - 2 - display_width(right) - 1)
        text = clip(sanitize(name, one_line=True), room)
        gap = " " * max(1, width - len(lead) - 2 - display_width(text) - display_width(right))
        quiet = self.get_component_rich_style("agents--ended")
        strip = Strip(
            [Segment(lead, style), Segment(f"{self._dot} ", dot), Segment(text + gap, style), Segment(right, quiet)]
        )
        return strip.crop(0, width)

    @property
    def _help(self) -> str:
        wanted = (("agents", "view", "views"), ("everywhere", "tasks", "all tasks"))
        bound = ((next(iter(self._keymap.keys_for(context, action)), ""), does) for context, action, does in wanted)
        return " · ".join(f"{key} {does}" for key, does in bound if key)

    def _words(self, row: TaskRow | None, *, marked: bool) -> tuple[str, str]:
        keys = marked and self.has_focus
        if row is None:
            return "main", self._help if keys and self.size.width >= 60 else ""
        tokens = self._tokens(row)
        parts = [duration(round(self._elapsed_s(row) * 1000)), f"{tokens:,} tokens" if tokens else ""]
        if not row.standing.open or row.standing.value in ("waiting", "asking", "starting"):
            parts.insert(0, STANDING_WORDS[row.standing])
        if keys:
            end = next(iter(self._keymap.keys_for("agents", "end")), "")
            parts.append(f"{end} {'stops' if row.standing.open else 'clears'}" if end else "")
        return called(row.agent_kind, row.name, row.title), " · ".join(filter(None, parts))


def _dot_class(row: TaskRow | None) -> str:
    if row is None or not row.standing.open:
        return "agents--ended"
    return "agents--asking" if row.standing.value in ("waiting", "asking") else "agents--running"
