"""clew's own files: what no tool may read or change, whatever the mode (P9)."""

import os
from typing import Literal

from clew.text.guarded_names import components, word_set

OwnState = Literal["", "sealed", "record", "content", "root"]

# Things a person keeps in the home directory and may want edited: writing them asks, as any place outside does.
_CONTENT = word_set(
    """skills commands agents plugins output-styles themes memory workflows cache prompts agents.md claude.md
    clew.md"""
)
_RECORDS = word_set("""projects teams tasks workflow-runs sessions tool-results debug exports history.jsonl index.db""")


def own_state(path: str, clew_home: str) -> OwnState:
    """What a resolved path is to clew.

    `sealed`: settings, trust, vault, keys, sockets and everything not named here; `record`: transcripts, mail, tasks;
    `content`: skills and the like; `root`: the home directory itself.
    """
    inside, home = components(path), components(clew_home)
    if inside[: len(home)] != home:
        return ""
    rest = inside[len(home) :]
    if not rest:
        return "root"
    if rest[0] == "projects" and rest[2:] == ["mcp.json"]:
        return "sealed"  # servers that a person keeps for one project, with the tokens they were given
    if rest[0] in _CONTENT:
        return "content"
    return "record" if rest[0] in _RECORDS else "sealed"


def sealed_inodes(clew_home: str) -> set[tuple[int, int]]:
    """Device and inode of the sealed files, to recognise them behind a hard link."""
    found: set[tuple[int, int]] = set()
    for folder in (clew_home, os.path.join(clew_home, "vault")):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        info = entry.stat(follow_symlinks=False)
                        found.add((info.st_dev, info.st_ino))
        except OSError:
            continue
    return found


def private_inodes(home: str) -> set[tuple[int, int]]:
    """Device and inode of credentials in the usual places of the home directory."""
    found: set[tuple[int, int]] = set()
    for place in (
        ".ssh",
        ".aws",
        ".gnupg",
        ".netrc",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".bashrc",
        ".profile",
        ".zshrc",
    ):
        path = os.path.join(home, place)
        try:
            names = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
            infos = [os.lstat(name) for name in names]
        except OSError:
            continue
        found.update((info.st_dev, info.st_ino) for info in infos)
    return found
