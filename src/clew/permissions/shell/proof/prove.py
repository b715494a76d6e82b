"""One simple command against the tables: what is proven harmless, and why not (P3, P4).

Files of the project and its parents that pick or load code for a program that seems to only print.
"""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from clew.permissions.effort import look
from clew.permissions.files import Places
from clew.permissions.paths import real, resolve
from clew.permissions.shell.programs.find import read_find
from clew.permissions.shell.programs.program import Program
from clew.permissions.shell.programs.spec import Parsed, Spec, parse
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.programs.tables import git
from clew.permissions.shell.proof.hosts import refuse_host
from clew.permissions.shell.proof.reads import dash_names, refuse_checked, refuse_pattern, refuse_read
from clew.permissions.shell.proof.repository import refuse_repository
from clew.permissions.shell.reading.glob import matches
from clew.permissions.shell.reading.grammar import SHOWN_VARIABLES
from clew.permissions.shell.reading.words import Word, WordPiece, simple_braces
from clew.system.git.config import Setting
from clew.system.git.layout import file_start
from clew.system.git.settings import unsafe_for_everybody
from clew.text.guarded_names import word_set

_MAX_BYTES = 65_536
_PLAIN_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
_HARMLESS_NPMRC = word_set(
    """registry save-exact save-prefix engine-strict legacy-peer-deps fund audit package-lock auto-install-peers
    shamefully-hoist node-linker strict-peer-dependencies always-auth loglevel progress update-notifier color
    prefer-offline prefer-frozen-lockfile link-workspace-packages public-hoist-pattern[] hoist strict-ssl access
    provenance min-release-age ignore-scripts omit include fetch-retries maxsockets resolution-mode
    prefer-workspace-packages save-workspace-protocol shared-workspace-lockfile side-effects-cache"""
)


def _never(text: str) -> bool:
    return False


def _plain_versions(text: str) -> bool:
    """Names of versions, with a program's name before them or not; no path, no address, no template."""
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return all(_PLAIN_VERSION.fullmatch(word) and ".." not in word for words in lines for word in words)


def _plain_npmrc(text: str) -> bool:
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        key = line.partition("=")[0].strip().lower()
        if key not in _HARMLESS_NPMRC and not key.startswith("//") and not re.fullmatch(r"@[\w.-]+:registry", key):
            return False
    return True


_VERSION_FILES = word_set(
    """.tool-versions .python-version .node-version .nvmrc .ruby-version .java-version .go-version .php-version
    .swift-version"""
)
_ANY = ("mise.toml", ".mise.toml", ".rtx.toml", ".config/mise.toml", ".config/mise/config.toml", ".prototools")
_KINDS: dict[str, dict[str, Callable[[str], bool]]] = {
    "versions": {**dict.fromkeys(_VERSION_FILES, _plain_versions), **dict.fromkeys(_ANY, _never)},
    "rust": dict.fromkeys(("rust-toolchain", "rust-toolchain.toml"), _never),
    "cargo": dict.fromkeys((".cargo/config", ".cargo/config.toml"), _never),
    "npmrc": {".npmrc": _plain_npmrc},
    "go": dict.fromkeys(("go.mod", "go.work"), _never),
    "dotnet": {"global.json": _never},
    "poetry": {
        ".poetry": _never,
        "poetry.toml": _never,
        "pyproject.toml": lambda text: "requires-plugins" not in text,
    },
}


def refuse_code_files(kinds: tuple[str, ...], cwd: str, places: Places) -> str:
    """The file that may name code for a program started here, in words, or an empty string."""
    for folder in (Path(cwd), *Path(cwd).parents):
        if str(folder) == places.home and not places.inside(places.home):
            continue  # the user's own settings
        for kind in kinds:
            for name, fine in _KINDS[kind].items():
                look()
                path = folder / name
                if not os.path.lexists(path):
                    continue
                if fine is _never or not fine(file_start(path, _MAX_BYTES).decode("utf-8", "replace")):
                    return f"{name} can choose what this runs"
    return ""


def refuse_project_program(name: str, places: Places) -> str:
    """Why the shell would take a program of this name from the project itself, or an empty string."""
    for folder in _project_folders(os.environ.get("PATH", ""), places):
        look()
        if os.path.lexists(os.path.join(folder, name)):
            return f"{name} is a program of the project itself"
    return ""


@lru_cache(maxsize=16)
def _project_folders(path: str, places: Places) -> tuple[str, ...]:
    """The elements of the search path that lie in the workspace, by name or by where a link leads."""
    absolute = [folder for folder in path.split(os.pathsep) if folder.startswith("/")]
    return tuple(
        folder for folder in absolute if places.inside(os.path.normpath(folder)) or places.inside(real(folder))
    )


_SHOWS_ALL = frozenset({"echo", "printf"})
_TEST_UNARY_PATH = word_set("""-e -f -d -r -w -x -s -L -h -p -S -b -c""")
_FIXED_FLAG = re.compile(r"--[a-z][a-z-]*=")
_NUMBER = re.compile(r"-?\d{1,18}")


class Proof(NamedTuple):
    """`refused` is empty where the command is proven harmless; `row` names what in the tables decided."""

    refused: str
    row: str = ""


def prove(
    words: list[Word], cwd: str, places: Places, covered: frozenset[str] = frozenset(), *, paths: bool = True
) -> Proof:
    """Judge a command without wrappers. With `covered` and without `paths`: how far an allow rule's tail may go."""
    flat = _flatten(words)
    if flat is None:
        return Proof("braces make several words of one")
    words = flat
    name = words[0].text
    if why := _unclear(words, cwd):
        return Proof(why)
    row = program(name)
    if paths and (why := _refuse_listing(words[1:], cwd, places) or _refuse_start(name, row, cwd, places)):
        return Proof(why, name)
    rest = words[1:]
    prints = row.version or (("--version", "--help") if row.reads is not None else ())
    if len(rest) == 1 and rest[0].text in prints:
        return Proof("", f"{name} {rest[0].text}")
    if name in ("test", "["):
        return Proof(_refuse_test(rest, name, cwd, places), name)
    if name == "command":
        fine = (
            len(rest) >= 2 and rest[0].text in ("-v", "-V") and all(not word.text.startswith("-") for word in rest[1:])
        )
        return Proof("" if fine else "command runs another program", "command -v")
    if name == "find":
        targets, why = read_find(rest, covered)
        why = why or _refuse_paths(targets, cwd, places, here=not targets, paths=paths)
        return Proof(why, "find")
    if name == "git":
        return _prove_git(rest, cwd, places, covered, paths=paths)
    if name == "tar" and rest and re.fullmatch(r"[tvzjJ]*f", rest[0].text) and "t" in rest[0].text:
        rest = [Word("-" + rest[0].text, (WordPiece("bare", "-" + rest[0].text),)), *rest[1:]]
    spec, label = row.reads, name
    if spec is None and rest:
        label = f"{name} {rest[0].text}"
        spec, rest = row.subcommands.get(rest[0].text), rest[1:]
    if spec is None:
        return Proof(f"{name} is not known to only read")
    parsed = parse(spec, rest, covered)
    if parsed.refused:
        return Proof(f"{label}: {_spoken(parsed.refused, row)}", label)
    if why := _misplaced_glob(spec, rest, parsed, cwd):
        return Proof(why, label)
    here = spec.operands in ("paths", "pattern paths") and not parsed.paths
    why = _refuse_paths(parsed.paths, cwd, places, here=here, paths=paths)
    return Proof(why or (_refuse_lists(name, parsed, cwd, places) if paths else ""), label)


def _spoken(refused: str, row: Program) -> str:
    """A flag that is left out of a row because it follows links is told as that."""
    flag = next((flag for flag in row.follows if refused.startswith(f"flag {flag} ")), "")
    return f"flag {flag} follows links, which may lead anywhere" if flag else refused


def _refuse_listing(words: list[Word], cwd: str, places: Places) -> str:
    """A pattern lists its directory, whatever the program does with the words that come of it."""
    return next((why for word in words if word.globs and (why := refuse_pattern(word, cwd, places))), "")


def _refuse_start(name: str, row: Program, cwd: str, places: Places) -> str:
    """Why code of the project may run as soon as the program starts, or an empty string."""
    if why := refuse_project_program(name, places) or refuse_code_files(row.code_files, cwd, places):
        return why
    why = refuse_host(name, places) if row.hosted else ""
    return f"{name}: {why}" if why else ""


def _refuse_lists(name: str, parsed: Parsed, cwd: str, places: Places) -> str:
    """A program that checks sums reads the files whose names stand in its operands."""
    checks = name.endswith("sum") and parsed.flags.keys() & {"-c", "--check"}
    return refuse_checked(parsed.paths, cwd, places) if checks else ""


def _flatten(words: list[Word]) -> list[Word] | None:
    out: list[Word] = []
    for word in words:
        expanded = simple_braces(word)
        if expanded is None:
            return None
        out += expanded
    return out


def _unclear(words: list[Word], cwd: str) -> str:
    name = words[0]
    if name.raw != "[" and (not name.plain or name.globs or name.tilde):
        return "the program's name is quoted or built from parts"
    for at, word in enumerate(words[1:]):
        if not word.known:
            # The grammar has let only proven substitutions and harmless variables stand in arguments.
            formats = name.raw == "printf" and (at == 0 or words[1].text.startswith("-"))
            if name.raw in _SHOWS_ALL and not formats and _is_only_shown(word):
                continue
            return "an argument is not written out"
        if word.glob_first and dash_names(word, cwd):
            return "a file name here could become a flag, or name a file of flags"
        if word.globs and word.text.startswith("-") and not _FIXED_FLAG.match(word.text):
            return "a pattern stands in a flag"
    return ""


def _is_only_shown(word: Word) -> bool:
    """Its unknown parts are what substitutions print and variables that may be shown."""
    return all(piece.kind != "var" or piece.text in SHOWN_VARIABLES for piece in word.pieces)


def _misplaced_glob(spec: Spec, words: list[Word], parsed: Parsed, cwd: str) -> str:
    """File names in place of a pattern: they may become a script, a value or an output file."""
    if spec.operands == "anything":
        return ""
    for word in words:
        if not word.globs or word.text.startswith("-"):
            continue
        as_path = any(word is path for path in parsed.paths)
        if matches(word.text, cwd) > (1 if spec.operands == "path" else 0) and not (
            as_path and spec.operands != "path"
        ):
            return "file names could take the place of the pattern"
    return ""


def _refuse_paths(targets: list[Word], cwd: str, places: Places, *, here: bool, paths: bool) -> str:
    if not paths:
        return ""
    if here and not places.inside(resolve(cwd, cwd="/", home=places.home).target):
        return "this reads a directory outside the workspace"
    for target in targets:
        if why := refuse_read(target, cwd, places):
            return why
    return ""


def _refuse_test(rest: list[Word], name: str, cwd: str, places: Places) -> str:
    if name == "[":
        if not rest or rest[-1].text != "]":
            return "the test is not closed"
        rest = rest[:-1]
    if rest and rest[0].text == "!":
        rest = rest[1:]
    texts = [word.text for word in rest]
    if any(word.globs for word in rest):
        return "a pattern in a test may become several words"
    if len(rest) == 2 and texts[0] in _TEST_UNARY_PATH:
        return refuse_read(rest[1], cwd, places)
    if len(rest) == 2 and texts[0] in ("-n", "-z"):
        return ""
    if len(rest) == 3 and texts[1] in ("=", "!=", "=="):
        return ""
    if len(rest) == 3 and texts[1] in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
        fine = _NUMBER.fullmatch(texts[0]) and _NUMBER.fullmatch(texts[2])
        return "" if fine else "only plain numbers are compared unasked"
    return "this test is not proven harmless"


def _refuse_setting(text: str) -> str:
    """Why a setting on git's command line is not harmless, or an empty string."""
    name, equals, value = text.partition("=")
    section, _, key = name.lower().rpartition(".")
    setting = Setting(section.partition(".")[0], section.partition(".")[2], key, value if equals else None)
    if key == "pager" and section == "core" and value in ("", "cat"):
        return ""
    return f"git -c {name} is not proven harmless" if not section or unsafe_for_everybody(setting) else ""


def _git_options(rest: list[Word], cwd: str, places: Places) -> tuple[int, str, Proof | None]:
    """How many words stand before the subcommand, the directory they choose, and the verdict where they decide."""
    at = 0
    while at < len(rest) and rest[at].text.startswith("-"):
        text = rest[at].text
        valued = at + 1 < len(rest) and rest[at + 1].known and not rest[at + 1].globs
        if text in git.GLOBAL_HARMLESS:
            at += 1
        elif text == "-C" and valued:
            if why := refuse_read(rest[at + 1], cwd, places):
                return at, cwd, Proof(why, "git -C")
            cwd = resolve(rest[at + 1].text, cwd=cwd, home=places.home).target
            at += 2
        elif text == "-c" and valued:
            if why := _refuse_setting(rest[at + 1].text):
                return at, cwd, Proof(why, "git -c")
            at += 2
        elif text in ("--help", "-h") and len(rest) == 1:
            return at, cwd, Proof("", "git help")
        else:
            return at, cwd, Proof(f"git {text} is not proven harmless", "git")
    return at, cwd, Proof("git alone does nothing", "git") if at >= len(rest) else None


def _prove_git(rest: list[Word], cwd: str, places: Places, covered: frozenset[str], *, paths: bool) -> Proof:
    at, cwd, decided = _git_options(rest, cwd, places)
    if decided is not None:
        return decided
    sub, words = rest[at].text, rest[at + 1 :]
    if any(word.text == "--help" for word in words):
        return Proof("git's help starts a pager", "git")
    spec = program("git").subcommands.get(sub)
    row = f"git {sub}"
    if spec is None:
        return Proof(f"{row} is not known to only read")
    parsed = parse(spec, words, covered)
    if parsed.refused:
        return Proof(f"{row}: {parsed.refused}", row)
    if sub not in git.LISTS_BY_PATTERN and (why := _misplaced_glob(spec, words, parsed, cwd)):
        return Proof(why, row)
    if not paths or sub == "version":
        return Proof("", row)
    why = refuse_repository(cwd, places, work_tree=sub in git.LOOKS_AT_WORK_TREE)
    return Proof(why or _refuse_paths(parsed.paths, cwd, places, here=True, paths=True), row)
