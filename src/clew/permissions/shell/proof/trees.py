"""Readers of whole trees: `grep -r`, `rg`, `diff -r`, `git grep` show files whose names stand nowhere in the command.

Where a file with a secret's name lies in the tree, the use is not proven. A sandbox withholds it, so there nobody is
asked.
"""

import os
from collections.abc import Callable
from pathlib import Path

from clew.permissions.files import Places, judge_place
from clew.permissions.paths import real
from clew.permissions.shell.programs.find import read_find
from clew.permissions.shell.programs.pathspec import pathspec
from clew.permissions.shell.programs.spec import Parsed, parse
from clew.permissions.shell.programs.table import after_git_options, program
from clew.permissions.shell.reading.glob import GLOB, bash_match, expanded
from clew.permissions.shell.reading.words import Word
from clew.system.git.index import IndexUnclear, index_names
from clew.system.git.layout import find_repository
from clew.system.sandbox.tree import NOT_SEARCHED
from clew.text.guarded_names import secret_name, word_set

_MAX_ENTRIES = 20_000
_GREPS = word_set("grep egrep fgrep")
_NAMES_ONLY = word_set(
    "-l -L -c -q --files-with-matches --files-without-match --count --quiet --silent --files --brief"
)
# Types of rg whose files are source by their ending, so none of them has a secret's name.
_SOURCE_TYPES = word_set(
    """c cpp cs css dart elixir go h haskell html java js julia kotlin less lua make markdown md perl php py python
    rb rst
    ruby rust sass scala sql svelte swift tex ts typescript vue"""
)

_GIT_SHOWS = word_set("diff show log whatchanged diff-tree diff-index diff-files blame annotate grep cat-file stash")

Wanted = Callable[[str], bool]


def refuse_tree(words: list[Word], cwd: str, places: Places, *, piped: bool) -> str:
    """Why a proven reader would show a secret that it was not given by name, or follow a link out; or nothing."""
    name = words[0].text
    if name == "git":
        return _refuse_git_grep(words, cwd, places) or _refuse_git_patterns(words, cwd, places)
    row = program(name)
    if name == "find":
        follows = any(word.text == "-L" for word in words)
        return refuse_secrets(_find_starts(words, cwd), cwd, places, _nothing, follow=True) if follows else ""
    if row.reads is None or not row.follows:
        return ""
    parsed = parse(row.reads, words[1:])
    given = parsed.flags.keys()
    names_only = given & _NAMES_ONLY and not (name == "diff" and "--brief" not in given and "-q" not in given)
    names_only = names_only and "--json" not in given
    follow = ("*" in row.follows or bool(given & {*row.follows})) and not given & {*row.stays}
    shows = row.shows == "content" and not names_only
    if not shows and not follow:
        return ""
    recurses = [*parsed.flags.get("-d", ()), *parsed.flags.get("--directories", ())] if name in _GREPS else []
    deep = "*" in row.walks or bool(given & {*row.walks}) or "recurse" in recurses
    if not deep and name in _GREPS:
        return ""
    folders = [path for word in parsed.paths for path in _places(word, cwd) if os.path.isdir(path)]
    # Of all of these only rg reads its input rather than the directory when it gets some.
    if not folders and (len(parsed.operands) > 1 or (piped and name == "rg") or name == "diff"):
        return ""
    wanted = _rg_filter(parsed) if name == "rg" else _filter(parsed, "--include", ("--exclude", "-x"))
    skipped = parsed.flags.get("--exclude-dir", [])
    return refuse_secrets(
        folders or [cwd], cwd, places, wanted if shows else _nothing, skipped, follow=follow, deep=deep
    )


def _places(word: Word, cwd: str) -> list[str]:
    return expanded(word.text, cwd, limit=_MAX_ENTRIES) if word.globs else [os.path.join(cwd, word.text)]


def _nothing(_: str) -> bool:
    """No content is shown, so no name makes a difference."""
    return False


def _find_starts(words: list[Word], cwd: str) -> list[str]:
    paths, _ = read_find(words[1:])
    return [place for word in paths for place in _places(word, cwd)] or [cwd]


def refuse_secrets(
    folders: list[str],
    cwd: str,
    places: Places,
    wanted: Wanted = bool,
    skipped: list[str] | None = None,
    *,
    follow: bool = False,
    deep: bool = True,
) -> str:
    """The first secret below these directories, not among installed packages; or that there is too much to look at.

    `follow`: links are followed, so none may lead out of the workspace or to a secret. `deep`: not only the first
    level is read."""
    waiting, seen = [*dict.fromkeys(folders)], 0
    entered = set(waiting)
    while waiting and seen < _MAX_ENTRIES:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        seen += len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inside = follow or (entry.name != ".git" and entry.name not in NOT_SEARCHED)
                if deep and inside and not any(bash_match(entry.name, pattern) for pattern in skipped or ()):
                    waiting.append(entry.path)
            elif follow and entry.is_symlink():
                target = real(entry.path)
                if why := _refuse_link(entry, target, cwd, places, wanted):
                    return why
                if deep and target not in entered and os.path.isdir(target):
                    entered.add(target)
                    waiting.append(target)
            elif secret_name(entry.path) and wanted(entry.name) and (why := _refuse_one(entry.path, cwd, places)):
                return why
    if not waiting or (wanted is _nothing and not follow):
        return ""
    return f"there are too many files here to look for {'links that lead out' if follow else 'secrets'}"


def _refuse_link(entry: "os.DirEntry[str]", target: str, cwd: str, places: Places, wanted: Wanted) -> str:
    if not places.inside(target):
        return f"{os.path.relpath(entry.path, cwd)[:80]} is a link that leads out of the workspace, and it is followed"
    named = secret_name(entry.name) or secret_name(os.path.basename(target))
    return _refuse_one(target, cwd, places) if named and wanted(entry.name) else ""


def refuse_index(cwd: str, places: Places, patterns: list[str] | None = None) -> str:
    """The first secret among the files that git has; with `patterns`, among those that these pathspecs take."""
    repository = find_repository(Path(cwd))
    if repository is None:
        return ""
    try:
        names = index_names(repository)
    except IndexUnclear as problem:
        return f"{problem}, and a secret may be in it"
    prefix = os.path.relpath(real(cwd), repository.root)
    for name in names:
        if not secret_name(name) or (patterns is not None and not _takes(patterns, name, prefix)):
            continue
        if why := _refuse_one(str(repository.root / name), cwd, places):
            return why
    return ""


def _takes(patterns: list[str], name: str, prefix: str) -> bool:
    """Whether one of these pathspecs takes a file of the index, as a pattern or as a directory above it."""
    inside = name if prefix == "." else name.removeprefix(f"{prefix}/")
    for text in patterns:
        pattern = pathspec(text).removeprefix("./").rstrip("/").lower()
        for one in (name.lower(), inside.lower()):
            if pattern in ("", ".") or one.startswith(f"{pattern}/") or bash_match(one, pattern):
                return bool(pathspec(text))
            if bash_match(os.path.basename(one), pattern.removeprefix("**/")):
                return True
    return False


def names_wanted(tests: list[Word]) -> Wanted:
    """What find would hand on, by the names it was told; everything where it is told more than plain names."""
    texts = [word.text for word in tests]
    patterns = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text in ("-name", "-iname")]
    if not patterns or {"!", "-not"} & set(texts):
        return bool
    return lambda name: any(bash_match(name, pattern) for pattern in patterns)


def _refuse_one(path: str, cwd: str, places: Places) -> str:
    finding = judge_place("read", path, cwd, places)
    return f"{os.path.relpath(path, cwd)[:80]} would be read too: {finding.why}" if finding.protected else ""


def _filter(parsed: Parsed, include: str, excludes: tuple[str, ...]) -> Wanted:
    included = parsed.flags.get(include, [])
    excluded = [pattern for flag in excludes for pattern in parsed.flags.get(flag, ())]
    if included:
        # grep takes the last pattern that fits, so what is left out may come in again.
        return lambda name: any(bash_match(name, pattern) for pattern in included)
    return lambda name: not any(bash_match(name, pattern) for pattern in excluded)


def _rg_filter(parsed: Parsed) -> Wanted:
    """What rg would show by its name: the last pattern that fits decides, before types and before hidden names."""
    flags = parsed.flags
    unrestricted = [*flags.get("-u", ()), *flags.get("--unrestricted", ())]
    hidden = bool(flags.keys() & {"--hidden", "-."}) or len(unrestricted) > 1
    globs = [pattern.lower() for flag in ("-g", "--glob", "--iglob") for pattern in flags.get(flag, ())]
    included = [pattern.rsplit("/", 1)[-1] for pattern in globs if not pattern.startswith("!")]
    if included:
        # Braces are alternatives to rg only.
        return lambda name: any("{" in pattern or bash_match(name.lower(), pattern) for pattern in included)
    types = {*flags.get("-t", ()), *flags.get("--type", ())}
    if types and types <= _SOURCE_TYPES and "--type-add" not in flags:
        return _nothing
    excluded = [pattern[1:] for pattern in globs if "/" not in pattern]
    return lambda name: (
        (hidden or bool(types) or not name.startswith("."))
        and not any(bash_match(name, pattern) for pattern in excluded)
    )


def _refuse_git_grep(words: list[Word], cwd: str, places: Places) -> str:
    rest = after_git_options([word.text for word in words[1:]])
    if rest[:1] != ["grep"]:
        return ""
    given = parse(program("git").subcommands["grep"], words[len(words) - len(rest) + 1 :]).flags
    if _NAMES_ONLY & given.keys():
        return ""
    limits = rest[rest.index("--") + 1 :] if "--" in rest else []
    taken = [text for text in limits if pathspec(text)]
    if {"--untracked", "--no-index"} & set(rest) and (why := refuse_secrets([cwd], cwd, places)):
        return why
    return refuse_index(cwd, places, taken or None)


def _refuse_git_patterns(words: list[Word], cwd: str, places: Places) -> str:
    """A pathspec with a pattern or magic may take a secret of the index whose name stands nowhere in the command."""
    rest = after_git_options([word.text for word in words[1:]])
    if not rest or rest[0] not in _GIT_SHOWS:
        return ""
    wild = [text for text in rest[1:] if not text.startswith("-") and (GLOB.search(text) or text.startswith(":"))]
    return refuse_index(cwd, places, wild) if wild else ""
