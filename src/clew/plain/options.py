"""What the command line tells this front end, beside the Client."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from clew.config.schema import Density, TerminalNotice


class PlainOptions(Struct, frozen=True, kw_only=True):
    """Everything has a default: a Client alone is enough to talk."""

    home: Path | None = None
    """CLEW_HOME, for the history; None keeps no history on disk."""
    env: Mapping[str, str] = {}
    """Looked at for TERM and NO_COLOR."""
    prompt: str = ""
    """Sent at once, as if it had been typed."""
    verbose: bool = False
    """Tell also what each request used and each call was given."""
    show_reasoning: bool = False
    density: Density = "labels"
    """How closely calls are told."""
    tools: dict[str, Density] = {}
    """Tools that are told more or less closely than the rest."""
    reduced_motion: bool = False
    """Nothing on the screen is drawn over: no sign of life, no unfinished words. For screen readers."""
    notifications: TerminalNotice = "auto"
    """How the terminal tells a notice."""
    guard_s: float = 0.3
    """An approval takes no key before this long has passed without one."""
    quit_window_s: float = 2.0
    """A second Ctrl-C within this time quits, a second Esc clears."""
    escape_s: float = 0.05
    """An Esc after which nothing came for so long is a key of its own."""
    slow_call_s: float = 5.0
    """A call that runs longer is mentioned."""
    pulse_s: float = 1.0
    """How often the sign of life is drawn anew."""
    wait_s: float = 0.5
    """Words that waited so long for the end of their row are shown before it."""
    away_s: float = 300.0
    """Who types again after so long is told where things stand; 0: only when asked."""
    close_timeout_s: float = 15.0
    """How long the session may take to write everything when it is closed."""
