"""Small sessions of our own in every agent's format, written below a folder as the agent itself would lay them out."""

from collections.abc import Callable
from pathlib import Path

from .samples_lines import claude_code, codex, gemini_cli, gemini_jsonl, qwen_code
from .samples_text import (
    aider,
    copilot_cli,
    cursor_agent,
    cursor_export,
    droid,
    mini_swe_agent,
    openclaw,
    pi,
    specstory,
    swe_agent,
)
from .samples_trees import (
    kimi_code,
    kimi_context,
    kimi_wire,
    opencode_db,
    opencode_export,
    opencode_legacy,
    opencode_storage,
)

SAMPLES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "claude_code": ("claude_code", claude_code),
    "codex": ("codex", codex),
    "gemini_cli": ("gemini_cli", gemini_cli),
    "gemini_jsonl": ("gemini_cli", gemini_jsonl),
    "qwen_code": ("qwen_code", qwen_code),
    "opencode_export": ("opencode", opencode_export),
    "opencode_storage": ("opencode", opencode_storage),
    "opencode_legacy": ("opencode", opencode_legacy),
    "opencode_db": ("opencode", opencode_db),
    "aider": ("aider", aider),
    "kimi_context": ("kimi_cli", kimi_context),
    "kimi_wire": ("kimi_cli", kimi_wire),
    "kimi_code": ("kimi_cli", kimi_code),
    "cursor_agent": ("cursor", cursor_agent),
    "cursor_export": ("cursor", cursor_export),
    "specstory": ("cursor", specstory),
    "swe_agent": ("swe_agent", swe_agent),
    "mini_swe_agent": ("mini_swe_agent", mini_swe_agent),
    "copilot_cli": ("copilot_cli", copilot_cli),
    "pi": ("pi", pi),
    "openclaw": ("openclaw", openclaw),
    "droid": ("droid", droid),
}
"""Name of the sample, the agent that writes such files, and what lays one out below a folder."""
