"""Whether a server's program could run what lies in the workspace: then the sandbox holds it, because commands can
change that. Judged by names alone, so that no race with a command makes a difference."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clew.permissions.files import Places
from clew.permissions.shell.proof.hosts import takes_from_workspace

MAX_WORDS = 2_000
# Where a path may begin in a word: `--require=/x`, `-I/x`, `a:b`, `sh -c "cd /x && make"`, `file:///x`.
_SPLIT = re.compile(r"""[\s'"=:,;()<>|&`]+""")
_FLAG = re.compile(r"\A-{1,2}[A-Za-z]+(?=[/~.$])")
_ONLY_TELLS = frozenset({"PWD", "OLDPWD", "PATH", "CLEW_PROJECT_DIR", "CLAUDE_PROJECT_DIR"})
"""Variables that no program takes code from; PATH gets no element of the workspace."""


class Launch(NamedTuple):
    """How a server is started."""

    program: str
    args: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]


def reaches_workspace(launch: Launch, roots: Iterable[str]) -> bool:
    """Whether its program, its directory, or a path in its arguments and variables lies where commands can write; or
    its interpreter takes packages from there."""
    tops = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
    texts = [*launch.args, *(value for name, value in launch.env.items() if name not in _ONLY_TELLS)]
    words = [word for text in texts for word in _paths(text, launch.env)]
    if len(words) > MAX_WORDS:
        return True
    named = (os.path.join(launch.cwd, word) for word in words)
    if any(_inside(path, tops) for path in (launch.program, launch.cwd, *named)):
        return True
    interpreter = _interpreter(launch.program)
    if interpreter and _inside(interpreter, tops):
        return True
    places = Places(roots=tops, home=os.path.expanduser("~"), clew_home="")
    programs = (launch.program, *(path for path in (_runnable(word, launch) for word in words) if path))
    return any(takes_from_workspace(path, places) for path in programs)


def path_outside(path: str, roots: Iterable[str]) -> str:
    """A PATH without the directories of the workspace."""
    tops = tuple(os.path.realpath(root) for root in roots)
    return os.pathsep.join(one for one in path.split(os.pathsep) if os.path.isabs(one) and not _inside(one, tops))


def _paths(text: str, env: Mapping[str, str]) -> list[str]:
    """What in a text may be a path, with the home and variables put in."""
    home = env.get("HOME", "") or os.path.expanduser("~")
    for name, value in (("HOME", home), *((key, env[key]) for key in _ONLY_TELLS & env.keys())):
        text = text.replace(f"${{{name}}}", value).replace(f"${name}", value)
    words = [text, *_SPLIT.split(text)]
    words += [_FLAG.sub("", word) for word in words]
    found = (home + word[1:] if word == "~" or word.startswith("~/") else word for word in words)
    return [word for word in dict.fromkeys(found) if word and "\0" not in word]


def _inside(path: str, tops: tuple[str, ...]) -> bool:
    ends = (os.path.normpath(path), os.path.realpath(path))
    return any(end == top or end.startswith(top.rstrip("/") + "/") for end in ends for top in tops)


def _interpreter(program: str) -> str:
    """The program that the first line of a script names."""
    try:
        with open(program, "rb") as file:
            start = file.read(300)
    except OSError:
        return ""
    if not start.startswith(b"#!"):
        return ""
    words = start[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    return words[0] if words else ""


def _runnable(word: str, launch: Launch) -> str:
    """A program that is started by another one: `env python server.py`, `sh -c "python -m server"`."""
    if "/" in word:
        path = os.path.join(launch.cwd, word)
        return path if os.access(path, os.X_OK) and os.path.isfile(path) else ""
    folders = launch.env.get("PATH", "").split(os.pathsep) if word.startswith(("python", "pypy")) else ()
    found = (path for folder in folders if os.access(path := os.path.join(folder, word), os.X_OK))
    return next((path for path in found if os.path.isfile(path)), "")
