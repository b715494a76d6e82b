"""When to show a recap unasked: a pure state machine over focus, typing and turns. It reads no clock."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

MIN_PROMPTS = 3
MIN_NEW_PROMPTS = 2
AWAY_S = 300.0

Sign = Literal["left", "back", "typed"]
"""The terminal lost the focus; has it again; or a key was pressed: whoever types is here, whatever was reported."""


class Away(Struct, frozen=True, kw_only=True):
    """What is known of the person and the session. A terminal is not known to report focus until it does."""

    prompts: int = 0
    since_recap: int = 0
    working: bool = False
    reports_focus: bool = False
    left_s: float | None = None
    seen_s: float | None = None
    owed: bool = False
    """The person came back while the agent worked: the recap waits for the end of the turn."""

    def prompted(self) -> "Away":
        """The person sent a prompt."""
        return replace(self, prompts=self.prompts + 1, since_recap=self.since_recap + 1)

    def began(self) -> "Away":
        """The agent works."""
        return replace(self, working=True)

    def shown(self) -> "Away":
        """A recap was shown, for whatever reason."""
        return replace(self, since_recap=0, owed=False)

    def opened(self, prompts: int) -> "Away":
        """Another session, with so many prompts behind it."""
        return Away(prompts=prompts, since_recap=prompts, reports_focus=self.reports_focus, seen_s=self.seen_s)


def ended(state: Away, *, unsent: bool) -> tuple[Away, bool]:
    """The turn is over; whether to show a recap now."""
    state = replace(state, working=False)
    return _decide(state, unsent=unsent) if state.owed else (state, False)


def noticed(state: Away, sign: Sign, at_s: float, *, unsent: bool = False, away_s: float = AWAY_S) -> tuple[Away, bool]:
    """The person left or is here; whether to show a recap now. `unsent`: words stand in the input line."""
    if sign == "left":
        since = at_s if state.left_s is None else state.left_s
        return replace(state, reports_focus=True, left_s=since), False
    since = state.left_s
    if since is None and sign == "typed" and not state.reports_focus:
        since = state.seen_s
    state = replace(state, reports_focus=state.reports_focus or sign == "back", seen_s=at_s, left_s=None)
    if since is None or at_s - since < away_s:
        return state, False
    if state.working:
        return replace(state, owed=True), False
    return _decide(state, unsent=unsent)


def _decide(state: Away, *, unsent: bool) -> tuple[Away, bool]:
    if state.prompts < MIN_PROMPTS or state.since_recap < MIN_NEW_PROMPTS or unsent:
        return replace(state, owed=False), False
    return state.shown(), True
