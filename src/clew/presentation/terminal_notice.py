"""A notice as the terminal's own: OSC 9 and OSC 777 for those that show it, the bell for all."""

from collections.abc import Mapping

from clew.config.schema import TerminalNotice
from clew.protocol.events import Notified

BELL = "\x07"


def notice_codes(notice: Notified, how: TerminalNotice, env: Mapping[str, str], *, capable: bool = True) -> str:
    """What to write; empty: nothing. `capable`: the terminal understands more than the bell. Within tmux the codes are
    wrapped, so that it hands them on to the terminal around it."""
    if how == "off":
        return ""
    if how == "bell" or not capable:
        return BELL
    text = notice.text.replace(";", ",")
    codes = (f"\x1b]9;{text}{BELL}", f"\x1b]777;notify;clew;{text}{BELL}")
    if env.get("TMUX"):
        codes = tuple(f"\x1bPtmux;{code.replace(chr(27), chr(27) * 2)}\x1b\\" for code in codes)
    return "".join((*codes, BELL))
