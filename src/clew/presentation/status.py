"""The lines around the transcript: what the agent does, which session this is, what is in force."""

from clew.commands.base import SessionFacts
from clew.presentation.rows.spans import Row, Span, clipped, said, spread, width_of
from clew.presentation.story.activity import Activity
from clew.protocol.events import SessionEnded
from clew.text.figures import duration, money
from clew.text.terminal_text import clip, sanitize

MODES = {
    "default": "asks before edits",
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
METER_CELLS = 10
NARROW, WIDE = 60, 100
FRAMES = "◐◓◑◒"


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
    if activity.doing == "retrying" and activity.until_s and not stopping:
        left = max(activity.until_s - now_s, 0.0)
        words = f"{words} in {left:.0f} s,"
    worked_s = activity.worked_s(now_s) if activity.turn_since_s else max(now_s - activity.since_s, 0.0)
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


def farewell(event: SessionEnded, facts: SessionFacts) -> str:
    """The last line for the shell: what to go on with, or what is missing there."""
    if event.unsaved:
        some = "1 entry" if event.unsaved == 1 else f"{event.unsaved} entries"
        return f"{some} could not be saved; what was before, if anything: clew --resume {facts.session_id}"
    return f"Continue with: clew --resume {facts.session_id}" if facts.state.turns and facts.kept else ""


def header_row(facts: SessionFacts, columns: int) -> Row:
    """Which program, place and model; the title where there is room."""
    place = sanitize(facts.cwd.rstrip("/").rpartition("/")[2] or facts.cwd, one_line=True)
    parts = [place, sanitize(facts.branch, one_line=True), sanitize(facts.model, one_line=True) or "no model"]
    left: Row = (
        Span("clew", "bold"),
        *(span for part in parts if part for span in (Span(" · ", "dim"), Span(part, "dim"))),
    )
    title = sanitize(facts.state.title, one_line=True)
    room = columns - width_of(left) - 3
    return spread(left, said(clip(title, room), "dim") if title and room >= 12 else (), columns)


def footer_row(
    facts: SessionFacts, columns: int, *, hint: str = "", shells: int = 0, below: bool = False, stopping: bool = False
) -> Row:
    """The permission mode, how full the window is, what was spent, what Esc does next; or a word to what was just
    pressed."""
    mode = MODES.get(facts.permission_mode, facts.permission_mode)
    style = "warning" if facts.permission_mode == "bypassPermissions" else "dim"
    key = " ⇧⇥" if columns >= NARROW else ""
    left: list[Span] = [Span(f"{mode}{key}", style)]
    if hint:
        return spread((Span(hint, "notice"),), tuple(left), columns)
    for part in (_meter(facts, columns), _spent(facts), f"{shells} in the background" if shells else ""):
        if part:
            left += [Span("   "), Span(part, "dim")]
    return spread(tuple(left), _next_escape(facts, columns, below=below, stopping=stopping), columns)


def _next_escape(facts: SessionFacts, columns: int, *, below: bool, stopping: bool) -> Row:
    """What Esc does when it is pressed now; where it does nothing, where help is."""
    works = facts.state.interruptible and not stopping
    if below:
        after = ", then interrupts" if works else ""
        return said(f"↓ newer below: Esc goes there{after}" if columns >= NARROW else f"↓ Esc newest{after}", "accent")
    if works and not facts.state.asks:
        return said("Esc interrupts", "dim")
    return said("F1 help" if columns >= NARROW else "F1", "dim")


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
