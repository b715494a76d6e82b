"""One simple command against the tables: what is proven harmless, and why not (P3, P4)."""

import re
from typing import NamedTuple

from clew.permissions.files import Places
from clew.permissions.paths import resolve
from clew.permissions.shell.programs.find import read_find
from clew.permissions.shell.programs.spec import Parsed, Spec, parse
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.programs.tables import git
from clew.permissions.shell.proof.code_files import refuse_code_files, refuse_project_program
from clew.permissions.shell.proof.reads import dash_names, refuse_read
from clew.permissions.shell.proof.repository import refuse_repository
from clew.permissions.shell.reading.glob import matches
from clew.permissions.shell.reading.words import Piece, Word, simple_braces
from clew.text.word_set import word_set

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
    if paths and (why := refuse_project_program(name, places) or refuse_code_files(row.code_files, cwd, places)):
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
        rest = [Word("-" + rest[0].text, (Piece("bare", "-" + rest[0].text),)), *rest[1:]]
    spec, label = row.reads, name
    if spec is None and rest:
        label = f"{name} {rest[0].text}"
        spec, rest = row.subcommands.get(rest[0].text), rest[1:]
    if spec is None:
        return Proof(f"{name} is not known to only read")
    parsed = parse(spec, rest, covered)
    if parsed.refused:
        return Proof(f"{label}: {parsed.refused}", label)
    if why := _misplaced_glob(spec, rest, parsed, cwd):
        return Proof(why, label)
    here = spec.operands in ("paths", "pattern paths") and not parsed.paths
    return Proof(_refuse_paths(parsed.paths, cwd, places, here=here, paths=paths), label)


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
    for word in words[1:]:
        if not word.known:
            return "an argument is not written out"
        if word.glob_first and dash_names(word, cwd):
            return "a file name that starts with a dash could become a flag"
        if word.globs and word.text.startswith("-") and not _FIXED_FLAG.match(word.text):
            return "a pattern stands in a flag"
    return ""


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


def _prove_git(rest: list[Word], cwd: str, places: Places, covered: frozenset[str], *, paths: bool) -> Proof:
    at = 0
    while at < len(rest) and rest[at].text.startswith("-"):
        text = rest[at].text
        if text in git.GLOBAL_HARMLESS:
            at += 1
        elif text == "-C" and at + 1 < len(rest) and rest[at + 1].known and not rest[at + 1].globs:
            if why := refuse_read(rest[at + 1], cwd, places):
                return Proof(why, "git -C")
            cwd = resolve(rest[at + 1].text, cwd=cwd, home=places.home).target
            at += 2
        else:
            return Proof(f"git {text} is not proven harmless", "git")
    if at >= len(rest):
        return Proof("git alone does nothing", "git")
    sub = rest[at].text
    if any(word.text == "--help" for word in rest):
        return Proof("git's help starts a pager", "git")
    spec = program("git").subcommands.get(sub)
    row = f"git {sub}"
    if spec is None:
        return Proof(f"{row} is not known to only read")
    parsed = parse(spec, rest[at + 1 :], covered)
    if parsed.refused:
        return Proof(f"{row}: {parsed.refused}", row)
    if sub not in git.LISTS_BY_PATTERN and (why := _misplaced_glob(spec, rest[at + 1 :], parsed, cwd)):
        return Proof(why, row)
    if not paths:
        return Proof("", row)
    if sub == "version":
        return Proof("", row)
    why = refuse_repository(cwd, places, work_tree=sub in git.LOOKS_AT_WORK_TREE)
    return Proof(why or _refuse_paths(parsed.paths, cwd, places, here=True, paths=True), row)
