"""The memory of one kind of agent: a folder of notes that it keeps over its runs, and the index that it is told."""

import os
from pathlib import Path

from msgspec import Struct

from clew.agents.permits import ToolPlace
from clew.permissions.access import Access, FileAccess
from clew.permissions.conditions import Policy, target_of
from clew.permissions.paths import beneath
from clew.permissions.rules import matches_path
from clew.prompts.memory import MemoryFileError, read_memory_file
from clew.transcript.log.store import SessionStore

FOLDER = "agent-memory"
INDEX = "MEMORY.md"
MAX_LINES = 200
MAX_CHARS = 16_000
TOOLS = ("Read", "Write", "Edit")
_RULED = {"read": ("Read", "*"), "write": ("Edit", "Write", "*")}


class OwnMemory(Struct, frozen=True, kw_only=True):
    """Where an agent keeps its notes. Its own file tools write there without asking, and nobody else's do."""

    folder: str
    within: str = ""
    """The project that no link may lead out of; empty: the folder is in the user's home."""
    only: bool = False
    """It has Write and Edit for these notes alone."""

    def left(self, accesses: tuple[Access, ...], policy: Policy, *, planning: bool) -> tuple[tuple[Access, ...], str]:
        """The accesses that rights are asked about, without those to its notes; and why one of them is refused. Deny
        and ask rules of the user count for its notes too, and while it plans it writes none."""
        rest = tuple(access for access in accesses if not self._is_kept(access, policy, planning=planning))
        writes = any(isinstance(access, FileAccess) and access.op != "read" for access in rest)
        return rest, f"this kind of agent writes in {self.folder} only" if self.only and writes else ""

    def _is_kept(self, access: Access, policy: Policy, *, planning: bool) -> bool:
        if not isinstance(access, FileAccess) or access.op not in _RULED or (planning and access.op != "read"):
            return False
        target, folder = target_of(access), os.path.realpath(self.folder)
        if not beneath(target, folder) or (self.within and not beneath(folder, os.path.realpath(self.within))):
            return False
        places = policy.places
        root = places.roots[0] if places.roots else ""
        held = (rule for rule in policy.rules if rule.effect != "allow" and rule.tool in _RULED[access.op])
        return not any(matches_path(rule, target, root, places.home) for rule in held)

    def words(self) -> str:
        """What the agent is told of it, with the index as it is now."""
        told = (
            f"# Your notes\nYou keep notes over your runs in {self.folder}: Read, Write and Edit there need no "
            f"approval. {INDEX} is the index, and you are told its first {MAX_LINES} lines: one line per thing worth "
            "knowing next time, longer texts in files beside it. Correct what is wrong, and keep no secrets."
        )
        try:
            found = read_memory_file(Path(self.folder, INDEX), within=Path(self.within) if self.within else None)
        except MemoryFileError as error:
            return f"{told}\n\n[{INDEX} {error}, so it is not read.]"
        if found is None or not found.text:
            return f"{told}\n\n[{INDEX} is not there yet.]"
        lines = found.text.split("\n")
        text = "\n".join(lines[:MAX_LINES])[:MAX_CHARS]
        cut = "\n[cut: read the rest of it there]" if text != found.text else ""
        return f"{told}\n\n<notes>\n{text}{cut}\n</notes>"


def own_memory(name: str, scope: str, place: ToolPlace, *, only: bool) -> OwnMemory:
    """The folder of a kind: in the user's home for all projects, in the user's home for this one, or in the project."""
    if scope == "user":
        return OwnMemory(folder=str(place.home / FOLDER / name), only=only)
    if scope == "local":
        return OwnMemory(folder=str(SessionStore(place.home).project_dir(place.root) / FOLDER / name), only=only)
    return OwnMemory(folder=str(place.root / ".clew" / FOLDER / name), within=str(place.root), only=only)
