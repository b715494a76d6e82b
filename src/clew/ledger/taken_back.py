"""What git takes back: commits that a reset or an amended one removes, files that are put back as they were."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from clew.ledger.commits import CommitsFold
from clew.ledger.facts import CommandFact
from clew.ledger.files import FilesFold
from clew.ledger.shell_files import simple_commands

_WORDS = ("reset", "stash", "checkout", "restore", "switch", "branch", " add ")
_BACK = re.compile(r"HEAD((?:~\d*|\^)+)$|@\{?((?:~\d*|\^)+)$")
_STEP = re.compile(r"~(\d*)|\^")
_HASH = re.compile(r"[0-9a-f]{7,40}$")
_WITH_VALUE = ("-C", "-c", "-s", "--source", "-m", "--message")


class Step(NamedTuple):
    """One thing that a command takes back."""

    what: Literal["commits", "branch", "files", "stash", "pop", "stage"]
    to: str = ""
    """For commits: the hash that stays, or "" with `back`, how many go; else the branch that goes."""
    back: int = 0
    paths: tuple[str, ...] = ()
    """For files; none means all that git knows."""


def take_back(command: CommandFact, files: FilesFold, commits: CommitsFold) -> None:
    """Forget what a command that went well took back: it is not there any more. Whatever failed in it, git was told of
    files before."""
    if not any(word in command.command for word in _WORDS):
        return
    known = commits.order()
    for step in _steps(command.command):
        if step.what == "stage":
            files.stage(step.paths)
        elif command.failed:
            continue
        elif step.what == "commits":
            commits.drop(step.back, step.to)
        elif step.what == "branch":
            if commits.drop_branch(step.to):
                files.put_back(after=commits.order(), known_until=known)
        elif step.what == "pop":
            files.come_again()
        else:
            files.put_back(step.paths, after=commits.order(), known_until=known, stash=step.what == "stash")


def _steps(command: str) -> Iterator[Step]:
    for words in simple_commands(command):
        if words[:1] != ["git"]:
            continue
        plain = _without_values(words[1:])
        if plain[:1] == ["reset"]:
            yield from _reset(plain[1:])
        elif plain[:1] == ["add"]:
            paths = [word for word in plain[1:] if not word.startswith("-")]
            yield Step("stage", paths=() if "." in paths else tuple(paths))
        elif plain[:1] == ["stash"]:
            how = plain[1] if len(plain) > 1 else "push"
            if how in ("push", "save") or how.startswith("-"):
                yield Step("stash")
            elif how in ("pop", "apply"):
                yield Step("pop")
        elif plain[:1] == ["branch"] and "-D" in plain:
            yield from (Step("branch", to=name) for name in plain[1:] if not name.startswith("-"))
        elif plain[:1] in (["checkout"], ["switch"]) and {"-f", "--force", "--discard-changes"} & set(plain):
            yield Step("files")
        elif plain[:1] == ["checkout"] and ("--" in plain or plain[1:] == ["."]):
            paths = plain[plain.index("--") + 1 :] if "--" in plain else ["."]
            yield Step("files", paths=() if "." in paths else tuple(paths))
        elif plain[:1] == ["restore"] and ("--staged" not in plain or "--worktree" in plain):
            paths = [word for word in plain[1:] if not word.startswith("-")]
            yield Step("files", paths=() if "." in paths else tuple(paths))


def _without_values(words: list[str]) -> list[str]:
    """The sub-command with its words, without options that take a value."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word not in _WITH_VALUE:
            kept.append(word)
        skip = word in _WITH_VALUE and not skip
    return kept


def _reset(words: list[str]) -> Iterator[Step]:
    named = [word for word in words if not word.startswith("-")]
    back = _BACK.match(named[0]) if len(named) == 1 else None
    if back:
        steps = _STEP.findall(back.group(1) or back.group(2))
        yield Step("commits", back=sum(int(step or 1) for step in steps))
    elif len(named) == 1 and _HASH.match(named[0]):
        yield Step("commits", to=named[0])
    if "--hard" in words and len(named) < 2:
        yield Step("files")
