"""Tasks: what runs beside the conversation as a tree; what one put out, words to it, its end after a second word."""

from collections.abc import Sequence

from textual import events
from textual.timer import Timer

from clew.commands.tasks import NO_OUTPUT, NOTHING_HERE, as_tree, figure_words, state_words
from clew.presentation.rows.spans import Row, Span, clipped, spread, wrapped
from clew.protocol.events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    Event,
    OpAccepted,
    OpRejected,
    TaskEnded,
    TaskRow,
    TaskStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, OpId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.tasks import (
    CleanWorktrees,
    ClearTasks,
    ListTasks,
    ShowTask,
    StopTask,
    TaskShown,
    TasksListed,
)
from clew.protocol.ops import MessageAgent, SendToBackground
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
OP_ID = OpId("tasks")
"""What this dialog sends, so that it knows what came of it."""
STYLES = {Standing.WAITING: "warning", Standing.ASKING: "warning", Standing.FAILED: "error"}


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, TasksListed)
    return TasksDialog(event, working=context.facts.state.working)


class TasksDialog(Picker):
    """Enter shows what a task put out and what can be done with it; stopping it is asked about once more."""

    asks_for = "words of a task"

    def __init__(self, listed: TasksListed, *, working: bool = False) -> None:
        """`working`: a turn goes on, which may wait for a command or an agent."""
        super().__init__()
        self._tasks = listed.tasks
        self._working = working
        self._shown: TaskRow | None = None
        """The task that is looked at; None while none is."""
        self._output = ""
        self._refused = ""
        self._sure = False
        """It is being asked whether the task shall really end."""
        self._telling = False
        """Words to the agent are being typed."""
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
        """What an agent started stands under it; what runs comes first, then the newest that ended."""
        return [
            Option(value=row.task_id, rows=lambda columns, row=row, depth=depth: _task_rows(row, depth, columns))
            for depth, row in as_tree(self._tasks)
            if holds(f"{row.task_id} {row.title} {row.kind} {row.agent_kind} {row.name}", words)
        ]

    def hint(self) -> str:
        if self._shown is None:
            move = "b moves what is waited for to the background · " if self._working and not self.field.value else ""
            if not self._tasks:
                return f"Nothing runs or ran beside the conversation · {move}Esc closes"
            if not self.options.items:
                return "Nothing fits · Esc closes"
            ended = any(not row.standing.open for row in self._tasks)
            return f"Enter opens one · {'Del clears ended ones · ' if ended else ''}{move}Esc closes"
        if self._telling:
            return "Enter sends it · Esc back"
        scroll = "PgUp PgDn scroll · " if self.body.max_scroll_y else ""
        return f"{scroll}Esc back"

    def chosen(self, place: int) -> None:
        value = self.options.items[place].value
        if self._shown is None:
            self._show(value)
        elif value == "stop":
            self._sure = True
            self._offer()
        elif value == "tell":
            self._telling = True
            self.options.set(())
            self.open_field("what you want to tell it")
            self.redraw()
        elif value == "background":
            self.ask_for(SendToBackground(op_id=OP_ID, task_id=self._shown.task_id))
        elif value == "answer":
            self.wanted_agent = AgentId(self._shown.task_id)
            self.dismiss()
        elif value == "clean":
            self.inquire(CleanWorktrees(name=self._shown.task_id), self._cleaned, self._refuse, about="stop")
            self.say("Saving and removing it …")
        elif value == "end":
            self._sure = False
            self.inquire(StopTask(task_id=self._shown.task_id), self._relist, self._refuse, about="stop")
            self.say("Stopping it …")
            self._offer()
        else:
            self._sure = False
            self._offer()

    def press(self, event: events.Key) -> bool:
        if event.key == "delete" and self._shown is None and not self.field.value:
            self.inquire(ClearTasks(), self._relist, self._refuse, about="list")
            return True
        if event.key in ("b", "ctrl+b") and self._shown is None and self._working and not self.field.value:
            self.ask_for(SendToBackground(op_id=OP_ID))
            return True
        return super().press(event)

    def typed(self, text: str) -> None:
        if self._shown is None:
            super().typed(text)

    def entered(self, text: str) -> None:
        if self._telling and self._shown is not None and text.strip():
            self.ask_for(MessageAgent(op_id=OP_ID, to=self._shown.task_id, text=text.strip()))
            self._told_all()

    def _told_all(self) -> None:
        self._telling = False
        self.close_field()
        self._offer()

    def news(self, event: Event) -> None:
        if isinstance(event, OpRejected) and event.op_id == OP_ID:
            self._refuse(event.reason)
        elif isinstance(event, OpAccepted) and event.op_id == OP_ID:
            self._refused = ""
            self.say("Done.")
            if self._shown is not None:
                self._offer()
                self._look()
        elif isinstance(event, TurnStarted | TurnEnded):
            self._working = isinstance(event, TurnStarted)
            self.redraw()
        elif isinstance(event, TaskStarted | TaskEnded | AgentStarted | AgentChanged | AgentEnded):
            self.inquire(ListTasks(), self._relist, self._refuse)

    def _relist(self, listed: TasksListed) -> None:
        self.unsay()
        left = tuple(row for row in self._tasks if row.kind == "worktree")  # known since it was opened
        self._tasks = (*(row for row in listed.tasks if row.kind != "worktree"), *left)
        if self._shown is None:
            self.refill()
        else:
            self._look()

    def _cleaned(self, listed: TasksListed) -> None:
        """The notice says what became of it; the list is what is left."""
        self.unsay()
        self._tasks = listed.tasks
        self.back_to_list()

    def _refuse(self, reason: str) -> None:
        self.unsay()
        self._refused = reason
        if self._shown is None:
            self.say(f"Not possible: {sanitize(reason, one_line=True)}")
        else:
            self._offer()

    def back(self) -> None:
        if self._telling:
            self._told_all()
        elif self._sure:
            self._sure = False
            self._offer()
        elif self._shown is not None:
            self.back_to_list()
        else:
            self.dismiss()

    def back_to_list(self) -> None:
        """No task is looked at any more."""
        self._shown, self.clicks_choose = None, False
        self.options.set(())
        self.begin()

    def body_rows(self, columns: int) -> Sequence[Row]:
        if self._shown is None:
            return ()
        rows = wrapped((Span(sanitize(" ".join(self._shown.title.split()), one_line=True), "bold"),), columns)
        if figures := figure_words(self._shown):
            rows += wrapped((Span(sanitize(figures, one_line=True), "dim"),), columns)
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
        self._output, self._refused, self._sure, self._telling = "", "", False, False
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
        if self._shown is None or self._telling:
            self.redraw()
            return
        found: list[Option] = []
        is_agent = self._shown.kind == "agent"
        if self._shown.standing in (Standing.WAITING, Standing.ASKING) and not self._sure:
            found.append(Option(value="answer", key="a", label=(Span("Answer what it asks"),)))
        if is_agent and not self._sure:
            more = "" if self._shown.standing.open else "  it goes on from its log"
            found.append(Option(value="tell", key="m", label=(Span("Message it"), Span(more, "dim"))))
        if is_agent and self._shown.standing.open and not self._shown.background and not self._sure:
            found.append(Option(value="background", key="b", label=(Span("Move it to the background"),)))
        if self._shown.kind == "worktree":
            more = Span("  what it holds is saved in its repository first", "dim")
            found.append(Option(value="clean", key="c", label=(Span("Remove it"), more)))
        if self._shown.standing.open and self._sure:
            found.append(Option(value="end", key="y", label=(Span("Yes, end it and everything it started"),)))
            found.append(Option(value="keep", key="n", label=(Span("No, let it run"),)))
        elif self._shown.standing.open:
            found.append(Option(value="stop", key="s", label=(Span("Stop it"),)))
        cursor = self.options.cursor if len(found) == len(self.options.items) else NOWHERE
        self.options.set(found, cursor=cursor)
        self.redraw()


def _task_rows(row: TaskRow, depth: int, columns: int) -> list[Row]:
    """Its id, what it is and how it stands; under it what an agent used, and the last line that was put out."""
    whose = f" · agent {sanitize(row.owner, one_line=True)}" if row.owner != MAIN_AGENT and not depth else ""
    indent = Span(f"{'  ' * (depth - 1)}› " if depth else "", "dim")
    left = (
        indent,
        Span(f"{sanitize(row.task_id, one_line=True)}  ", "dim"),
        Span(sanitize(" ".join(row.title.split()))),
    )
    right = (Span(f"{state_words(row)}{whose}", STYLES.get(row.standing, "dim")),)
    rows: list[Row] = [spread(left, right, columns)]
    last = sanitize(row.tail[-1], one_line=True) if row.tail and row.standing.open else ""
    if below := " · ".join(filter(None, (sanitize(figure_words(row), one_line=True), last))):
        rows.append(clipped((Span(f"{'  ' * depth}{below}", "dim"),), columns))
    return rows
