"""L47: commands made from our own tables and from shell pieces; what is allowed must change nothing when it runs."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from clew.permissions.shell.programs.spec import Spec
from clew.permissions.shell.programs.table import PROGRAMS
from fakes.effort import HANG_S
from unit.permissions.world import World

OPERANDS = (
    "a.txt",
    "b.txt",
    "data.csv",
    "data.json",
    "src",
    ".",
    "a.tar",
    "1",
    "x",
    "new.out",
    "HEAD",
    "'/a/p'",
    "'.a'",
    "-",
)
VALUES = ("1", "a.txt", "x", ",", "new.out", "always", "%s", "HEAD", "sh", "w")
PAYLOADS = ("touch MARK", "$(touch MARK)", "`touch MARK`", "'$(touch MARK)'", '"$(touch MARK)"', "<(touch MARK)")
PIECES = (
    *(
        "ls",
        "echo",
        "cat",
        "a.txt",
        "-la",
        ";",
        "&&",
        "||",
        "|",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "if",
        "then",
        "fi",
        "else",
        "!",
    ),
    *(
        "for x in a b",
        "do",
        "done",
        "[ -f a.txt ]",
        "<<'E'\n",
        "<<E\n",
        "\nE\n",
        "# ",
        "\\",
        "\\\n",
        "'",
        '"',
        "2>&1",
        "&",
    ),
    *(
        "> /dev/null",
        "< a.txt",
        "$x",
        '"$x"',
        "LC_ALL=C",
        "A=b",
        "{a,b}",
        "*",
        "time",
        "timeout 5",
        "env",
        "eval",
        "cd src",
    ),
    *("printf", "test", "..", "[[", "]]", "case a in a)", ";;", "esac", "function f", "f()", "\t"),
)


def flags(spec: Spec, pick: random.Random) -> list[str]:
    tokens = spec.flags.split()
    out: list[str] = []
    for token in pick.sample(tokens, min(len(tokens), pick.randint(0, 3))):
        value = pick.choice(VALUES)
        if token == "-#":
            out.append("-3")
        elif token.endswith("=="):
            out += [token[:-2], "name", value]
        elif token.endswith("=?"):
            out.append(token[:-2] + (f"={value}" if token.startswith("--") and pick.random() < 0.5 else ""))
        elif token.endswith(("=", "=@")):
            out.append(token.rstrip("@") + value)
        elif token.endswith((":", "@")):
            out += [token[:-1], value]
        else:
            out.append(token)
    return out


def from_tables(pick: random.Random) -> str:
    programs = [
        (name, row.reads)
        for name, row in PROGRAMS.items()
        if row.reads is not None and shutil.which(name) and name not in ("sleep", "[")
    ]
    programs += [(f"git {name}", spec) for name, spec in PROGRAMS["git"].subcommands.items()]
    name, row = pick.choice(programs)
    words = [*flags(row, pick), *pick.sample(OPERANDS, pick.randint(0, 3))]
    pick.shuffle(words)
    return f"{name} {' '.join(words)}"


def from_pieces(pick: random.Random) -> str:
    words = [pick.choice(PAYLOADS if pick.random() < 0.15 else PIECES) for _ in range(pick.randint(1, 9))]
    return "".join(word + pick.choice("   ") * pick.randint(0, 1) for word in words)


def run(command: str, world: World) -> None:
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", command],
        cwd=world.workspace,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat"},
        timeout=HANG_S,
        check=False,
    )


def tree(root: Path) -> set[tuple[str, int, int]]:
    found = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    return {(str(path), (info := path.lstat()).st_ino, info.st_mtime_ns) for path in found}


@pytest.mark.parametrize(("source", "rounds"), [(from_tables, 120), (from_pieces, 1500)], ids=["tables", "pieces"])
def test_generated_commands(world: World, source: object, rounds: int) -> None:
    subprocess.run(["git", "init", "-q"], check=True, cwd=world.workspace)
    pick = random.Random(20261115)
    before = tree(world.workspace)
    allowed = 0
    for _ in range(rounds):
        command = from_tables(pick) if source is from_tables else from_pieces(pick)
        if world.check(command=command)["verdict"] != "allow":
            continue
        allowed += 1
        run(command, world)
        assert tree(world.workspace) == before, command
    assert allowed > 10, "the generator must produce commands that are allowed, or it tests nothing"
