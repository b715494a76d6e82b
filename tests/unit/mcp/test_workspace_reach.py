"""Which servers are held: every way to make a program outside run a file of the workspace, and programs that do not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from clew.mcp.transport.workspace_reach import Launch, path_outside, reaches_workspace


class Around(NamedTuple):
    ws: Path
    out: Path


@pytest.fixture
def around(tmp_path: Path) -> Around:
    made = Around(tmp_path / "ws", tmp_path / "out")
    for folder in (made.ws / "src", made.out / "bin", made.ws / "node_modules" / ".bin"):
        folder.mkdir(parents=True)
    program(made.out / "bin" / "server", "#!/bin/sh\n")
    program(made.ws / "src" / "server", "#!/bin/sh\n")
    (made.ws / "tool.py").write_text("")
    return made


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def launch(around: Around, *args: str, program: Path | str = "", cwd: str = "", **env: str) -> Launch:
    given = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(around.out),
        "PWD": str(around.ws),
        "CLEW_PROJECT_DIR": str(around.ws),
    }
    return Launch(str(program or around.out / "bin" / "server"), args, cwd or str(around.out), given | env)


def linked(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return path


def editable(around: Around) -> Path:
    """A program of an environment elsewhere, in which the workspace is installed to be edited."""
    packages = around.out / "env" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "_own.pth").write_text(f"{around.ws}/src\n")
    program(around.out / "env" / "bin" / "python3", "")
    return program(around.out / "env" / "bin" / "own-server", f"#!{around.out}/env/bin/python3\nimport own\n")


HELD: dict[str, Callable[[Around], Launch]] = {
    "its directory": lambda a: launch(a, cwd=str(a.ws)),
    "a link to its directory": lambda a: launch(a, cwd=str(linked(a.out / "here", a.ws))),
    "its program": lambda a: launch(a, program=a.ws / "src" / "server"),
    "a link to its program": lambda a: launch(a, program=linked(a.out / "bin" / "link", a.ws / "src" / "server")),
    "a link in the workspace": lambda a: launch(a, program=linked(a.ws / "link", a.out / "bin" / "server")),
    "among packages": lambda a: launch(a, program=program(a.ws / "node_modules" / ".bin" / "x", "#!/bin/sh\n")),
    "a script": lambda a: launch(a, str(a.ws / "tool.py"), program="/usr/bin/env"),
    "a script that is not there yet": lambda a: launch(a, str(a.ws / "later.py")),
    "a link to a script": lambda a: launch(a, str(linked(a.out / "t.py", a.ws / "tool.py"))),
    "a link in the workspace to a script": lambda a: launch(a, str(linked(a.ws / "t.py", a.out / "bin" / "server"))),
    "a script from its directory": lambda a: launch(a, "../ws/tool.py"),
    "a directory": lambda a: launch(a, str(a.ws)),
    "a directory behind a flag": lambda a: launch(a, "--directory", str(a.ws), "run", "server"),
    "behind an equals sign": lambda a: launch(a, f"--require={a.ws}/tool.py"),
    "glued to a flag": lambda a: launch(a, f"-I{a.ws}/src"),
    "an address of a file": lambda a: launch(a, "--import", f"file://{a.ws}/tool.mjs"),
    "text for a shell": lambda a: launch(a, "-c", f"cd {a.ws} && make serve", program="/bin/sh"),
    "text for a shell with the home": lambda a: launch(a, "-c", ". ~/../ws/tool.sh", program="/bin/sh"),
    "text for a shell with a variable": lambda a: launch(a, "-c", '. "$PWD/tool.sh"', program="/bin/sh"),
    "text for an interpreter": lambda a: launch(a, "-c", f"import sys; sys.path.insert(0, '{a.ws}'); import tool"),
    "behind env": lambda a: launch(a, f"PYTHONPATH={a.ws}/src", "python3", "-m", "server", program="/usr/bin/env"),
    "PYTHONPATH": lambda a: launch(a, "-m", "server", PYTHONPATH=f"/opt/x:{a.ws}/src"),
    "PYTHONSTARTUP": lambda a: launch(a, PYTHONSTARTUP=f"{a.ws}/tool.py"),
    "NODE_OPTIONS": lambda a: launch(a, NODE_OPTIONS=f"--max-old-space-size=9 --require {a.ws}/x.js"),
    "NODE_PATH": lambda a: launch(a, NODE_PATH=f"{a.ws}/node_modules"),
    "BASH_ENV": lambda a: launch(a, BASH_ENV=f"{a.ws}/x.sh"),
    "LD_PRELOAD": lambda a: launch(a, LD_PRELOAD=f"{a.ws}/x.so"),
    "a variable with the home": lambda a: launch(a, RUBYLIB="~/../ws/src"),
    "a variable from its directory": lambda a: launch(a, PERL5LIB="../ws/src"),
    "an environment": lambda a: launch(a, VIRTUAL_ENV=f"{a.ws}/.venv"),
    "an interpreter of the workspace": lambda a: launch(
        a, program=program(a.out / "bin" / "x", f"#!{a.ws}/.venv/bin/python\n")
    ),
    "packages of the workspace": lambda a: launch(a, program=editable(a)),
    "packages of the workspace, by a wrapper": lambda a: launch(a, str(editable(a)), program="/usr/bin/env"),
    "its interpreter on the path": lambda a: launch(
        a, "python3", "-m", "own", program="/usr/bin/env", PATH=f"{editable(a).parent}:/usr/bin"
    ),
    "too many words": lambda a: launch(a, " ".join(map(str, range(3000)))),
}
FREE: dict[str, Callable[[Around], Launch]] = {
    "a program elsewhere": lambda a: launch(a),
    "with plain arguments": lambda a: launch(a, "-y", "@scope/server", "--port", "80", "stdio", "--flag=value"),
    "with a neighbour of a like name": lambda a: launch(a, f"{a.ws}-other/tool.py", PYTHONPATH=f"{a.ws}2"),
    "with its own script": lambda a: launch(a, str(a.out / "bin" / "server"), program="/usr/bin/env"),
    "with an address": lambda a: launch(a, "https://example.org/ws", TOKEN="a=b:c"),
    "with the path of an activated environment": lambda a: launch(a, PATH=f"{a.ws}/.venv/bin:/usr/bin"),
}


@pytest.mark.parametrize("case", HELD, ids=lambda name: name.replace(" ", "-"))
def test_what_could_run_files_of_the_workspace_is_held(around: Around, case: str) -> None:
    assert reaches_workspace(HELD[case](around), [str(around.ws)])


@pytest.mark.parametrize("case", FREE, ids=lambda name: name.replace(" ", "-"))
def test_other_programs_are_free(around: Around, case: str) -> None:
    assert not reaches_workspace(FREE[case](around), [str(around.ws)])


def test_a_free_program_finds_none_of_the_workspace_by_name(around: Around) -> None:
    link = linked(around.out / "there", around.ws / "src")
    given = f"{around.ws}/.venv/bin:{around.ws}/node_modules/.bin:bin:{link}:/usr/bin:"
    assert path_outside(given, [str(around.ws)]) == "/usr/bin"
    assert os.path.isdir(link)
