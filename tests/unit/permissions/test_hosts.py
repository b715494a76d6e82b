"""Programs that an interpreter hosts are proven only where its path holds nothing of the workspace."""

import os
import stat
from pathlib import Path

import pytest

from unit.permissions.world import World

READS = ("pip list", "pip show x", "pip freeze", "pip check", "pip --version", "pip3 list")


class Host:
    """An interpreter with packages outside the workspace, and a pip that it runs."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.prefix = base / "python"
        self.bin = self.prefix / "bin"
        self.packages = self.prefix / "lib" / "python3.11" / "site-packages"
        self.packages.mkdir(parents=True)
        self.bin.mkdir()
        self.script(self.bin / "python3", "#!/bin/sh\n")
        self.pip(f"#!{self.bin}/python3\n")
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")

    def pip(self, text: str) -> None:
        for name in ("pip", "pip3"):
            self.script(self.bin / name, text)

    def script(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def host(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def verdicts(world: World) -> set[str]:
    return {world.command(command) for command in READS}


def test_an_interpreter_elsewhere_is_proven(world: World, host: Host) -> None:
    (host.packages / "distutils-precedence.pth").write_text("import os; enabled = 'local'\n")
    (host.packages / "other.pth").write_text(f"# {world.workspace}\n{world.outside}\n")
    assert verdicts(world) == {"allow"}


@pytest.mark.parametrize(
    "line", ["{WORKSPACE}", "{WORKSPACE}/src", "../../../../work/project", "import x; x.add('{WORKSPACE}')"]
)
def test_an_editable_install_of_the_workspace_asks(world: World, host: Host, line: str) -> None:
    (host.packages / "__editable__.x.pth").write_text(world.fill(line) + "\n")
    assert verdicts(world) == {"ask"}


def test_a_finder_that_maps_into_the_workspace_asks(world: World, host: Host) -> None:
    (host.packages / "__editable__.x.pth").write_text("import __editable___x_finder; __editable___x_finder.install()\n")
    (host.packages / "__editable___x_finder.py").write_text(f"MAPPING = {{'x': '{world.workspace}/src/x'}}\n")
    assert verdicts(world) == {"ask"}


def test_links_into_the_workspace_ask(world: World, host: Host) -> None:
    (host.packages / "x").symlink_to(world.workspace / "src")
    assert verdicts(world) == {"ask"}


def test_an_interpreter_or_a_pip_of_the_workspace_asks(world: World, host: Host) -> None:
    inner = world.workspace / "bin" / "python3"
    host.script(inner, "#!/bin/sh\n")
    for text in (
        f"#!{inner}\n",
        f"#!/bin/sh\n'''exec' \"{inner}\" \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\npython -m pip\n",
    ):
        host.pip(text)
        assert verdicts(world) == {"ask"}, text
    (host.bin / "pip").unlink()
    (host.bin / "pip").symlink_to(inner)
    assert world.command("pip list") == "ask"


def test_an_interpreter_behind_a_link_or_env_is_followed(world: World, host: Host) -> None:
    other = world.outside / "bin" / "python3"
    other.parent.mkdir()
    other.symlink_to(host.bin / "python3")
    for text in (f"#!{other}\n", "#!/usr/bin/env python3\n"):
        host.pip(text)
        assert verdicts(world) == {"allow"}, text
    (host.packages / "x.pth").write_text(f"{world.workspace}\n")
    for text in (f"#!{other}\n", "#!/usr/bin/env python3\n", "#!/usr/bin/env -S python3 -E\n"):
        host.pip(text)
        assert verdicts(world) == {"ask"}, text


def test_packages_of_the_user_count(world: World, host: Host) -> None:
    folder = world.home / ".local" / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    assert verdicts(world) == {"allow"}
    (folder / "x.pth").write_text(f"{world.workspace}\n")
    assert verdicts(world) == {"ask"}


def test_every_version_behind_a_shim_counts(
    world: World, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "pyenv"
    shim = root / "shims" / "pip"
    host.script(shim, "#!/usr/bin/env bash\nexec pyenv exec pip\n")
    monkeypatch.setenv("PATH", f"{shim.parent}:/usr/bin:/bin")
    assert world.command("pip list") == "ask"
    for version in ("3.11", "3.12"):
        host.script(root / "versions" / version / "bin" / "python3", "#!/bin/sh\n")
        host.script(root / "versions" / version / "bin" / "pip", f"#!{root}/versions/{version}/bin/python3\n")
    assert world.command("pip list") == "allow"
    packages = root / "versions" / "3.12" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "x.pth").write_text(f"{world.workspace}\n")
    assert world.command("pip list") == "ask"


def test_no_pip_is_no_question(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert world.command("pip list") == "allow"
