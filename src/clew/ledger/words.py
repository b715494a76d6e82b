"""Plain words out of wrapped, pasted and marked-up text."""

import re

MAX_TYPED = 4000
"""A longer message is mostly pasted material; its head and tail tell what is wanted."""

_WRAPPED = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|local-command-stdout|local-command-stderr|"
    r"local-command-caveat"
    r"|bash-stdout|bash-stderr|command-message|task-notification|environment_context|user_instructions|"
    r"external_links|attached_files|code_selection|user_info|git_status|open_and_recently_viewed_files|"
    r"system_reminder|INSTRUCTIONS|turn_aborted|editor_context|environment_details|manually_attached_skills)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_ROLE_TEXT = re.compile(
    r"<(?P<tag>(?:system|developer)[_-]?(?:prompt|message|instructions?|context))\b[^>]*>(?P<words>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_USER_TEXT = re.compile(
    r"<(?P<tag>(?:user|human)[_-]?(?:prompt|message|query|request|input|task))\b[^>]*>(?P<words>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ASKED = ("user_query", "pr_description", "issue", "task", "user_request", "feature_request", "problem_statement")
_COMMAND = re.compile(r"<command-name>\s*(/?[^<\s]+)\s*</command-name>")
_SHELL_INPUT = re.compile(r"<bash-input>.*?</bash-input>", re.DOTALL)
_IDE_REQUEST = re.compile(r"^#+ *My request for [^\n]*\n", re.MULTILINE)
_SLASH = re.compile(r"\s*(/[a-zA-Z][\w.-]*(?::[\w.-]+)*)(?=\s|$)(?!/)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][\w-]*>")
_IMAGE = re.compile(r"\[Image(?: #\d+)?(?:: [^\]]*)?\]")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[(?:\d{1,3};)*\d{1,3}m|\x1b")
INTERRUPT_MARKS = ("[Request interrupted by user", "[Request cancelled")


def is_interruption(text: str) -> bool:
    """The line that stands for a stop by the user."""
    return text.startswith(INTERRUPT_MARKS)


def bounded(text: str, limit: int = MAX_TYPED) -> str:
    """Head and tail of a long text."""
    if len(text) <= limit:
        return text
    head = limit * 3 // 4 - 1
    return text[:head] + "\n" + text[-(limit - head - 1) :]


def inside(text: str, tag: str) -> str:
    """What stands between a tag and its end; "" when one of them is missing."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start) if start >= 0 else -1
    return text[start + len(tag) + 2 : end] if end >= 0 else ""


def typed(text: str) -> tuple[str, str]:
    """What the user typed, and the slash command it was typed to ("" for none)."""
    command = ""
    if "<" in text:
        found = _COMMAND.search(text[:2000])
        if found:
            name = found.group(1)
            command = name if name.startswith("/") else "/" + name
            return inside(text, "command-args").strip(), command
        text = _SHELL_INPUT.sub(" ", _WRAPPED.sub(" ", text)) if "</" in text or "<" in text[:200] else text
        asked = next(filter(None, (inside(text, tag) for tag in _ASKED)), "")
        text = asked if len(asked.strip()) > 10 else _own_words(text)
    if "My request for" in text:
        found = _IDE_REQUEST.search(text)
        if found:
            text = text[found.end() :]
    if "[Image" in text:
        text = _IMAGE.sub(" ", text)
    text = bounded(text.strip())
    if "m" in text and ("[3" in text or "\x1b" in text):
        text = _ANSI.sub("", text)
    slash = _SLASH.match(text) if text.startswith("/") else None
    if slash:
        return text[slash.end() :].strip(), slash.group(1)
    return text, command


def _own_words(text: str) -> str:
    """Without what a program put before the user's words as a system prompt; where the user added none, that."""
    if "</" not in text:
        return text
    wrapped = _USER_TEXT.search(text)
    if wrapped and wrapped.group("words").strip():
        return wrapped.group("words")
    bare = _ROLE_TEXT.sub(" ", _USER_TEXT.sub(" ", text))
    return bare if bare.strip() else _TAG.sub(" ", text)


def without_code(text: str) -> str:
    """The text without fenced blocks, tables and quoted lines."""
    if "```" in text:
        text = _FENCE.sub("\n", text)
    if "\n" not in text:
        return text
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(("|", ">", "+++", "---", "@@"))]
    return "\n".join(lines)


_CJK_END = "。！？；"
_SPLIT = re.compile(
    r"(?<=[.!?])(?<!\s\d\.)(?<!\s\d\d\.)(?<!\A\d\.)[\"')\]*_]*\s+(?=[\"'(\[`*_]*[^\s\d])|(?<=[。！？；])|\n+|(?<=\w)\s+[-—–]\s+(?=[A-Z])"
)
_LEAD = re.compile(r"^\s*(?:[#>*\-+•●◦▪✅☑✔❌⚠️🔴🟡🔵🎉🚀➜→❯]+|\d{1,2}[.)]\s|\[[ xX]\]|\s)+")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKS = re.compile(
    r"\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|(?<![\w/`.])_(?=[^_\s][^_/.]*_(?![\w./]))|(?<=[^_\s/])_(?=[\s,:;!?)]|$)"
)
_SPACES = re.compile(r"\s+")
_ABBREVIATION = ("e.g.", "i.e.", "etc.", "vs.", "Dr.", "Mr.", "cf.", "approx.", "no.")


def flat(text: str) -> str:
    """One line of plain words: no markdown, no list marks."""
    text = _LEAD.sub("", text)
    if "\u2019" in text:
        text = text.replace("\u2019", "'")
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return _SPACES.sub(" ", _MARKS.sub("", text)).strip()


def sentences(text: str, *, limit: int = 60) -> list[str]:
    """The sentences of some prose, flattened, at most `limit` of them."""
    found: list[str] = []
    for piece in _SPLIT.split(without_code(text)):
        plain = flat(piece) if piece else ""
        if not plain:
            continue
        if found and found[-1].endswith(_ABBREVIATION):
            found[-1] += " " + plain
        else:
            found.append(plain)
        if len(found) >= limit:
            break
    return found


_ITEM_HEAD = re.compile(r"\s+[—–-]\s+|:\s+|\s+\(")
_LISTED = re.compile(r"^\s*(?:[-*+•◦▪✅✓✔☑]|\d{1,2}[.)])\s")


def passages(text: str, *, limit: int = 60) -> list[str]:
    """Sentences, where a line that introduces a list takes the heads of its first items along."""
    lines: list[str] = []
    for line in without_code(text).split("\n"):
        if _LISTED.match(line) and lines and lines[-1].rstrip().rstrip("*").endswith((":", "：", "with")):
            lines[-1] = f"{lines[-1].rstrip().rstrip('*')} {_item_head(line)},"
        elif lines and lines[-1].endswith((":", "：")) and line.lstrip().startswith("`"):
            lines[-1] = f"{lines[-1]} {line.strip()}"
        elif _LISTED.match(line) and lines and lines[-1].endswith(","):
            lines[-1] = f"{lines[-1]} {_item_head(line)}," if lines[-1].count(",") < 3 else lines[-1]
        elif line.strip():
            if lines and lines[-1].endswith(","):
                lines[-1] = lines[-1][:-1]
            lines.append(line)
    return sentences("\n".join(line.rstrip(",") for line in lines), limit=limit)


def _item_head(line: str) -> str:
    plain = flat(line)
    head = _ITEM_HEAD.split(plain, maxsplit=1)[0]
    return " ".join((head if len(head) >= 4 else plain).rstrip(".,;").split()[:9])


def is_cjk(char: str) -> bool:
    """Characters that are written without spaces."""
    code = ord(char)
    return (
        0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x2FA1F
    )


def cjk_share(text: str) -> float:
    """Share of such characters among the letters."""
    if text.isascii():
        return 0.0
    letters = [char for char in text if char.isalpha()]
    return sum(map(is_cjk, letters)) / len(letters) if letters else 0.0


def word_cost(text: str) -> int:
    """Length in words, where two Chinese or Japanese characters weigh as one word."""
    cjk = 0 if text.isascii() else sum(map(is_cjk, text))
    if not cjk:
        return len(text.split())
    rest = "".join(" " if is_cjk(char) else char for char in text)
    return len([word for word in rest.split() if any(map(str.isalnum, word))]) + (cjk + 1) // 2
