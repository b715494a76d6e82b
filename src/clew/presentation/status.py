"""The lines around the transcript: what the agent does, which session this is, what is in force."""

import os
from collections.abc import Sequence

from clew.commands.base import SessionFacts
from clew.presentation.rows.spans import Row, Span, clipped, said, spread, width_of
from clew.presentation.story.activity import Activity
from clew.protocol.events import SessionEnded, SessionRow, TaskRow
from clew.protocol.standing import Standing
from clew.text.figures import ago, duration, money
from clew.text.terminal_text import clip, display_width, sanitize

MODES = {
    "default": "asks before edits and unconfined commands",
    "acceptEdits": "edits without asking",
    "plan": "plans, changes nothing",
    "bypassPermissions": "asks nothing",
}
DOING = {
    "waiting": "Waiting for the model",
    "thinking": "Thinking",
    "writing": "Writing",
    "calling": "Preparing",
    "running": "Running",
    "asking": "Waiting for your answer",
    "retrying": "Trying again",
    "compacting": "Compacting the conversation",
    "hook": "Waiting for a hook:",
}
SHORT_MODES = {"default": "asks: edits, unconfined commands"}
NARROW_MODES = {"default": "asks: edits, unconfined"}
"""Where there is little room, and where there is least."""
METER_CELLS = 10
NARROW, SHORT, WIDE = 60, 80, 100
MOST_NAMED = 2
"""More members are counted."""
LEAST_NEWEST = 10
"""Fewer columns of a newest line tell nothing."""
FRAMES = "◐◓◑◒"
STALLED_S = 10.0
"""So long without a sign of the model, and it is told."""
MOST_SILENT_S = 900.0
"""No request is waited for longer: more than this is a clock that was set."""
SILENCE_S = 90.0
"""So long a stream that has begun may be silent (`idle_timeout_s` in llm/retry.py; a test holds them together)."""


def activity_row(
    activity: Activity, columns: int, *, now_s: float, frame: int = 0, stopping: bool = False, way_out: bool = True
) -> Row:
    """The sign of life; empty while nothing goes on. `way_out`: it also says what stops it."""
    if activity.doing == "idle":
        return ()
    asking = activity.doing == "asking"
    mark = Span(f"{'?' if asking else FRAMES[frame % len(FRAMES)]} ", "warning" if asking else "accent")
    words = "Stopping" if stopping else DOING[activity.doing]
    what = sanitize(activity.what, one_line=True) if not stopping else ""
    silent_s = activity.silent_s(now_s)
    if STALLED_S <= silent_s <= MOST_SILENT_S and not stopping:
        words, what = f"Nothing came for {silent_s:.0f} s", _after_silence(activity)
    if activity.doing == "retrying" and activity.until_s and not stopping:
        left = max(activity.until_s - now_s, 0.0)
        words = f"{words} in {left:.0f} s,"
    worked_s = activity.worked_s(now_s) if activity.turn_since_s else max(now_s - activity.since_s, 0.0)
    if asking and activity.asked_s:
        worked_s = max(now_s - activity.asked_s, 0.0)  # for how long the answer is waited for
    figures = [duration(round(worked_s * 1000))]
    if len(activity.running) > 1:
        figures.insert(0, f"{len(activity.running)} calls")
    if activity.written:
        figures.append("1 token" if activity.written == 1 else f"{_short(activity.written)} tokens")
    tells = way_out and not stopping and not asking and columns >= NARROW
    tail = " · ".join([*figures, *(["Esc interrupts"] if tells else [])])
    room = max(columns - 2 - len(tail) - 3, 8)
    text = clip(f"{words} {what}".strip() if what else words, room)
    return clipped((mark, Span(text), Span(f" · {tail}" if tail else "", "dim")), columns)


def _after_silence(activity: Activity) -> str:
    """What happens next to a stream that stands still."""
    if activity.begun:
        return f"from the model: after {SILENCE_S:.0f} s the request is made again"
    return "from the model: it has not begun to answer, and is waited for"


def farewell(event: SessionEnded, facts: SessionFacts) -> str:
    """The last line for the shell: what to go on with, or what is missing there."""
    left = f"{sanitize(event.left, one_line=True)}\n" if event.left else ""
    if event.unsaved:
        some = "1 entry" if event.unsaved == 1 else f"{event.unsaved} entries"
        return f"{left}{some} could not be saved; what was before, if anything: clew --resume {facts.session_id}"
    return left + (f"Continue with: clew --resume {facts.session_id}" if facts.state.turns and facts.kept else "")


def first_row(facts: SessionFacts, last: SessionRow | None, columns: int) -> Row:
    """What stands on an empty screen: where one is, what was last done here, where help is."""
    home = f"{os.path.expanduser('~').rstrip('/')}/"
    place = f"~/{facts.cwd[len(home) :]}" if facts.cwd.startswith(home) else facts.cwd
    parts = [sanitize(place, one_line=True)]
    if last is not None:
        title = clip(sanitize(last.title, one_line=True) or "(no title)", max(columns // 3, 12))
        parts.append(f"last here: {title}, {ago(last.age_s)}" + (" (clew -c)" if columns >= WIDE else ""))
    whole = " · ".join(parts)
    helped = f"{whole} · F1 help"
    text = helped if display_width(helped) <= columns - 2 else whole  # the footer names the key, too
    return clipped((Span("  "), Span(text, "dim")), columns)


def last_here(rows: Sequence[SessionRow], cwd: str) -> SessionRow | None:
    """The newest session of this directory among those of a list."""
    return next((row for row in rows if row.project and f"/{cwd.strip('/')}".endswith(f"/{row.project}")), None)


def header_row(facts: SessionFacts, columns: int) -> Row:
    """Which program, place and model; the title where there is room."""
    where = facts.project or facts.cwd
    place = sanitize(where.rstrip("/").rpartition("/")[2] or where, one_line=True)
    parts = [place, sanitize(facts.branch, one_line=True), sanitize(facts.model, one_line=True) or "no model"]
    left: Row = (
        Span("clew", "bold"),
        *(span for part in parts if part for span in (Span(" · ", "dim"), Span(part, "dim"))),
    )
    title = sanitize(facts.state.title, one_line=True)
    room = columns - width_of(left) - 3
    return spread(left, said(clip(title, room), "dim") if title and room >= 12 else (), columns)


def footer_row(
    facts: SessionFacts,
    columns: int,
    *,
    hint: str = "",
    below: bool = False,
    stopping: bool = False,
    viewing: bool = False,
    vim: str = "",
    newest: str = "",
) -> Row:
    """The permission mode, how full the window is, what was spent, what Esc does next; or a word to what was just
    pressed."""
    words = MODES if columns >= WIDE else MODES | (SHORT_MODES if columns >= SHORT else NARROW_MODES)
    mode = words.get(facts.permission_mode, facts.permission_mode)
    style = "warning" if facts.permission_mode == "bypassPermissions" else "dim"
    key = " ⇧⇥" if columns >= NARROW else ""
    left: list[Span] = [Span(f"{vim.upper()} ", "accent")] if vim else []
    left.append(Span(f"{mode}{key}", style))
    if hint:
        said_now: Row = (Span(hint, "notice"),)
        fits = width_of(said_now) + width_of(tuple(left)) + 3 <= columns
        return spread(said_now, tuple(left) if fits else (), columns)
    right = _next_escape(facts, columns, below=below, stopping=stopping, viewing=viewing)
    for part in (_meter(facts, columns), _spent(facts), team_words(facts, columns)):
        fits = width_of(tuple(left)) + display_width(part) + width_of(right) + 4 <= columns
        left += [Span("   "), Span(part, "dim")] if part and fits else []
    room = columns - width_of(tuple(left)) - width_of(right) - 6
    if beside := _beside(facts, columns, newest, room):
        left += [Span("   "), Span(beside, "dim")]
    return spread(tuple(left), right, columns)


def _next_escape(facts: SessionFacts, columns: int, *, below: bool, stopping: bool, viewing: bool) -> Row:
    """What Esc does when it is pressed now; where it does nothing, where help is."""
    works = facts.state.interruptible and not stopping
    if below:
        after = ", then leaves the view" if viewing else ", then interrupts" if works else ""
        return said(f"↓ newer below: Esc goes there{after}" if columns >= NARROW else f"↓ Esc newest{after}", "accent")
    if viewing:
        return said("Esc goes back to main" if columns >= NARROW else "Esc main", "accent")
    if works and not facts.state.asks:
        return said("Esc interrupts", "dim")
    return said("F1 help" if columns >= NARROW else "F1", "dim")


def team_words(facts: SessionFacts, columns: int) -> str:
    """The team, who waits for the person and who works: by name where there is room and few do, else counted."""
    team = facts.state.team
    if team is None:
        return ""
    rows = [row for row in team.members if row.standing.open]
    waiting = [row.name for row in rows if row.standing in (Standing.WAITING, Standing.ASKING)]
    working = [row.name for row in rows if row.name not in waiting]
    parts = [_some(waiting, "waits for you", "wait for you", columns), _some(working, "works", "work", columns)]
    return f"{sanitize(team.name, one_line=True)}: {', '.join(filter(None, parts)) or 'nobody works'}"


def _some(names: Sequence[str], one: str, many: str, columns: int) -> str:
    if not names:
        return ""
    who = (
        ", ".join(sanitize(name, one_line=True) for name in names)
        if len(names) <= MOST_NAMED and columns >= WIDE
        else str(len(names))
    )
    return f"{who} {one if len(names) == 1 else many}"


def _beside(facts: SessionFacts, columns: int, newest: str, room: int) -> str:
    """How many commands run in the background, and the newest line of the one that spoke last, as far as there is
    room for it."""
    running = len(background_tasks(facts))
    if not running:
        return ""
    some = f"{running} in the background" if columns >= SHORT else f"{running} bg"
    told = sanitize(newest, one_line=True).strip()
    left = room - len(some) - 2
    return f"{some}: {clip(told, left)}" if told and left >= LEAST_NEWEST else some


def background_tasks(facts: SessionFacts) -> tuple[TaskRow, ...]:
    """The commands that run beside the conversation."""
    return tuple(row for row in facts.state.all_tasks if row.kind == "shell" and row.standing.open)


def _meter(facts: SessionFacts, columns: int) -> str:
    meter = facts.state.meter
    if meter is None or meter.tokens is None or not meter.window:
        return ""
    share = min(meter.tokens / meter.window, 1.0)
    full = round(share * METER_CELLS)
    bar = f" {'▓' * full}{'░' * (METER_CELLS - full)}" if columns >= NARROW + 12 else ""
    return f"{share * 100:.0f} %{bar}"


def _spent(facts: SessionFacts) -> str:
    spent = facts.state.spent.cost_usd
    return money(spent) if spent else ""


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)
