"""What the model is told of skills: a bounded list in the prompt, what changed since, and what a search finds."""

import re
from collections.abc import Iterable, Sequence

from clew.skills.definitions import SkillDefinition
from clew.tools import extras

HEADING = "# Skills"
INTRODUCTION = (
    "Instructions for particular tasks. When one fits what you are asked, read it with the Skill tool before you begin."
)
NONE = "None of them is for you in this session."
MAX_WORDS_BYTES = 1_500
MAX_LINE_CHARS = 220
MAX_FOUND = 5
MAX_BY_FILE = 5
"""So many are told with their files: as a whole no longer than the list."""
MAX_ANNOUNCED, KEPT_ANNOUNCED = 500, 400
_ITEM = re.compile(r"^- ([^:\s]+(?::[^:\s]+)*):(?: |$)", re.MULTILINE)
_MORE = "and {} more: call Skill with a search"


def usable(definitions: Iterable[SkillDefinition]) -> dict[str, SkillDefinition]:
    """Those the model may use, by name; of two with one name the first counts."""
    found: dict[str, SkillDefinition] = {}
    for definition in definitions:
        if definition.for_model:
            found.setdefault(definition.name, definition)
    return found


def block(definitions: Sequence[SkillDefinition]) -> str:
    """The words of the system prompt: names and descriptions, within a bound."""
    if not definitions:
        return f"{HEADING}\n{NONE}"
    lines = [HEADING, INTRODUCTION]
    left = MAX_WORDS_BYTES - sum(len(line.encode()) + 1 for line in lines) - len(_MORE.format(1000))
    for at, definition in enumerate(definitions):
        line = told(definition)
        left -= len(line.encode()) + 1
        if left < 0:
            lines.append(_MORE.format(len(definitions) - at))
            break
        lines.append(line)
    return "\n".join(lines)


def told(definition: SkillDefinition, *, limit: int = MAX_LINE_CHARS) -> str:
    """One line."""
    words = " ".join(word for word in (definition.description, definition.when_to_use) if word)
    line = f"- {definition.name}: {words}".rstrip()
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def names_in(words: str) -> tuple[str, ...]:
    """The names that such a list tells."""
    return tuple(_ITEM.findall(words))


class Announced:
    """What the model was told of, so that only what is new to it is told again. Bounded: the oldest are forgotten."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = dict.fromkeys(names, "")

    def add(self, definitions: Iterable[SkillDefinition]) -> None:
        """These were told."""
        for definition in definitions:
            self._names.pop(definition.name, None)
            self._names[definition.name] = definition.description
        if len(self._names) > MAX_ANNOUNCED:
            self._names = dict(list(self._names.items())[-KEPT_ANNOUNCED:])

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def gone(self, present: Iterable[str]) -> list[str]:
        """What was told and is no longer there; it is forgotten."""
        here = set(present)
        gone = [name for name in self._names if name not in here]
        for name in gone:
            del self._names[name]
        return gone


def delta(added: Sequence[SkillDefinition], gone: Sequence[str], *, by_file: bool = False) -> str:
    """What changed, in words for the model, as bounded as the list is. `by_file`: there is no tool to read one with."""
    lines: list[str] = []
    if added and by_file:
        lines += ["[There are new skills. When one fits what you are asked, read its file before you begin:"]
        lines += [f"{told(one)} ({one.path})" for one in added[:MAX_BY_FILE]]
        lines += [f"and {len(added) - MAX_BY_FILE} more beside them"] if len(added) > MAX_BY_FILE else []
        lines[-1] += "]"
    elif added:
        lines += ["[There are new skills:", *block(added).split("\n")[2:]]
        lines[-1] += "]"
    if gone:
        names = ", ".join(gone[:20]) + (f" and {len(gone) - 20} more" if len(gone) > 20 else "")
        lines.append(f"[These skills are no longer there: {names}]")
    return "\n".join(lines)


def search(query: str, definitions: Sequence[SkillDefinition], *, limit: int = MAX_FOUND) -> list[SkillDefinition]:
    """Those that fit best: the name counts three times, when to use it twice, the description once."""
    ranked = extras.ranking()
    ranking = ranked.Ranking(
        [
            ranked.Document(name=one.name, fields=((one.name, 3.0), (one.when_to_use, 2.0), (one.description, 1.0)))
            for one in definitions
        ]
    )
    by_name = {one.name: one for one in definitions}
    return [by_name[hit.name] for hit in ranking.search(query, limit=limit)]
