"""Environment variables as a layer of settings, above all files and below the flags."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from clew.config.errors import SettingsVariableError
from clew.config.text import plain
from clew.config.walk import KeyPath, choices, edits, type_at

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


def _word(path: KeyPath, text: str) -> Any:
    return msgspec.convert(text, type_at(path), strict=False)


def _switch(_path: KeyPath, text: str) -> bool:
    if text.lower() in YES | NO:
        return text.lower() in YES
    raise msgspec.ValidationError("expected 1 or 0")


def _negated(path: KeyPath, text: str) -> bool:
    return not _switch(path, text)


def _effort(path: KeyPath, text: str) -> Any:
    return None if text in ("auto", "unset") else _word(path, text)


VARIABLES: dict[str, tuple[KeyPath, Callable[[KeyPath, str], Any]]] = {
    "CLEW_MODEL": (("model",), _word),
    "CLEW_FALLBACK_MODEL": (("fallbackModel",), _word),
    "CLEW_FAST_MODEL": (("fastModel",), _word),
    "CLEW_EFFORT": (("effort",), _effort),
    "CLEW_MAX_OUTPUT_TOKENS": (("maxOutputTokens",), _word),
    "CLEW_PERMISSION_MODE": (("permissionMode",), _word),
    "CLEW_SANDBOX": (("sandbox", "mode"), _word),
    "CLEW_MAX_TURNS": (("limits", "maxTurns"), _word),
    "CLEW_MAX_STEPS": (("limits", "maxSteps"), _word),
    "CLEW_MAX_BUDGET_USD": (("limits", "maxBudgetUsd"), _word),
    "CLEW_TOOL_BATCH_SUMMARIES": (("summaries", "toolBatches"), _word),
    "CLEW_RECAP": (("recap", "enabled"), _switch),
    "CLEW_NO_BACKGROUND_MODEL_CALLS": (("sideQueries", "enabled"), _negated),
    "CLEW_FOREIGN_SESSIONS": (("foreign", "enabled"), _switch),
    "CLEW_TOOL_SEARCH": (("toolSearch",), _word),
    "CLEW_MEMORY_FILES": (("memory", "enabled"), _switch),
    "CLEW_DEBUG_LOG": (("debugLog",), _switch),
}


def from_environment(env: Mapping[str, str]) -> tuple[dict[KeyPath, tuple[Any, str]], list[str]]:
    """KeyPath -> (value, variable) of what the environment sets, and warnings. An empty variable sets nothing."""
    found: dict[KeyPath, tuple[Any, str]] = {}
    warnings: list[str] = []
    for name, text in env.items():
        if not name.startswith("CLEW_") or not text.strip():
            continue
        if name not in VARIABLES:
            warnings.extend(_typo(name))
            continue
        path, read = VARIABLES[name]
        try:
            found[path] = (read(path, text.strip()), name)
        except msgspec.ValidationError as error:
            words = choices(type_at(path))
            wanted = f"use one of {', '.join(words)}" if words else plain(str(error))
            raise SettingsVariableError(f"environment variable {name}={text!r}: {wanted}, or unset it") from None
    return found, warnings


def _typo(name: str) -> list[str]:
    """Only a near miss is worth a word: other programs and other parts of clew have variables too."""
    close = min(VARIABLES, key=lambda known: edits(name, known))
    return [f"environment variable {name} is not known; did you mean {close}?"] if edits(name, close) <= 2 else []
