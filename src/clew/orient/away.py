"""When to show a recap: a pure state machine over focus, typing and turns. Facts in, actions and a reason out."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from clew.orient.side_query import Stamp

MIN_TURNS = 3
MIN_NEW_TURNS = 2


class AwaySettings(NamedTuple):
    """`recap.enabled` and `recap.awayMinutes`."""

    enabled: bool = True
    away_s: float = 300.0


class Blurred(NamedTuple):
    """The terminal lost the focus."""

    at_s: float


class Focused(NamedTuple):
    """The terminal has the focus again."""

    at_s: float


class Typed(NamedTuple):
    """A key was pressed: whoever types is here, whatever the terminal reported."""

    at_s: float


class DraftChanged(NamedTuple):
    """The input line holds unsent words, or none."""

    at_s: float
    unsent: bool


class TurnBegan(NamedTuple):
    """The agent works."""

    at_s: float


class TurnDone(NamedTuple):
    """The agent is idle; the session stands at this key."""

    at_s: float
    key: Stamp
    user_turns: int
    turns_since_recap: int


class Opened(NamedTuple):
    """A session was opened, resumed or switched to."""

    at_s: float
    key: Stamp
    user_turns: int
    turns_since_recap: int
    resumed: bool


class DraftMade(NamedTuple):
    """The words for a key are ready (from the fast model; facts are ready at once)."""

    at_s: float
    key: Stamp


class Asked(NamedTuple):
    """The user typed /recap."""

    at_s: float


Happening = Blurred | Focused | Typed | DraftChanged | TurnBegan | TurnDone | Opened | DraftMade | Asked


class Draft(NamedTuple):
    """Prepare the words for this key now."""

    key: Stamp


class Reveal(NamedTuple):
    """Show the recap of this key."""

    key: Stamp
    trigger: str
    """away, resume or manual."""


class Abort(NamedTuple):
    """Stop preparing: the key is stale."""

    key: Stamp


Action = Draft | Reveal | Abort


class AwayState(Struct, frozen=True, kw_only=True):
    """Everything the machine knows. A terminal starts focused and is not known to report focus."""

    key: Stamp = Stamp("", "")
    user_turns: int = 0
    turns_since_recap: int = 0
    working: bool = False
    unsent: bool = False
    reports_focus: bool = False
    away_since_s: float | None = None
    last_input_s: float | None = None
    drafting: Stamp | None = None
    drafted: Stamp | None = None
    owed: bool = False
    """The user came back while the agent worked: the recap waits for the end of the turn."""
    why: str = "Nothing happened yet."


Step = tuple[AwayState, tuple[Action, ...]]


def step(state: AwayState, event: Happening, settings: AwaySettings) -> Step:
    """The next state and what to do. Same inputs, same outputs; no clock is read here."""
    if isinstance(event, Asked):
        return _reveal(state, "manual", "You asked for it with /recap.")
    if isinstance(event, Opened):
        return _opened(state, event, settings)
    if isinstance(event, DraftMade):
        return _draft_made(state, event)
    if isinstance(event, DraftChanged):
        return replace(state, unsent=event.unsent, last_input_s=event.at_s), ()
    if isinstance(event, TurnBegan):
        return _turn_began(state, event)
    if isinstance(event, TurnDone):
        return _turn_done(state, event, settings)
    if not settings.enabled:
        return _disabled(state, event)
    if isinstance(event, Blurred):
        return _blurred(state, event)
    return _returned(state, event, settings)


def why(state: AwayState) -> str:
    """The last decision in a sentence, for `/recap why`."""
    return state.why


def objection(state: AwayState) -> str:
    """Why no automatic recap may be shown for this session now; "" when it may."""
    if state.user_turns < MIN_TURNS:
        return f"the session has {state.user_turns} of the {MIN_TURNS} user turns a recap needs"
    if state.turns_since_recap < MIN_NEW_TURNS:
        return f"only {state.turns_since_recap} of {MIN_NEW_TURNS} new user turns since the last recap"
    if state.unsent:
        return "an unsent draft is in the input line"
    return ""


def _disabled(state: AwayState, event: Blurred | Focused | Typed) -> Step:
    stopped: tuple[Action, ...] = (Abort(state.drafting),) if state.drafting else ()
    seen = replace(
        state,
        away_since_s=None,
        drafting=None,
        owed=False,
        last_input_s=event.at_s,
        why="Automatic recaps are switched off.",
    )
    return seen, stopped


def _blurred(state: AwayState, event: Blurred) -> Step:
    since = event.at_s if state.away_since_s is None else state.away_since_s
    state = replace(state, reports_focus=True, away_since_s=since, why="You left; waiting for your return.")
    return _draft(state)


def _draft(state: AwayState) -> Step:
    """Prepare early, at the end of a turn or when the user leaves, once per key."""
    if state.working or objection(state) or not state.key.session_id or state.key in (state.drafted, state.drafting):
        return state, ()
    return replace(state, drafting=state.key), (Draft(state.key),)


def _returned(state: AwayState, event: Focused | Typed, settings: AwaySettings) -> Step:
    """Focus came back, or a key tells that somebody is here."""
    since = state.away_since_s
    if since is None and isinstance(event, Typed) and not state.reports_focus and state.last_input_s is not None:
        since = state.last_input_s
    reports = state.reports_focus or isinstance(event, Focused)
    state = replace(state, reports_focus=reports, last_input_s=event.at_s)
    if since is None:
        return state, ()
    away_s = event.at_s - since
    if away_s < settings.away_s:
        reason = f"You were away {away_s:.0f} s, less than the threshold of {settings.away_s:.0f} s."
        return replace(state, away_since_s=None, why=reason if state.away_since_s is not None else state.why), ()
    if state.working:
        return replace(
            state, away_since_s=since, owed=True, why="You are back; the agent still works, the recap waits."
        ), ()
    return _decide(state, away_s)


def _decide(state: AwayState, away_s: float) -> Step:
    reason = objection(state)
    if reason:
        return replace(state, away_since_s=None, owed=False, why=f"No recap: {reason}."), ()
    return _reveal(state, "away", f"You were away {away_s:.0f} s and the session was idle.")


def _reveal(state: AwayState, trigger: str, reason: str) -> Step:
    if not state.key.session_id:
        return replace(state, why="No recap: no session is open."), ()
    shown = replace(state, away_since_s=None, owed=False, turns_since_recap=0, drafted=None, why=reason)
    return shown, (Reveal(state.key, trigger),)


def _turn_began(state: AwayState, event: TurnBegan) -> Step:
    stale: tuple[Action, ...] = (Abort(state.drafting),) if state.drafting else ()
    return replace(state, working=True, drafting=None, drafted=None, last_input_s=state.last_input_s), stale


def _turn_done(state: AwayState, event: TurnDone, settings: AwaySettings) -> Step:
    state = replace(
        state, working=False, key=event.key, user_turns=event.user_turns, turns_since_recap=event.turns_since_recap
    )
    if not settings.enabled:
        return replace(state, owed=False, why="Automatic recaps are switched off."), ()
    if state.owed and state.away_since_s is not None:
        return _decide(state, event.at_s - state.away_since_s)
    return _draft(state)


def _opened(state: AwayState, event: Opened, settings: AwaySettings) -> Step:
    stale: tuple[Action, ...] = (Abort(state.drafting),) if state.drafting else ()
    fresh = AwayState(
        key=event.key,
        user_turns=event.user_turns,
        turns_since_recap=event.turns_since_recap,
        reports_focus=state.reports_focus,
        last_input_s=event.at_s,
        why="A session was opened.",
    )
    if not event.resumed or not settings.enabled or not event.user_turns:
        return fresh, stale
    shown, actions = _reveal(fresh, "resume", "The session was resumed.")
    return shown, (*stale, *actions)


def _draft_made(state: AwayState, event: DraftMade) -> Step:
    if event.key != state.key or state.working:
        return replace(state, drafting=None, why="A late recap was dropped: the session had gone on."), ()
    return replace(state, drafting=None, drafted=event.key), ()
