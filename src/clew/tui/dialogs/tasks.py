"""Tasks: the list of what runs beside the conversation, what one of them put out, and its end after a second word."""

from collections.abc import Sequence

from textual.timer import Timer

from clew.commands.tasks import NO_OUTPUT, NOTHING_HERE, state_words
from clew.presentation.rows.spans import Row, Span, clipped, spread, wrapped
from clew.protocol.events import AgentEnded, AgentStarted, Event, TaskEnded, TaskRow, TaskStarted
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown, TasksListed
from clew.protocol.standing import Standing
from clew.text.figures import count
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.picker import Picker, holds
from clew.tui.dialogs.registry import DialogContext

MAX_LINES = 500
"""Of a longer output only the end is shown; the file has all of it."""
LOOK_S = 1.0
"""While a task runs, what it puts out is looked at again so often."""
STYLES = {Standing.WAITING: "warning", Standing.ASKING: "warning", Standing.FAILED: "error"}


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, TasksListed)
    return TasksDialog(event)


class TasksDialog(Picker):
    """Enter shows a task's output; stopping it is a choice of its own, which is asked about once more."""

    asks_for = "words of a task"

    def __init__(self, listed: TasksListed) -> None:
        super().__init__()
        self._tasks = listed.tasks
        self._shown: TaskRow | None = None
        """The task that is looked at; None while none is."""
        self._output = ""
        self._refused = ""
        self._sure = False
        """It is being asked whether the task shall really end."""
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(LOOK_S, self._look_again)

    def title(self) -> str:
        return f"Task {sanitize(self._shown.task_id, one_line=True)}" if self._shown is not None else "Tasks"

    def note(self) -> str:
        if self._shown is not None:
            return state_words(self._shown)
        running = sum(row.standing.open for row in self._tasks)
        return f"{running} running" if running else count(len(self._tasks), "task")

    def rows_for(self, words: list[str]) -> Sequence[Option]:
        """What runs comes first, then the newest that ended."""
        fitting = [row for row in self._tasks if holds(f"{row.task_id} {row.title} {row.kind}", words)]
        ordered = [row for row in fitting if row.standing.open]
        ordered += reversed([row for row in fitting if not row.standing.open])
        return [Option(value=row.task_id, rows=lambda columns, row=row: _task_rows(row, columns)) for row in ordered]

    def hint(self) -> str:
        if self._shown is None:
            if not self._tasks:
                return "Nothing runs or ran beside the conversation · Esc closes"
            return "Enter shows what it put out · Esc closes" if self.options.items else "Nothing fits · Esc closes"
        scroll = "PgUp PgDn scroll · " if self.body.max_scroll_y else ""
        return f"{scroll}Esc back"

    def chosen(self, place: int) -> None:
        value = self.options.items[place].value
        if self._shown is None:
            self._show(value)
        elif value == "stop":
            self._sure = True
            self._offer()
        elif value == "end":
            self._sure = False
            self.inquire(StopTask(task_id=self._shown.task_id), self._relist, self._refuse, about="stop")
            self.say("Stopping it …")
            self._offer()
        else:
            self._sure = False
            self._offer()

    def news(self, event: Event) -> None:
        if isinstance(event, TaskStarted | TaskEnded | AgentStarted | AgentEnded):
            self.inquire(ListTasks(), self._relist, self._refuse)

    def _relist(self, listed: TasksListed) -> None:
        self.unsay()
        self._tasks = listed.tasks
        if self._shown is None:
            self.refill()
        else:
            self._look()

    def _refuse(self, reason: str) -> None:
        self.unsay()
        self._refused = reason
        self._offer()

    def back(self) -> None:
        if self._sure:
            self._sure = False
            self._offer()
        elif self._shown is not None:
            self._shown, self.clicks_choose = None, False
            self.options.set(())
            self.begin()
        else:
            self.dismiss()

    def body_rows(self, columns: int) -> Sequence[Row]:
        if self._shown is None:
            return ()
        rows = wrapped((Span(sanitize(" ".join(self._shown.title.split()), one_line=True), "bold"),), columns)
        if self._shown.owner != MAIN_AGENT:
            rows += wrapped((Span(f"of agent {sanitize(self._shown.owner, one_line=True)}", "dim"),), columns)
        if self._refused:
            rows += wrapped((Span(f"Not possible: {sanitize(self._refused, one_line=True)}", "error"),), columns)
        lines = self._output.rstrip("\n").splitlines()
        if len(lines) > MAX_LINES:
            rows += wrapped((Span(f"… {len(lines) - MAX_LINES:,} earlier lines", "dim"),), columns)
        nothing = NO_OUTPUT if self._shown.standing.open else NOTHING_HERE
        for line in lines[-MAX_LINES:] or [nothing]:
            rows += wrapped((Span(sanitize(line, one_line=True)),), columns)
        if self._shown.output_file:
            rows += wrapped((Span(f"All of it: {sanitize(self._shown.output_file, one_line=True)}", "dim"),), columns)
        return rows

    def _show(self, task_id: str) -> None:
        self._shown = next(row for row in self._tasks if row.task_id == task_id)
        self._output, self._refused, self._sure = "", "", False
        self.clicks_choose = True
        self.close_field()
        self.options.tallest = 0
        self._look()
        self._offer()

    def _look(self) -> None:
        """Ask what it has put out so far."""
        if self._shown is not None and self._shown.standing is not Standing.INTERRUPTED:
            self.inquire(ShowTask(task_id=self._shown.task_id), self._seen_now, self._refuse, about="output")

    def _look_again(self) -> None:
        """What it put out, and for how long it runs: neither stands still while somebody looks."""
        if self._shown is not None and self._shown.standing.open:
            self._look()
        elif self._shown is None and any(row.standing.open for row in self._tasks):
            self.inquire(ListTasks(), self._relist, self._refuse, about="list")

    def _seen_now(self, event: TaskShown) -> None:
        """What it put out; whoever looks at the end of it goes on seeing the end."""
        if self._shown is None or event.task.task_id != self._shown.task_id:
            return
        at_end = self.body.scroll_offset.y >= self.body.max_scroll_y
        if (event.task.standing, event.output) == (self._shown.standing, self._output):
            self._shown = event.task  # older by a while
            self.redraw()
            return
        self._shown, self._output = event.task, event.output
        self._offer()
        if at_end:
            self.call_after_refresh(self.body.scroll_end, animate=False)

    def _offer(self) -> None:
        """What can be done with the task that is shown."""
        if self._shown is None:
            return
        found: list[Option] = []
        if self._shown.standing.open and self._sure:
            found.append(Option(value="end", key="y", label=(Span("Yes, end it and everything it started"),)))
            found.append(Option(value="keep", key="n", label=(Span("No, let it run"),)))
        elif self._shown.standing.open:
            found.append(Option(value="stop", key="s", label=(Span("Stop it"),)))
        cursor = self.options.cursor if len(found) == len(self.options.items) else NOWHERE
        self.options.set(found, cursor=cursor)
        self.redraw()


def _task_rows(row: TaskRow, columns: int) -> list[Row]:
    """Its id, what it is and how it stands; under it the last line it put out."""
    whose = f" · agent {sanitize(row.owner, one_line=True)}" if row.owner != MAIN_AGENT else ""
    left = (Span(f"{sanitize(row.task_id, one_line=True)}  ", "dim"), Span(sanitize(" ".join(row.title.split()))))
    right = (Span(f"{state_words(row)}{whose}", STYLES.get(row.standing, "dim")),)
    rows: list[Row] = [spread(left, right, columns)]
    if row.tail and row.standing.open:
        rows.append(clipped((Span(sanitize(row.tail[-1], one_line=True), "dim"),), columns))
    return rows
