"""What a file inside a project may say: it can only narrow (T2). Everything else is refused by name."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from clew.config.errors import printable
from clew.config.text import Raw
from clew.config.walk import KeyPath, as_object, dotted

SANDBOX_STRICTNESS = {"off": 0, "auto": 1, "required": 2}
BATCH_STRICTNESS = {"model": 0, "facts": 1, "off": 1}


class Refusal(Struct, frozen=True, kw_only=True):
    """A value of a project file that was not applied."""

    file: str
    key: str
    why: str

    def __str__(self) -> str:
        return printable(f'{self.file}: "{self.key}" ignored: {self.why}')


def _any(_new: Any, _old: Any) -> bool:
    return True


def _lower(new: Any, old: Any) -> bool:
    return new is not None and (old is None or new <= old)


def _only(value: object) -> Callable[[Any, Any], bool]:
    return lambda new, old: new == value


# How each key that a project may set compares with the value in force without it.
NARROWING: dict[KeyPath, Callable[[Any, Any], bool]] = {
    ("permissions", "deny"): _any,
    ("permissions", "ask"): _any,
    ("limits", "maxTurns"): _lower,
    ("limits", "maxSteps"): _lower,
    ("limits", "maxBudgetUsd"): _lower,
    ("limits", "maxTokens"): _lower,
    ("limits", "maxMinutes"): _lower,
    ("sandbox", "mode"): lambda new, old: SANDBOX_STRICTNESS[new] >= SANDBOX_STRICTNESS[old],
    ("sandbox", "network"): _only(False),
    ("sideQueries", "enabled"): _only(False),
    ("sideQueries", "dailyCapUsd"): _lower,
    ("compaction", "snapshot"): _only(False),
    ("recap", "model"): _only("off"),
    ("recap", "shareWithModel"): _only(False),
    ("titles", "model"): _only("off"),
    ("memory", "auto"): _only("off"),
    ("lsp", "mode"): _only("off"),
    ("agents", "builtin"): _only(False),
    ("agents", "maxDepth"): _lower,
    ("agents", "maxConcurrent"): _lower,
    ("agents", "wakeParent"): _only(False),
    ("agents", "resultBytes"): _lower,
    ("teams", "enabled"): _only(False),
    ("teams", "leadApprovesPlans"): _only(False),
    ("summaries", "toolBatches"): lambda new, old: BATCH_STRICTNESS[new] >= BATCH_STRICTNESS[old],
}


# Keys of a project file that never join the settings in force: `hooks/` reads them itself, and asks.
ASIDE = frozenset({"hooks", "disableAllHooks"})


def may_stand_in_project(path: KeyPath) -> bool:
    """Could any value of this key be accepted from a project file?"""
    return path in NARROWING or path[0] in ASIDE


def narrow(raw: Raw, in_force: Callable[[KeyPath], Any], file: str) -> tuple[Raw, list[Refusal]]:
    """The part of a checked project file that narrows, and what was refused."""
    kept: Raw = {}
    refused: list[Refusal] = []
    for path, value in _pairs(raw):
        compare = NARROWING.get(path)
        if compare is None:
            why = "a project file may only narrow; set it in your user settings"
        elif not compare(value, in_force(path)):
            why = f"{_json(value)} would widen what is in force ({_json(in_force(path))})"
        else:
            kept.setdefault(path[0], {})[path[-1]] = value
            continue
        refused.append(Refusal(file=file, key=dotted(path), why=why))
    return kept, refused


def _pairs(raw: Raw) -> Iterator[tuple[KeyPath, Any]]:
    """The values of a file, one section deep: no key that may narrow lies deeper."""
    for name, value in raw.items():
        section = as_object(value)
        if name in ASIDE:
            continue
        if section is None:
            yield (name,), value
        else:
            yield from (((name, key), inner) for key, inner in section.items())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
