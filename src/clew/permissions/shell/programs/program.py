"""One row per program: everything the judge knows about it (P3, P4). A program without a row asks.

`audit` says what the program reads from the project, its parents and its own settings that could name code, and why
that is safe or asks. The rest of the row is that sentence as data: the judge proves nothing that a row does not say.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from clew.permissions.shell.programs.spec import Operands, Parsed, Spec

Shows = Literal["", "words", "names", "content"]
"""What a reading program shows: only the words it was given, names and sizes of files, or what is in them."""

Writes = Literal["each", "make", "remove", "after first", "copy", "move", "link", "script files", "of="]
"""Which operands are changed: each (`make`: nothing that is there is lost; `remove`: they are gone afterwards); all but
the first; the last (`copy` reads the others, `move` removes them)."""

LossKind = Literal["trees", "history", "files"]
"""What is lost: whole directories or whatever is found; what git keeps nowhere else; the content of files that the
operands name."""


_NONE: Mapping[str, Spec] = MappingProxyType({})


class Wrapper(NamedTuple):
    """A program that runs the command behind its own words."""

    valued: frozenset[str] = frozenset()
    """Flags that take a value."""
    operands: int = 0
    """Operands of its own before the inner command."""
    assigns: bool = False
    """Assignments may precede the inner command."""
    proven: frozenset[str] | None = None
    """Flags with which it adds no right and no effect of its own; None: never proven."""
    chdir: frozenset[str] = frozenset()
    """Flags that name the directory in which the inner command runs."""


class Loss(NamedTuple):
    """A use that destroys what is there."""

    kind: LossKind
    why: str
    words: frozenset[str] = frozenset()
    """One of these must be among the words, also in a cluster of short flags or as the start of a long one; empty: any
    use."""
    unless: frozenset[str] = frozenset()
    """With one of these nothing is lost."""
    starts: tuple[str, ...] = ()
    """An operand that starts like this counts as well."""


Effect = Literal["deletes", "moves", "remodes", "overwrites"]
"""What happens to a place: it is gone, it is elsewhere, it has other modes or owners, it holds something else."""

ReachedWords = Literal["operands", "sources", "target", "second", "after first", "of=", "here", "last", "values"]
"""Which words name the places: all operands, all but the last, the last, the second, all but the first, the value of
`of=`, the operands or (without any) the directory it runs in, the last operand, or only the values of flags."""


class Reach(NamedTuple):
    """What one use of a program does to the places that its words name."""

    effect: Effect
    on: ReachedWords = "operands"
    needs: frozenset[str] = frozenset()
    """One of these must be among the flags or words; empty: any use."""
    unless: frozenset[str] = frozenset()
    """With one of these nothing happens."""
    only: frozenset[str] = frozenset()
    """Nothing happens where there are flags and all of them are among these."""
    deep: frozenset[str] = frozenset()
    """With one of these it reaches everything below a place; `*`: always."""
    values: frozenset[str] = frozenset()
    """Flags whose values are such places, too."""


_NO_REACH: Mapping[str, tuple[Reach, ...]] = MappingProxyType({})
_NO_LOSS: Mapping[str, tuple[Loss, ...]] = MappingProxyType({})


class Program(NamedTuple):
    """What is known about one program. A field that is empty means: nothing, so it asks."""

    audit: str
    reads: Spec | None = None
    """The use that only reads."""
    version: tuple[str, ...] = ()
    """Single words after which it prints and ends."""
    subcommands: Mapping[str, Spec] = _NONE
    """Uses that only read, by their first word."""
    code_files: tuple[str, ...] = ()
    """Kinds of project files that can name code for it (code_files.py)."""
    hosted: bool = False
    """An interpreter runs it, so whatever lies on that interpreter's path runs with it (hosts.py)."""
    shows: Shows = ""
    walks: tuple[str, ...] = ()
    """Flags that make it read a whole tree; `*`: a directory is always read, to its end or its first level."""
    follows: tuple[str, ...] = ()
    """Flags that make it follow the links in a tree; `*`: always."""
    stays: tuple[str, ...] = ()
    """Flags that keep it from following them."""
    any_file: bool = False
    """Shows no more of a file than `grep -r` would, so it may get names that are not in the command."""
    changes: Spec | None = None
    """The use that changes files, with the flags that are known not to reach further."""
    writes: Writes | None = None
    plain_edit: bool = False
    """Its changes are the kind that acceptEdits covers."""
    wraps: Wrapper | None = None
    shell_texts: tuple[str, ...] = ()
    """Flags whose value is run as a shell command; `*`: all its words are; `+`: also each word by itself, and what
    follows it."""
    tail: Spec | None = None
    """What may follow a rule's own words, for programs that neither only read nor only change the files they name."""
    tails: Mapping[str, Spec] = _NONE
    """The same by subcommand."""
    runs_project: bool = False
    """Runs the project's own code: a rule for it grants that, and nothing in its words can grant more."""
    offers: tuple[str, ...] = ()
    """What "always" offers beside the exact words: `*` the program with any words, `sub *` a subcommand, `sub ? *` one
    with its next word."""
    reaches: tuple[Reach, ...] = ()
    """What it does to places beyond what `writes` tells (reach.py)."""
    sub_reaches: Mapping[str, tuple[Reach, ...]] = _NO_REACH
    """The same by subcommand."""
    raw: bool = False
    """Made to overwrite disks: where it cannot be seen which one, a person is asked in every mode."""
    folder_flags: tuple[str, ...] = ()
    """Flags that name the directory in which it works."""
    loses: tuple[Loss, ...] = ()
    """Uses that destroy more than the files its words name, or need a person's word for other reasons (losses.py)."""
    sub_loses: Mapping[str, tuple[Loss, ...]] = _NO_LOSS
    """The same by subcommand."""
    feeds: bool = False
    """Runs a command with names that stand nowhere in the text."""


def loss(kind: LossKind, why: str, words: str = "", *, unless: str = "", starts: tuple[str, ...] = ()) -> Loss:
    """A row of losses; words as plain text."""
    return Loss(kind, why, frozenset(words.split()), frozenset(unless.split()), starts)


def reach(
    effect: Effect,
    on: ReachedWords = "operands",
    *,
    needs: str = "",
    unless: str = "",
    only: str = "",
    deep: str = "",
    values: str = "",
) -> Reach:
    """A row of reaches; flags as plain words."""
    sets = (frozenset(text.split()) for text in (needs, unless, only, deep, values))
    return Reach(effect, on, *sets)


def wrapper(
    valued: str = "", operands: int = 0, *, assigns: bool = False, proven: str | None = None, chdir: str = ""
) -> Wrapper:
    """A wrapper's row; flags as plain words."""
    allowed = None if proven is None else frozenset(proven.split())
    return Wrapper(frozenset(valued.split()), operands, assigns, allowed, frozenset(chdir.split()))


NO_SETTINGS = "Reads its operands or standard input. No settings file, no plug-in, no other program."


def reader(
    flags: str,
    operands: Operands = "paths",
    check: Callable[[Parsed], str] | None = None,
    *,
    audit: str = NO_SETTINGS,
    shows: Shows = "content",
    any_file: bool = False,
    needs_operand: bool = False,
    flags_first: bool = False,
    version: tuple[str, ...] = (),
    walks: str = "",
    follows: str = "",
    stays: str = "",
) -> Program:
    """A program that only reads, with the flags for which that is known."""
    spec = Spec(flags, operands, check, needs_operand=needs_operand, flags_first=flags_first)
    return Program(
        audit=audit,
        reads=spec,
        shows=shows,
        any_file=any_file,
        version=version,
        walks=tuple(walks.split()),
        follows=tuple(follows.split()),
        stays=tuple(stays.split()),
    )
