"""What a person typed, told from what programs wrap around it or write in the person's name."""

import re

from clew.text.lazy_pattern import LazyPattern

MAX_TYPED = 4000
"""A longer message is mostly pasted material; its head and tail tell what is wanted."""

_WRAPPED = LazyPattern(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|local-command-stdout|local-command-stderr|"
    r"local-command-caveat|bash-input|user-prompt-submit-hook"
    r"|bash-stdout|bash-stderr|command-message|task-notification|environment_context|user_instructions|"
    r"external_links|attached_files|code_selection|user_info|git_status|open_and_recently_viewed_files|"
    r"system_reminder|INSTRUCTIONS|turn_aborted|editor_context|environment_details|manually_attached_skills)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_ROLE_TEXT = LazyPattern(
    r"<(?P<tag>(?:system|developer)[_-]?(?:prompt|message|instructions?|context))\b[^>]*>(?P<words>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_USER_TEXT = LazyPattern(
    r"<(?P<tag>(?:user|human)[_-]?(?:prompt|message|query|request|input|task))\b[^>]*>(?P<words>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ASKED = ("user_query", "pr_description", "issue", "task", "user_request", "feature_request", "problem_statement")
_COMMAND = LazyPattern(r"<command-name>\s*(/?[^<\s]+)\s*</command-name>")
_IDE_REQUEST = LazyPattern(r"^#+ *My request for [^\n]*\n", re.MULTILINE)
_SLASH = LazyPattern(r"\s*(/[a-zA-Z][\w.-]*(?::[\w.-]+)*)(?=\s|$)(?!/)")
_TAG = LazyPattern(r"</?[A-Za-z][\w-]*>")
_FRAME = LazyPattern(r"<(?=/?bash-(?:input|stdout|stderr))", re.IGNORECASE)
_IMAGE = LazyPattern(r"\[Image(?: #\d+)?(?:: [^\]]*)?\]")
_ANSI = LazyPattern(r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-9;?]*[A-Za-z]|\[(?:\d{1,3};)*\d{1,3}m|\x1b")
_INTERRUPTED = ("[Request interrupted by user", "[Request cancelled", "[Operation Cancelled]", "[User Cancelled]")
_WRITTEN_BY_PROGRAMS = ("Caveat: The messages below", "Stop hook feedback:", "[Function Response:")
_HOUSEKEEPING_WORDS = """
    add-dir agents bashes bug chat clear compact config context copy cost docs doctor drop editor exit export fast
    feedback help history hooks ide install-github-app keybindings login logout map mcp memory model new output-style
    permissions plugin privacy-settings quit read-only recap release-notes rename reset resume rewind run save settings
    skills stats status statusline tasks theme think title todos tokens tools undo upgrade usage version vim voice web
"""
HOUSEKEEPING = frozenset("/" + word for word in _HOUSEKEEPING_WORDS.split())
"""Commands to the program itself; no wish to the agent."""


def shell_words(command: str, output: str, exit_code: int | None) -> str:
    """What the model reads of a command the user typed. Nothing in it can end its own frame."""
    ended = "stopped by the user" if exit_code is None else f"exit code {exit_code}"
    shown = _FRAME.sub("&lt;", output.rstrip("\n")) or "(no output)"
    return f"<bash-input>{_FRAME.sub('&lt;', command)}</bash-input>\n<bash-stdout>{shown}\n[{ended}]</bash-stdout>"


def is_interruption(text: str) -> bool:
    """The line that stands for a stop by the user."""
    return text.lstrip().startswith(_INTERRUPTED)


def bounded(text: str, limit: int = MAX_TYPED) -> str:
    """Head and tail of a long text."""
    if len(text) <= limit:
        return text
    head = limit * 3 // 4 - 1
    return text[:head] + "\n" + text[-(limit - head - 1) :]


def typed(text: str) -> tuple[str, str]:
    """What the user typed, and the slash command it was typed to ("" for none)."""
    command = ""
    if "<" in text:
        found = _COMMAND.search(text[:2000])
        if found:
            name = found.group(1)
            command = name if name.startswith("/") else "/" + name
            return _inside(text, "command-args").strip(), command
        text = _WRAPPED.sub(" ", text) if "</" in text or "<" in text[:200] else text
        asked = next(filter(None, (_inside(text, tag) for tag in _ASKED)), "")
        text = asked if len(asked.strip()) > 10 else _own_words(text)
    if "My request for" in text:
        found = _IDE_REQUEST.search(text)
        if found:
            text = text[found.end() :]
    if "[Image" in text:
        text = _IMAGE.sub(" ", text)
    text = bounded(text.strip())
    if "\x1b" in text or ("m" in text and "[3" in text):
        text = _ANSI.sub("", text).strip()
    slash = _SLASH.match(text) if text.startswith("/") else None
    if slash:
        return text[slash.end() :].strip(), slash.group(1)
    return ("" if text.startswith(_WRITTEN_BY_PROGRAMS) else text), command


def is_prompt(text: str) -> bool:
    """Whether a message asks something of the agent."""
    words, command = typed(text)
    return bool(words) or (bool(command) and command not in HOUSEKEEPING)


def _inside(text: str, tag: str) -> str:
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start) if start >= 0 else -1
    return text[start + len(tag) + 2 : end] if end >= 0 else ""


def _own_words(text: str) -> str:
    """Without what a program put before the user's words as a system prompt; where the user added none, that."""
    if "</" not in text:
        return text
    wrapped = _USER_TEXT.search(text)
    if wrapped and wrapped.group("words").strip():
        return wrapped.group("words")
    bare = _ROLE_TEXT.sub(" ", _USER_TEXT.sub(" ", text))
    return bare if bare.strip() else _TAG.sub(" ", text)
