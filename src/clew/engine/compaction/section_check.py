"""What of a summariser's reply may stand in the record: its fixed headings, and the lines the stretch bears out."""

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from clew.llm.estimate import estimate_text
from clew.text.redact import redact
from clew.text.terminal_text import sanitize

HEADINGS = ("Done", "Decided", "Learned", "Errors and fixes", "State of files")
MAX_SHARE = 0.7
"""A section larger than this share of what it replaces gains too little."""
_SMALL_TOKENS = 120
"""A record this short is no burden, whatever it replaces."""
_MAX_LINE = 400
_MAX_TITLE = 90

_SCRATCH = re.compile(r"<(analysis|think|thinking|scratchpad|reasoning)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.I)
_HEADING = re.compile(
    r"^\s{0,3}(?:#{1,6}\s*|[*_]{2}\s*)?(" + "|".join(HEADINGS) + r")\s*(?:[*_]{2})?\s*[:：]?\s*(?:[*_]{2})?\s*(.*)$",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(.*?)|[*_]{2}([^*_]+)[*_]{2}:?)\s*#*$")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_MARK = re.compile(r"^\s*(?:[-*+•‣▪>]|\d{1,3}[.)])\s+")
_BOX = re.compile(r"^\s*(?:[-*+•]\s+)?(?:\[[ xX✓✔]?\]|[☐☑☒✅⬜])")
_NOTHING = re.compile(r"^\W*(?:none|n/?a|nothing|no (?:errors|decisions|changes))?\W*$", re.IGNORECASE)
_URL = re.compile(r"\b(?:https?|ftp|file|ssh|git)://[^\s)>\]\"'`]+", re.IGNORECASE)
_PATH = re.compile(
    r"(?<![\w/.:-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*|(?<![\w/.-])/[\w@.+-]{2,}|(?<![\w/.-])[\w@+-]+(?:\.[\w+-]+)*\.[A-Za-z]\w{0,7}\b(?!\()"
)
_NAME = re.compile(
    r"\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w*[A-Za-z]_\w+|_\w*[A-Za-z]\w*|[A-Z]{2,}-\d+|(?=[0-9a-f]*\d)[0-9a-f]{7,40})\b"
    r"|(#\d+)|(?<!\w)(--[a-z][\w-]+)"
)
_TAG = re.compile(r"<[/|!]?[A-Za-z][^<>]*>|\[/?INST\]")
_CODE = re.compile(r"`([^`]+)`")
_WORD = re.compile(r"[^\W\d_]{4,}")
_WIDE = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Scripts written without spaces, of which pairs of characters are compared."""
_WIDE_PAIR = re.compile(rf"(?=({_WIDE}{_WIDE}))")
_PLAIN_DOTS = frozenset({"e.g", "i.e", "etc", "vs"})


class Checked(Struct, frozen=True, kw_only=True):
    """A reply after the check; `problem` says why it cannot be used, "" when it can."""

    title: str = ""
    lines: dict[str, list[str]] = {}
    """What may stand under each heading."""
    dropped: int = 0
    problem: str = ""

    @property
    def text(self) -> str:
        """The record as it is kept."""
        return "\n".join(
            f"{heading}:\n" + "\n".join(f"- {line}" for line in self.lines[heading])
            for heading in HEADINGS
            if self.lines.get(heading)
        )


class StretchWords:
    """The words of a stretch, to look names up in."""

    def __init__(self, text: str, *, cwd: str = "") -> None:
        self._text = text.casefold().replace("\\", "/")
        self._cwd = cwd.casefold().rstrip("/") + "/" if cwd else ""
        self._stems = {word[:5] for word in _WORD.findall(self._text)}
        self._scripts = {script for char in set(self._text) if (script := _script(char))}
        self._wide = set(_WIDE_PAIR.findall(self._text))

    def holds(self, name: str) -> bool:
        """Whether a name occurs."""
        wanted = name.casefold().strip("`'\".,:;()[]{}<> ")
        if wanted.startswith("./"):
            wanted = wanted[2:]
        if not wanted.strip("/") or self._occurs(wanted) or self._occurs(wanted.rstrip("/")):
            return True
        return bool(self._cwd) and wanted.startswith(self._cwd) and self._occurs(wanted[len(self._cwd) :])

    def _occurs(self, word: str) -> bool:
        return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", self._text) is not None

    def stranger(self, line: str) -> str:
        """What a line names that is not there; "" when it names nothing strange."""
        for tag in _TAG.findall(line):
            if tag.casefold() not in self._text:
                return tag
        for name in _names(line):
            if not self.holds(name):
                return name
        for code in _CODE.findall(line):
            words = re.findall(r"[\w./:@-]{3,}", code)
            strange = next((word for word in words if not self.holds(word)), "")
            if strange:
                return strange
        return ""

    def is_about_this(self, line: str) -> bool:
        """Whether anything of a line was spoken of, in a script that was used."""
        folded = line.casefold()
        scripts = {script for char in folded if (script := _script(char))}
        if not scripts <= self._scripts | {"LATIN"}:
            return False
        wide = _WIDE_PAIR.findall(folded)
        if len(wide) >= 3:
            return sum(pair in self._wide for pair in wide) * 5 >= len(wide) * 2
        words = _WORD.findall(folded)
        if _names(line):
            return True  # each of them was found
        return sum(word[:5] in self._stems for word in words) * 3 >= len(words)


def _script(char: str) -> str:
    """The script of a letter by the first word of its name; "" for everything else."""
    if char < "\u0080":
        return "LATIN" if char.isalpha() else ""
    return unicodedata.name(char, "").split(" ")[0] if char.isalpha() else ""


def _names(line: str) -> list[str]:
    urls = [name.rstrip(".,;:") for name in _URL.findall(line)]
    rest = _CODE.sub(" ", _URL.sub(" ", line))
    paths = [name.rstrip(".,;:") for name in _PATH.findall(rest)]
    found = ["".join(match.groups("")) for match in _NAME.finditer(_PATH.sub(" ", rest))]
    return urls + [name for name in paths if _is_path(name)] + found


def _is_path(name: str) -> bool:
    """Not "and/or", not "e.g.", not "1.5s"."""
    if name.casefold() in _PLAIN_DOTS or not any(map(str.isalpha, name)):
        return False
    if "/" in name.strip("/") and "." not in name and not name.startswith(("/", "~", ".")):
        return any(mark in name for mark in "-_@+") or any(map(str.isdigit, name)) or name.count("/") > 1
    return True


def check(reply: str, evidence: StretchWords, *, stop_reason: str, replaced_tokens: int, max_tokens: int) -> Checked:
    """What may be kept of a reply. Lines beyond `max_tokens` are left out, the last ones of each heading first."""
    if stop_reason in ("refusal", "content_filter"):
        return Checked(problem="the model refused")
    if stop_reason in ("max_tokens", "length", "model_context_window_exceeded"):
        return Checked(problem="it was cut off before its end; fewer words are needed")
    text = sanitize(_SCRATCH.sub("", reply), one_line=False).strip()
    if not text:
        return Checked(problem="it was empty")
    title, found, unplaced = _parsed(text)
    if not found:
        return Checked(problem="it has none of the headings that were asked for", dropped=unplaced)
    dropped = unplaced
    kept: dict[str, list[str]] = {}
    for heading, lines in found:
        for line in lines:
            if objection(line, evidence):
                dropped += 1
            elif (clean := redact(line)[:_MAX_LINE]) not in kept.setdefault(heading, []):
                kept[heading].append(clean)
    if not any(kept.values()):
        return Checked(problem="no line of it could be kept: it must tell only what happened", dropped=dropped)
    if objection(title, evidence) or _BOX.match(title):
        title = ""
    checked = Checked(title=redact(title)[:_MAX_TITLE], lines=kept, dropped=dropped)
    if estimate_text(checked.text) > max(_SMALL_TOKENS, replaced_tokens * MAX_SHARE):
        return Checked(problem="it is hardly shorter than the stretch; fewer words are needed", dropped=dropped)
    return Checked(title=checked.title, lines=bounded(kept, max_tokens), dropped=dropped)


def objection(line: str, evidence: StretchWords) -> str:
    """Why a line may not stand in the record; "" when it may."""
    if name := evidence.stranger(line):
        return f"unknown: {name}"
    return "" if evidence.is_about_this(line) else "not of this stretch"


def _parsed(text: str) -> tuple[str, list[tuple[str, list[str]]], int]:
    """Title, the lines under each fixed heading, and how many lines stand elsewhere."""
    title = ""
    unplaced = 0
    found: list[tuple[str, list[str]]] = []
    lines: list[str] | None = None
    for raw in text.splitlines():
        if not raw.strip() or _FENCE.match(raw):
            continue
        if (named := _HEADING.match(raw)) and (raw.lstrip().startswith(("#", "*", "_")) or not named.group(2)):
            lines = []
            found.append((_heading(named.group(1)), lines))
            if named.group(2) and not _NOTHING.match(named.group(2)):
                lines.append(named.group(2).strip())
        elif other := _OTHER_HEADING.match(raw):
            words = (other.group(1) or other.group(2) or "").strip()
            if not found and not title:
                title = words
            else:
                unplaced += 1
            lines = None
        elif _BOX.match(raw) or lines is None:
            unplaced += 1
        else:
            line = _MARK.sub("", raw).strip()
            if not _NOTHING.match(line):
                lines.append(line)
    return title, found, unplaced


def _heading(words: str) -> str:
    return next(heading for heading in HEADINGS if heading.casefold() == words.casefold())


def bounded(lines: dict[str, list[str]], max_tokens: int) -> dict[str, list[str]]:
    """At most so many tokens of lines, a fair share of each heading: round by round, one line of each."""
    kept: dict[str, list[str]] = {}
    left = float(max_tokens)
    for number in range(max(map(len, lines.values()), default=0)):
        for heading in HEADINGS:
            row: Sequence[str] = lines.get(heading, [])
            if number < len(row) and (cost := estimate_text(row[number]) + 3) <= left:
                left -= cost
                kept.setdefault(heading, []).append(row[number])
    return kept
