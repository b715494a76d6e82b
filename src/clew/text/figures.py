"""Figures in words: durations, money, counts, changes, paths."""

from collections.abc import Collection


def duration(milliseconds: int) -> str:
    """0.4 s, 12 s, 3 min 5 s, 2 h 4 min."""
    seconds = milliseconds / 1000
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def ago(seconds: float) -> str:
    """just now, 3 min ago, 2 h ago, 5 d ago: one unit, rounded down."""
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def money(usd: float) -> str:
    """Two digits from a dollar up, four below, never "$0" for something that cost."""
    if usd <= 0:
        return "$0"
    if usd < 0.0001:
        return "<$0.0001"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def price(usd: float) -> str:
    """A price or limit that somebody set, as short as it is: $3, $0.25."""
    return f"${usd:g}" if usd >= 0.01 or usd == 0 else money(usd)


def count(number: int, noun: str, plural: str = "") -> str:
    """1 file, 2 files, 1,200 files."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def restore_words(did: Collection[str]) -> str:
    """`2 files restored, 1 changed`: what going back or forth did, in the same words everywhere; of what says nothing
    only how many."""
    known = [(sum(one == word for one in did), word) for word in ("restored", "changed", "deleted")]
    told = [(number, word) for number, word in known if number]
    if not told:
        return count(len(did), "file")
    (first, word), *rest = told
    return ", ".join([f"{count(first, 'file')} {word}", *(f"{number:,} {word}" for number, word in rest)])


def change(added: int, removed: int) -> str:
    """+3 -1, in ASCII so that every terminal and screen reader has it."""
    return f"+{added} -{removed}"


def shown_path(path: str, cwd: str) -> str:
    """The path as a person in the working directory would write it."""
    root = cwd.rstrip("/") + "/"
    return path[len(root) :] if cwd and path.startswith(root) and len(path) > len(root) else path
