"""What calls about teams, mail and the list of work did: `Completed #3 Build`, `Wrote to ann`."""

from collections.abc import Sequence
from typing import NamedTuple

from clew.protocol.display import Block, TodoBlock, TodoItem
from clew.protocol.messages import ToolCallPart

VERBS = (
    *("Completed", "Claimed", "Gave", "Put back", "Removed", "Added", "Changed"),
    *("Made the team", "Ended the team", "Asked to stop", "Agreed to stop", "Wants to go on"),
    *("Accepted the plan of", "Refused the plan of", "Wrote to", "Looked at"),
)
"""In the order in which a line tells them."""


class TeamDeed(NamedTuple):
    """Verb, subject and what comes after it."""

    verb: str
    subject: str
    outcome: str = ""


def team_deed(call: ToolCallPart, display: Sequence[Block]) -> TeamDeed | None:
    """What a call did that went well; None: it is about something else, or does not say enough."""
    given = {name: value.strip() for name, value in call.arguments.items() if isinstance(value, str)}
    items = next((block.items for block in display if isinstance(block, TodoBlock)), ())
    name, reason = given.get("name", ""), given.get("reason", "")
    match call.name:
        case "TaskCreate" if given.get("subject"):
            return TeamDeed("Added", _created(given["subject"], items))
        case "TaskUpdate" if number := _number(given):
            return _updated(number, given, items)
        case "TaskList":
            return TeamDeed("Looked at", "the work list")
        case "TaskGet" if number := _number(given):
            return TeamDeed("Looked at", f"#{number}")
        case "TeamCreate" if given.get("team_name"):
            return TeamDeed("Made the team", given["team_name"])
        case "TeamDelete":
            return TeamDeed("Ended the team", "")
        case "TeamShutdown" if name:
            return TeamDeed("Asked to stop", name, f": {reason}" if reason else "")
        case "ShutdownReply":
            agreed = call.arguments.get("approve") is True
            return TeamDeed("Agreed to stop", "") if agreed else TeamDeed("Wants to go on", "", f": {reason}")
        case "PlanReply" if name:
            accepted = call.arguments.get("approve") is True
            return TeamDeed("Accepted the plan of" if accepted else "Refused the plan of", name)
        case "SendMessage" if given.get("to"):
            words = given.get("summary") or next(iter(given.get("message", "").splitlines()), "")
            to = "everybody" if given["to"] == "*" else given["to"]
            return TeamDeed("Wrote to", to, f": {words}" if words else "")
        case _:
            return None


def _number(given: dict[str, str]) -> str:
    return given.get("taskId", given.get("task_id", "")).removeprefix("#")


def _created(subject: str, items: Sequence[TodoItem]) -> str:
    words = " ".join(subject.split())
    number = max((item.number for item in items if item.content == words), default=0)
    return f"#{number} {words}" if number else words


def _updated(number: str, given: dict[str, str], items: Sequence[TodoItem]) -> TeamDeed:
    subject = next((item.content for item in items if str(item.number) == number), "")
    named = f"#{number} {subject}".strip()
    owner = given.get("owner")
    match given.get("status"):
        case "completed":
            return TeamDeed("Completed", named)
        case "deleted":
            return TeamDeed("Removed", named)
        case "in_progress" if not owner:
            return TeamDeed("Claimed", named)
        case "pending" if not owner:
            return TeamDeed("Put back", named)
        case _:
            pass
    if owner:
        return TeamDeed("Gave", f"{named} to {owner}")
    return TeamDeed("Put back" if owner == "" else "Changed", named)
