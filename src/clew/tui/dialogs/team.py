"""The team of the session: who is in it and what each does, its mail, and what people do with a member."""

from collections.abc import Sequence

from textual import events

from clew.commands.mode import next_mode
from clew.commands.team import NO_TEAM, mail_line, standing_words
from clew.presentation.rows.spans import Row, Span, clipped, spread, wrapped
from clew.protocol.event_kinds.agents import MemberRow
from clew.protocol.events import AgentChanged, AgentEnded, AgentStarted, Event, OpAccepted, OpRejected, TeamChanged
from clew.protocol.ids import AgentId, OpId
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.teams import ShowTeam, TeamShown
from clew.protocol.ops import MessageAgent, Op, SetMemberMode, StartMember, StopMember
from clew.protocol.standing import Standing
from clew.text.figures import count
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

OP_ID = OpId("team")
"""What this dialog sends, so that it knows what came of it."""
LETTERS = 12
STYLES = {
    Standing.WAITING: "warning",
    Standing.ASKING: "warning",
    Standing.FAILED: "error",
    Standing.INTERRUPTED: "error",
    Standing.WORKING: "accent",
}

COLOURS = {
    "cyan": "accent",
    "green": "added",
    "yellow": "inline-code",
    "magenta": "recap",
    "blue": "code-keyword",
    "red": "removed",
}
"""The colour of a member, as the theme has it."""


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, TeamShown)
    doing = {AgentId(row.task_id): row.doing for row in context.facts.state.tasks if row.doing}
    return TeamDialog(event, doing=doing, mode=context.facts.permission_mode)


class TeamDialog(Dialog):
    """Keys act on the member under the cursor; ending one at once takes the key a second time."""

    clicks_choose = False

    def __init__(self, shown: TeamShown, *, doing: dict[AgentId, str] | None = None, mode: str = "") -> None:
        """`doing`: what agents are at now. `mode`: that of the session, which members have that were given none."""
        super().__init__(quiet_s=0)
        self._shown = shown
        self._doing = doing or {}
        self._mode = mode
        self._pruned = False
        """Stopped members are left out."""
        self._sure = ""
        """The member that is ended with the next k."""
        self._to = ""
        """The member that words are typed for."""

    def begin(self) -> None:
        self._refill()

    def title(self) -> str:
        team = self._shown.team
        return f"Team {sanitize(team.name, one_line=True)}" if team is not None else "Team"

    def note(self) -> str:
        members = self._members()
        working = sum(row.standing.open for row in members)
        return f"{count(len(members), 'member')}, {working} at work" if members else ""

    def hint(self) -> str:
        if self._to:
            return f"Enter sends it to {sanitize(self._to, one_line=True)} · Esc back"
        if not self.options.items:
            return "Esc closes"
        prune = "p hide stopped · " if any(row.standing is Standing.STOPPED for row in self._members()) else ""
        return f"Enter view · m write · s ask to stop · k end · r restart · Shift-Tab mode · {prune}Esc"

    def body_rows(self, columns: int) -> Sequence[Row]:
        team = self._shown.team
        if team is None:
            return [row for line in (NO_TEAM, *self._shown.notes) for row in _words(line, columns)]
        rows = _words(team.description, columns) if team.description else []
        if not team.members:
            rows += _words("Nobody is in it yet.", columns)
        letters = self._shown.mail[-LETTERS:]
        if letters:
            older = self._shown.left_out + len(self._shown.mail) - len(letters)
            rows.append((Span(f"Mail{f' ({older:,} older)' if older else ''}", "bold"),))
            rows += [clipped((Span(sanitize(mail_line(mail), one_line=True), "dim"),), columns) for mail in letters]
        for line in self._shown.notes:
            rows += _words(line, columns, "warning")
        return rows

    # The roster.

    def _members(self) -> tuple[MemberRow, ...]:
        return self._shown.team.members if self._shown.team is not None else ()

    def _refill(self) -> None:
        """The members as they stand now; the cursor stays with its own."""
        if self._to:
            self.redraw()
            return
        kept = [row for row in self._members() if not (self._pruned and row.standing is Standing.STOPPED)]
        self.options.set(
            [Option(value=row.name, rows=lambda columns, row=row: self._member_rows(row, columns)) for row in kept]
        )
        if self.options.cursor == NOWHERE:
            self.options.walk(1)
        self.redraw()

    def _member_rows(self, row: MemberRow, columns: int) -> list[Row]:
        unread = sum(mail.to == row.name and mail.became == "stored" for mail in self._shown.mail)
        left = (Span(sanitize(row.name, one_line=True), f"bold {COLOURS.get(row.color, '')}"),)
        right = (Span(sanitize(standing_words(row), one_line=True), STYLES.get(row.standing, "dim")),)
        where = f"pane {row.pane}" if row.backend == "pane" else ""
        mode = f"mode {row.mode}" if row.mode else ""
        about = [row.kind, row.model, mode, where, f"{unread} unread" if unread else ""]
        if row.standing.open:
            about.append(self._doing.get(row.agent, ""))
        below = " · ".join(sanitize(part, one_line=True) for part in about if part)
        return [spread(left, right, columns), *([clipped((Span(f"  {below}", "dim"),), columns)] if below else [])]

    def _pointed_at(self) -> MemberRow | None:
        if self.options.cursor == NOWHERE:
            return None
        name = self.options.items[self.options.cursor].value
        return next((row for row in self._members() if row.name == name), None)

    # Keys.

    def press(self, event: events.Key) -> bool:
        row = self._pointed_at()
        if self._to or row is None or event.key not in ("k", "s", "r", "m", "p", "shift+tab"):
            self._sure = ""
            return super().press(event)
        sure, self._sure = self._sure, ""
        match event.key:
            case "k" if sure == row.name:
                self._do(StopMember(op_id=OP_ID, name=row.name), f"Ending {row.name} …")
            case "k":
                self._sure = row.name
                self.say(f"k again ends {sanitize(row.name, one_line=True)} at once; its open work is nobody's then.")
            case "s":
                self._do(StopMember(op_id=OP_ID, name=row.name, ask=True), f"{row.name} is asked to stop.")
            case "r":
                self._do(StartMember(op_id=OP_ID, name=row.name), f"{row.name} goes on.")
            case "p":
                self._pruned = not self._pruned
                self._refill()
            case "m":
                self._to = row.name
                self.options.set(())
                self.open_field(f"what you want to tell {sanitize(row.name, one_line=True)}")
                self.redraw()
            case _:
                mode = next_mode(row.mode or self._mode)
                self._do(SetMemberMode(op_id=OP_ID, name=row.name, mode=mode), f"{row.name}: mode {mode}")
        return True

    def chosen(self, place: int) -> None:
        row = self._pointed_at()
        if row is None:
            return
        if row.backend == "pane":
            how = f"tmux select-pane -t {row.pane}" if row.pane else "its terminal"
            self.say(sanitize(f"{row.name} has a pane of its own: {how}", one_line=True))
        elif row.agent:
            self.viewed_agent = row.agent
            self.dismiss()

    def entered(self, text: str) -> None:
        if self._to and text.strip():
            self._do(MessageAgent(op_id=OP_ID, to=self._to, text=text.strip()), f"Sent to {self._to}.")
            self._told()

    def back(self) -> None:
        if self._to:
            self._told()
        else:
            self.dismiss()

    def _told(self) -> None:
        self._to = ""
        self.close_field()
        self._refill()

    def _do(self, op: Op, words: str) -> None:
        self.ask_for(op)
        self.say(sanitize(words, one_line=True))

    # What happens meanwhile.

    def news(self, event: Event) -> None:
        match event:
            case OpRejected(op_id=op_id) if op_id == OP_ID:
                self.say(f"Not possible: {sanitize(event.reason, one_line=True)}")
            case OpAccepted(op_id=op_id) if op_id == OP_ID:
                self._look()
            case AgentChanged(child=child):
                self._doing[child] = event.doing
                self._look()
            case TeamChanged() | AgentStarted() | AgentEnded():
                self._look()
            case _:
                pass

    def _look(self) -> None:
        self.inquire(ShowTeam(), self._seen_now, lambda reason: self.say(sanitize(reason, one_line=True)), about="team")

    def _seen_now(self, shown: TeamShown) -> None:
        self._shown = shown
        self._refill()


def _words(text: str, columns: int, style: str = "") -> list[Row]:
    return wrapped((Span(sanitize(text, one_line=True), style),), columns)
