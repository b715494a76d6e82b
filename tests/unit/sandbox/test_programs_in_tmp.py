"""Programs below /tmp: commands find what the user runs there, and nothing else of the machine's /tmp."""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.system.sandbox.kept import installation, kept_places, replaced_tops
from clew.system.sandbox.policy import Sandbox
from unit.sandbox.world import KINDS, World


@pytest.fixture
def in_tmp() -> Iterator[Path]:
    """A folder in the machine's own /tmp, wherever the other files of this run lie."""
    tops = [top for top in replaced_tops() if os.access(top, os.W_OK)]
    if not tops:
        pytest.skip("neither /tmp nor /var/tmp can be written here, so nobody has programs there")
    folder = Path(tempfile.mkdtemp(prefix="clew tests ä ", dir=tops[0]))
    yield folder
    shutil.rmtree(folder)


def program(path: Path, text: str = "#!/bin/sh\necho it ran\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


async def test_a_program_on_the_path_below_tmp_runs_and_nothing_beside_it_is_seen(
    world: World, in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if world.kind == "landlock":
        pytest.skip("Landlock alone shows the machine's own /tmp")
    program(in_tmp / "env" / "bin" / "tool", '#!/bin/sh\nexec cat "$(dirname "$0")/../lib/words"\n')
    (in_tmp / "env" / "lib").mkdir()
    (in_tmp / "env" / "lib" / "words").write_text("it ran\n")
    program(in_tmp / "lone" / "single")
    (in_tmp / "lone.txt").write_text("a secret of somebody else")
    with socket.socket(socket.AF_UNIX) as door:
        monkeypatch.chdir(in_tmp)  # the name of a socket is short
        door.bind("door")
        search_path = f"{in_tmp}/env/bin:{in_tmp}/lone:{os.environ['PATH']}"
        world.session.env = {**world.session.env, "PATH": search_path}
        world.session.sandbox = sandbox = Sandbox(
            lambda: KINDS[world.kind], home=str(world.home), search_path=search_path
        )
        result = await world.run("tool && single")
        assert result.text == "it ran\nit ran", result.text
        seen = await world.run(f"(cd '{in_tmp}' && ls -A . env lone)")
        assert seen.text.split() == [".:", "env", "lone", "env:", "bin", "lib", "lone:", "single"], seen.text
        for name in ("env/lib/words", "env/new", "lone/single"):
            written = await world.run(f"echo evil > '{in_tmp}/{name}'")
            assert written.is_error, name
            assert "Read-only file system" in written.text
        sandbox.close()
    assert (in_tmp / "env" / "lib" / "words").read_text() == "it ran\n"
    assert sorted(os.listdir(in_tmp / "env")) == ["bin", "lib"]


async def test_the_interpreter_of_this_run_is_found_wherever_it_lies(world: World) -> None:
    result = await world.run(f"'{sys.executable}' -c 'import msgspec; print(msgspec.__name__)'")
    assert result.text == "msgspec", result.text


async def test_an_environment_inside_the_workspace_can_still_be_written(world: World) -> None:
    if world.kind == "landlock":
        pytest.skip("there new names at the top need leaving it")
    program(world.ws / "env" / "bin" / "tool")
    (world.ws / "env" / "lib").mkdir()
    world.session.sandbox = sandbox = Sandbox(
        lambda: KINDS[world.kind], home=str(world.home), search_path=f"{world.ws}/env/bin"
    )
    result = await world.run("touch env/lib/new && env/bin/tool")
    assert result.text == "it ran", result.text
    sandbox.close()


def test_what_belongs_to_a_program(in_tmp: Path) -> None:
    tool = program(in_tmp / "node" / "bin" / "node")
    assert installation(str(tool)) == [str(tool)]
    (in_tmp / "node" / "lib").mkdir()
    assert installation(str(tool)) == installation(str(tool.parent)) == [str(in_tmp / "node")]
    script = program(in_tmp / "venv" / "bin" / "pytest")
    (in_tmp / "venv" / "pyvenv.cfg").write_text(f"home = {tool.parent}\nversion = 3\n")
    assert kept_places([str(script)], []) == [str(in_tmp / "venv"), str(in_tmp / "node")]
    (in_tmp / "link").symlink_to(in_tmp / "node")
    assert kept_places([f"{in_tmp}/link/bin"], []) == [str(in_tmp / "link"), str(in_tmp / "node")]
    assert kept_places([str(script)], [str(in_tmp)]) == [], "the workspace is seen anyway"


def test_all_of_tmp_is_never_kept(in_tmp: Path) -> None:
    top = str(in_tmp.parent)
    assert kept_places([top, f"{top}/", f"{top}/bin", f"{top}/nobody-has-this/bin", "/usr/bin"], []) in (
        [],
        [f"{top}/bin"],
    )
