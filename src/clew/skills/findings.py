"""The check of `clew doctor` that looks at skills and custom commands: how many there are, and which are not used."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from clew.config.skill_places import around, folders, untrusted_folders
from clew.skills.finding import Finder

MAX_DETAILS = 20
ALL = frozenset({"user", "project"})


class SkillFindings(Struct, frozen=True, kw_only=True):
    """What there is to tell."""

    summary: str
    broken: bool
    details: tuple[str, ...]
    counts: dict[str, int]


def skill_findings(env: Mapping[str, str], *, home: Path, root: Path | None, trusted: bool) -> SkillFindings:
    """Reads what a session here would read; runs nothing."""
    place = around(
        env, home=home, root=root or home, cwd=root or home, sources=ALL, trusted=trusted and root is not None
    )
    found = Finder().look(tuple(folders(place)))
    counts = {kind: sum(one.kind == kind for one in found.definitions) for kind in ("skill", "command")}
    details = [*found.problems[:MAX_DETAILS]]
    if len(found.problems) > MAX_DETAILS:
        details.append(f"and {len(found.problems) - MAX_DETAILS} more")
    details += [f"{one.path}: {note}" for one in found.definitions for note in one.notes][:MAX_DETAILS]
    if root is not None and not trusted:
        details += [f"{path} is not read: the directory is not trusted" for path in untrusted_folders(place)]
    words = f"{_count(counts['skill'], 'skill')} and {_count(counts['command'], 'command')} of yours"
    if found.problems:
        words += f", {_count(len(found.problems), 'file')} not used"
    return SkillFindings(summary=words, broken=bool(found.problems), details=tuple(details), counts=counts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
