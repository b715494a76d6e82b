"""The rows of all programs, and the few questions that are asked about many of them at once."""

from clew.permissions.shell.programs.program import Program
from clew.permissions.shell.programs.tables import (
    changers,
    desk,
    dev,
    disks,
    everyday,
    files,
    git,
    machine,
    objects,
    search,
    system,
    text,
    wrappers,
)

PROGRAMS: dict[str, Program] = {
    **desk.PROGRAMS,
    **files.PROGRAMS,
    **text.PROGRAMS,
    **search.PROGRAMS,
    **system.PROGRAMS,
    **objects.PROGRAMS,
    **machine.PROGRAMS,
    **changers.PROGRAMS,
    **disks.PROGRAMS,
    **dev.PROGRAMS,
    **everyday.PROGRAMS,
    **git.PROGRAMS,
    **wrappers.PROGRAMS,
}
# Programs that come in one per kind of file system.
_FAMILIES = {"mkfs.": PROGRAMS["mkfs"], "newfs_": PROGRAMS["newfs"], "partclone.": PROGRAMS["partclone"]}
UNKNOWN = Program(audit="")
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "rbash", "tcsh", "csh", "busybox-sh"})


def program(name: str) -> Program:
    """The row of a program; an empty one where there is none."""
    row = PROGRAMS.get(name)
    if row is not None:
        return row
    family = next((row for start, row in _FAMILIES.items() if name.startswith(start)), None)
    return family or UNKNOWN


def base_name(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def after_git_options(words: list[str]) -> list[str]:
    """The words from the subcommand on."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in git.GLOBAL_VALUED else 1
    return words[at:]
