"""What happened to the list of work between two states of it, in a few words."""

from collections.abc import Sequence

from clew.protocol.display import TodoItem

MAX_NAMED = 2


def change_words(before: Sequence[TodoItem], after: Sequence[TodoItem]) -> str:
    """What was done, by verb: `completed #3 Build; added #4 Test`; empty where nothing is told."""
    old = {item.number: item for item in before if item.number}
    new = {item.number: item for item in after if item.number}
    done: dict[str, list[str]] = {}
    for number, item in new.items():
        if verb := _verb(old.get(number), item):
            done.setdefault(verb, []).append(f"#{number} {item.content}")
    gone = [f"#{number} {item.content}" for number, item in old.items() if number not in new]
    if gone:
        done["removed"] = gone
    return "; ".join(f"{verb} {_some(named)}" for verb, named in done.items())


def _verb(before: TodoItem | None, item: TodoItem) -> str:
    if before is None:
        return "added"
    if before.status != item.status:
        return {"completed": "completed", "in_progress": "claimed"}.get(item.status, "put back")
    if before.owner != item.owner:
        return f"gave to {item.owner}:" if item.owner else "put back"
    return "changed" if before.content != item.content else ""


def _some(named: list[str]) -> str:
    more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    return ", ".join(named[:MAX_NAMED]) + more
