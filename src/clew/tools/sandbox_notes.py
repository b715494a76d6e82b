"""What a confined command is told about itself: files it could not read, names it could not make, and how to ask."""

import os
import re
from typing import TYPE_CHECKING

from clew.protocol.events import RuleOffer
from clew.system.sandbox.plan import Plan

if TYPE_CHECKING:
    from clew.system.process import Ended

HELD_BACK = re.compile(
    r"Read-only file system|Operation not permitted|Permission denied|Device or resource busy|[Cc]ould not resolve"
    r"|[Nn]etwork is unreachable|Temporary failure in name resolution|EACCES|EROFS|PermissionError"
)
HELD_BACK_HINT = "It ran in the sandbox (no network, writes only in the workspace); leave_sandbox asks the user."
SHUT_HINT = (
    "In the background only what exists at the top of the workspace can be written, and .git cannot: make new files and"
    " directories there first, in the foreground."
)
MAX_NAMED = 5


def notes(plan: Plan, ended: "Ended", output: str, secrets: list[str], root: str) -> list[str]:
    """Everything a confined command has to be told after it ended."""
    told = [HELD_BACK_HINT] if ended.code and HELD_BACK.search(output) else []
    if secrets:
        told.append(secret_note(secrets, root))
    if ended.refused:
        told.append(refused_note(ended, root))
    if ended.taken:
        told.append(taken_note(ended, root))
    return told


def needed_secrets(plan: Plan, command: str, output: str, *, failed: bool) -> list[str]:
    """Withheld files that the command seems to have needed: named in its text or output, or the likeliest ones when it
    failed without a word on why."""
    withheld = plan["withheld"]
    spoken = f"{command}\n{output[-200_000:]}"
    named = [path for path in withheld if mentions(spoken, os.path.basename(path))]
    if named or not failed:
        return named
    if HELD_BACK.search(output):
        return withheld
    return [path for path in withheld if os.path.basename(path).startswith(".env")]


def mentions(text: str, name: str) -> bool:
    """The name as a whole word of a path."""
    return name in text and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def secret_note(paths: list[str], root: str) -> str:
    """For the model."""
    names = [shown(path, root) for path in paths]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    words = ", ".join(names[:MAX_NAMED]) + more
    return f"Withheld from commands because they may hold secrets: {words}. The user can allow one for this project."


def secret_offers(paths: list[str], root: str) -> tuple[RuleOffer, ...]:
    """What would have to be saved so that commands may read these files. None for names a rule cannot spell."""
    return tuple(
        RuleOffer(rule=f"Read({name})", covers=name)
        for path in paths[:MAX_NAMED]
        if not re.search(r"[*?\[\]()\x00-\x1f]", name := shown(path, root))
    )


def taken_note(ended: "Ended", root: str) -> str:
    """For the model; the user sees it too."""
    names = [shown(path, root) + (f" (kept as {kept})" if kept else "") for path, kept in ended.taken[:MAX_NAMED]]
    more = f" and {len(ended.taken) - MAX_NAMED} more" if len(ended.taken) > MAX_NAMED else ""
    words = ", ".join(names) + more
    return f"These names can run programs or steer tools, so the sandbox took them away: {words}. Write asks for them."


def refused_note(ended: "Ended", root: str) -> str:
    """For the model."""
    names = [shown(path, root) for path in ended.refused[:MAX_NAMED]]
    more = f" and {len(ended.refused) - MAX_NAMED} more" if len(ended.refused) > MAX_NAMED else ""
    words = ", ".join(names) + more
    return f"These names can run programs or steer tools, so commands cannot make them: {words}. Write asks for them."


def shown(path: str, root: str) -> str:
    """Relative to the workspace when it lies there."""
    base = root.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else path


def could_not_confine(plan: Plan | None, ended: "Ended", output: str) -> bool:
    """Bubblewrap says itself when it cannot set up what it was told, and then no shell has told its directory."""
    if plan is None or plan["kind"] != "bwrap":
        return False
    return ended.code == 1 and not ended.cwd and output.startswith("bwrap: ")
