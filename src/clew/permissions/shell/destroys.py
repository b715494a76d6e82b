"""What loses work: recursive deletion, and history that git would drop. Asks first, also where a sandbox holds it."""

from clew.permissions.shell.scan import Effective, Scan
from clew.permissions.shell.table import after_git_options
from clew.permissions.word_set import word_set

_DROPS_HISTORY: dict[str, frozenset[str]] = {
    "reset": word_set("--hard --merge --keep"),
    "checkout": word_set("-f --force"),
    "switch": word_set("-f --force --discard-changes"),
    "branch": word_set("-D"),
    "worktree": word_set("--force -f"),
    "update-ref": word_set("-d"),
    "gc": word_set("--prune=now --prune=all"),
}
_DROPS_BY_WORD: dict[str, frozenset[str]] = {
    "stash": word_set("drop clear"),
    "reflog": word_set("expire delete drop"),
}
_REWRITES = word_set("filter-branch filter-repo prune")


def deletes_trees(scan: Scan) -> str:
    """Why whole directories or untracked files would be gone, or an empty string."""
    for found in scan.effective:
        flags = _flags(found)
        if found.name == "rm" and any("r" in flag or "R" in flag or "--recursive".startswith(flag) for flag in flags):
            return "this deletes whole directories"
        if found.name in ("find", "fd", "fdfind"):
            texts = [value.text for value in found.argv]
            if "-delete" in texts or any(text in ("rm", "/bin/rm", "unlink", "shred") for text in texts):
                return "this deletes whatever it finds"
        if found.name == "xargs" and any(value.text.rsplit("/", 1)[-1] == "rm" for value in found.argv):
            return "this deletes whatever it is given"
        if _git(found)[:1] == ["clean"] and not {"-n", "--dry-run"} & {*_git(found)}:
            return "this deletes files that git does not keep"
    return ""


def drops_history(scan: Scan) -> str:
    """Why git would lose commits, branches, stashes or uncommitted changes, or an empty string."""
    for found in scan.effective:
        words = _git(found)
        if not words:
            continue
        command, rest = words[0], {*words[1:]}
        if (
            rest & _DROPS_HISTORY.get(command, frozenset())
            or rest & _DROPS_BY_WORD.get(command, frozenset())
            or command in _REWRITES
            or (command == "branch" and {"--delete", "--force"} <= rest)
        ):
            return f"git {command} would drop what git keeps nowhere else"
    return ""


def _git(found: Effective) -> list[str]:
    return after_git_options([value.text for value in found.argv[1:]]) if found.name == "git" else []


def _flags(found: Effective) -> list[str]:
    """Short clusters, and long flags that could be `--recursive`."""
    texts = [value.text for value in found.argv[1:] if value.text.startswith("-")]
    return [text for text in texts if not text.startswith("--") or (len(text) > 3 and "--recursive".startswith(text))]
