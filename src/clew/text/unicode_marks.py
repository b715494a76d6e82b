"""Which characters a terminal does not show as what they are: the classes behind sanitising and revealing."""

from unicodedata import category

from clew.text.lazy_pattern import LazyPattern

BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
ZERO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff"
)
TAGS = "\U000e0000-\U000e007f"
LINE_SEPARATORS = "\u2028\u2029"
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
STACKING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
SURROGATES = "\ud800-\udfff"

JOINERS = "\u200c\u200d"
SELECTORS = "\ufe0e\ufe0f"

CONTROL = LazyPattern(f"[{CONTROLS}]")
INVISIBLE = LazyPattern(f"[{BIDI}{ZERO_WIDTH}{TAGS}{LINE_SEPARATORS}]")
HIDDEN = LazyPattern(f"[\t\n{BIDI}{ZERO_WIDTH}{TAGS}{LINE_SEPARATORS}{CONTROLS}]")
"""What hides in a name, where tabs and line breaks do too."""
UNSHOWN = LazyPattern(f"[{BIDI}{ZERO_WIDTH}{TAGS}{LINE_SEPARATORS}{CONTROLS}{SURROGATES}]")

_PICTOGRAPH = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING_SCRIPT = (
    "\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u0780-\u07bf\u0840-\u085f\u08a0-\u08ff\u0900-\u0dff\u0e00-\u109f"
    "\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa\ua840-\ua877\ufb50-\ufdff\ufe70-\ufefc"
)
# What may stay although its class is zero-width: the joiners inside an emoji or inside a word of a script that
# needs them, one selector after a character that has an emoji form, one ideographic selector after an ideograph.
WANTED = LazyPattern(
    f"(?<=[{_PICTOGRAPH}0-9#*])[{SELECTORS}](?![{SELECTORS}])"
    f"|(?<=[{_PICTOGRAPH}{SELECTORS}])\u200d(?=[{_PICTOGRAPH}])"
    f"|(?<=[{_JOINING_SCRIPT}])[{JOINERS}](?=[{_JOINING_SCRIPT}])"
    "|(?<=[\u3400-\u9fff])[\U000e0100-\U000e01ef]"
)
PICTOGRAPH = LazyPattern(f"[{_PICTOGRAPH}]")
JOINABLE = LazyPattern(f"[{_PICTOGRAPH}{_JOINING_SCRIPT}]")
# Without any of these in a text nothing in it is wanted.
CARRIER = LazyPattern(f"[{_PICTOGRAPH}{_JOINING_SCRIPT}0-9#*\u3400-\u9fff]")


def is_combining(char: str) -> bool:
    """Drawn on top of the character before it."""
    return category(char) in ("Mn", "Me")


# Letters of other scripts that a reader takes for a Latin letter in most fonts.
LOOK_ALIKES = frozenset("аеорсухѕіјһԁԛԝвкмнтгпАВЕЅІЈКМНОРСТУХҮԌԚԜαβγεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցօհքԱՍՏՕǃ⁄∕։٫")

_SCRIPT_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x024F, "Latin"),
    (0x0250, 0x02AF, "Latin"),
    (0x0370, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0530, 0x058F, "Armenian"),
    (0x0590, 0x05FF, "Hebrew"),
    (0x0600, 0x06FF, "Arabic"),
    (0x13A0, 0x13FF, "Cherokee"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0x2100, 0x214F, "letter-like symbols"),
    (0x3040, 0x30FF, "Kana"),
    (0x3400, 0x9FFF, "Han"),
    (0xAC00, 0xD7AF, "Hangul"),
    (0xFF21, 0xFF5A, "full-width Latin"),
    (0x1D400, 0x1D7FF, "mathematical letters"),
)
# Scripts that are written beside Latin letters every day, without passing for them.
_UNLIKE = frozenset({"Kana", "Han", "Hangul", "Hebrew", "Arabic"})


def script_of(char: str) -> str:
    """The script of a letter, or an empty string for anything else."""
    if not char.isalpha() and not 0x1D400 <= ord(char) <= 0x1D7FF:
        return ""
    code = ord(char)
    for first, last, name in _SCRIPT_RANGES:
        if first <= code <= last:
            return name
    return ""


def confusing_scripts(word: str) -> tuple[str, ...]:
    """The scripts of a word that mixes some that look alike, or that is made of look-alikes only."""
    if word.isascii():
        return ()
    word = word[:256]
    scripts = {script_of(char) for char in word} - {""} - _UNLIKE
    if len(scripts) > 1 or scripts & {"full-width Latin", "mathematical letters"}:
        return tuple(sorted(scripts))
    letters = [char for char in word if char.isalpha()]
    if scripts and scripts != {"Latin"} and letters and all(char in LOOK_ALIKES for char in letters):
        return tuple(sorted(scripts))
    return ()
