"""C: what is protected stays as it is, nothing gets out, honest work goes on, and the project is left alone."""

import asyncio
import contextlib
import ctypes
import os
import pty
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.effort import HANG_S
from unit.sandbox.cases import CHANGES, NEW_IN_GIT, NEW_NAMES, NOT_FOR_BWRAP, NOT_FOR_LANDLOCK, WAYS, WAYS_OUT, WORK
from unit.sandbox.world import KINDS, World
from unit.tools.conftest import until

CALL = Path(__file__).parent / "probes" / "call.py"
PLANTED = [(name, WAYS[number % len(WAYS)]) for number, name in enumerate(NEW_NAMES)]
PLANTED_IN_GIT = [(name, WAYS[(3 * number + turn) % 8]) for number, name in enumerate(NEW_IN_GIT) for turn in range(3)]
PLANTED += [(".mcp.json", way) for way in WAYS] + [(".claude", way) for way in WAYS]


@pytest.mark.parametrize(("name", "way"), PLANTED)
async def test_protected_names_do_not_come_into_being(world: World, name: str, way: str):
    before = world.guarded()
    await world.run(way.replace("NAME", name))
    assert world.guarded() == before


@pytest.mark.parametrize(("name", "way"), PLANTED_IN_GIT)
async def test_nothing_new_sends_git_elsewhere(world: World, name: str, way: str):
    before = world.guarded()
    folder = os.path.dirname(f".git/{name}")
    await world.run(f"mkdir -p {folder}; " + way.replace("../NAME", f"../.git/{name}").replace("NAME", f".git/{name}"))
    assert world.guarded() == before


@pytest.mark.parametrize("command", CHANGES)
async def test_what_is_protected_stays_as_it_is(world: World, command: str):
    if world.kind == "landlock" and command in NOT_FOR_LANDLOCK:
        pytest.skip("Landlock alone promises content, not rights")
    before = world.guarded()
    await world.run(command)
    assert world.guarded() == before


@contextlib.contextmanager
def shared_memory() -> Iterator[int]:
    """The key of a piece of memory that any process of this user may attach."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x5C1E0000 + os.getpid() % 0xFFFF
    number = libc.shmget(key, 16, 0o1666)
    assert number >= 0
    try:
        yield key
    finally:
        libc.shmctl(number, 0, None)


@pytest.mark.parametrize("command", WAYS_OUT)
async def test_there_is_no_way_out(world: World, command: str):
    if world.kind == "landlock" and command in NOT_FOR_LANDLOCK:
        pytest.skip("Landlock alone promises content, not rights, times or names in /dev")
    if world.kind in ("bwrap", "watched", "landlock") and command in NOT_FOR_BWRAP:
        pytest.skip("process 1 is no guard there, and as confined as the command")
    abstract = f"clew-probe-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as hidden,
    ):
        place = world.outside / "s"
        local.bind(str(place))
        local.listen()
        hidden.bind("\0" + abstract)
        hidden.listen()
        master, slave = pty.openpty()
        (world.ws / "src" / "call.py").write_text(CALL.read_text())
        before = {name: os.lstat(world.outside / name).st_mtime_ns for name in os.listdir(world.outside)}
        with shared_memory() as shared:
            result = await world.run(
                command, AGENT=str(os.getpid()), PORT=str(tcp.getsockname()[1]), SOCKET=str(place), ABSTRACT=abstract,
                TERMINAL=os.ttyname(slave), SHARED=str(shared),
            )  # fmt: skip
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 1)
        os.close(master)
        os.close(slave)
        for listener in (tcp, local, hidden):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept()
    assert "ESCAPED" not in result.text.split()
    assert {name: os.lstat(world.outside / name).st_mtime_ns for name in os.listdir(world.outside)} == before
    assert (world.outside / "old").read_text() == "old"
    assert not any(os.path.exists(path) for path in ("/usr/local/clew-probe", "/etc/clew-probe"))
    assert os.listdir(world.home) == []


@pytest.mark.parametrize("command", WORK)
async def test_honest_work_goes_on(world: World, command: str):
    if world.kind == "landlock":
        pytest.skip("Landlock alone promises less: new names at the top, .git and sockets need leaving it")
    result = await world.run(command)
    assert not result.is_error, result.text
    assert "took them away" not in result.text


async def test_git_directories_are_shut_to_commands_that_do_not_name_git(world: World):
    before = sorted(os.listdir(world.ws / ".git"))
    script = world.ws / "src" / "plant.py"
    script.write_text(
        "import os\nfor n in ('commondir', 'index.lock'):\n    open(f'.{\"gi\"}t/{n}', 'w').write('evil')\n"
    )
    result = await world.run("python3 src/plant.py")
    assert result.is_error
    assert sorted(os.listdir(world.ws / ".git")) == before


async def test_the_second_after_another_command(world: World):
    before = world.guarded()
    for _ in range(5):
        await world.run("true")
        await world.run("mkdir .claude; echo evil > .claude/settings.json; echo evil > .mcp.json; mkdir .vscode; true")
        assert world.guarded() == before
        assert world.sandbox.enforced


async def test_two_commands_at_once(world: World):
    before = world.guarded()
    await asyncio.gather(
        *(world.run(f"for i in $(seq 20); do echo {n} > .mcp.json; mkdir .claude; done") for n in range(4))
    )
    assert world.guarded() == before
    assert world.sandbox.enforced


async def test_nothing_of_ours_is_in_the_project(world: World):
    """Before, while a command runs, and after: the same names, outside and inside."""
    before = sorted(os.listdir(world.ws))
    running = asyncio.create_task(world.run("ls -A; sleep 0.6"))
    during: set[tuple[str, ...]] = set()
    while not running.done():
        during.add(tuple(sorted(os.listdir(world.ws))))
        await asyncio.sleep(0.005)
    inside = (await running).text.split()
    assert during == {tuple(before)}
    assert sorted(inside) == before
    assert sorted(os.listdir(world.ws)) == before


async def test_what_is_refused_is_told(world: World):
    if not KINDS[world.kind].guards:
        pytest.skip("this kind takes names away, or makes no new names at all")
    result = await world.run(
        "mkdir .vscode; echo evil > .mcp.json; git config --worktree a.b c; echo x > .git/commondir"
    )
    assert "so commands cannot make them: .vscode, .mcp.json, .git/config, .git/commondir. Write asks" in result.text
    assert not (world.ws.parent / "taken").exists()


async def test_what_is_taken_away_is_kept_and_told(world: World):
    if world.kind == "landlock" or KINDS[world.kind].guards:
        pytest.skip("there nothing can come into being")
    result = await world.run("mkdir .vscode && echo '{}' > .vscode/settings.json; echo evil > .mcp.json; sleep 0.1")
    assert ".vscode (kept as " in result.text
    kept = result.text.split(".mcp.json (kept as ")[1].split(")")[0]
    assert Path(kept).read_text() in ("evil\n", "")
    assert any("took them away" in getattr(block, "text", "") for block in result.display)


async def test_no_end_of_protected_names_ends_the_command(world: World):
    if world.kind == "landlock" or KINDS[world.kind].guards:
        pytest.skip("there nothing can come into being")
    result = await world.run("i=0; while [ $i -lt 100000 ]; do echo x > .env.a$i; i=$((i+1)); done; echo FINISHED")
    assert "FINISHED" not in result.text
    assert not [name for name in os.listdir(world.ws) if name.startswith(".env")]


async def test_a_background_command_where_names_are_refused(world: World):
    if not KINDS[world.kind].guards:
        pytest.skip("there the top is shut to background commands")
    before = world.guarded()
    started = await world.run("mkdir out; echo x > out/new; mkdir .claude; echo x > .git/index.lock", background=True)
    assert "there first" not in started.text
    (shell,) = world.session.shells.background.values()
    assert shell.task is not None
    await asyncio.wait_for(shell.task, HANG_S)
    assert (world.ws / "out" / "new").exists()
    assert world.guarded() == before


async def test_a_background_command_finds_the_top_shut(world: World):
    if KINDS[world.kind].guards:
        pytest.skip("names are refused there, so nothing needs to be shut")
    before = world.guarded()
    listed = sorted(os.listdir(world.ws))
    started = await world.run(
        "echo x > src/new; echo x > README.md; echo x > top.txt; mkdir .claude; echo x > .git/index.lock",
        background=True,
    )
    assert "make new files and directories there first" in started.text
    (shell,) = world.session.shells.background.values()
    assert shell.task is not None
    await asyncio.wait_for(shell.task, HANG_S)
    assert (world.ws / "src" / "new").exists()
    assert (world.ws / "README.md").read_text() == "x\n"
    assert sorted(os.listdir(world.ws)) == listed
    assert world.guarded() == before


async def test_the_users_own_new_file_survives_a_background_command(world: World):
    await world.run("while [ ! -e src/stop ]; do sleep 0.02; done", background=True)
    (world.ws / ".env").write_text("mine")
    (world.ws / ".vscode").mkdir()
    (world.ws / "src" / "stop").touch()
    (shell,) = world.session.shells.background.values()
    assert shell.task is not None
    await asyncio.wait_for(shell.task, HANG_S)
    assert (world.ws / ".env").read_text() == "mine"
    assert (world.ws / ".vscode").is_dir()


async def test_a_user_who_saves_a_protected_file_meanwhile_keeps_it(world: World):
    (world.ws / ".env").write_text("old")
    running = asyncio.create_task(world.run("touch src/begun; while [ ! -e src/stop ]; do sleep 0.02; done"))
    assert await until((world.ws / "src" / "begun").exists)
    (world.ws / ".env.tmp~").write_text("new")
    os.rename(world.ws / ".env.tmp~", world.ws / ".env")
    (world.ws / "src" / "stop").touch()
    await running
    assert (world.ws / ".env").read_text() == "new"


async def test_a_directory_without_a_repository_does_not_become_one(world: World, tmp_path: Path):
    plain = tmp_path / "plain"
    (plain / "sub").mkdir(parents=True)
    world.session.roots = (str(plain),)
    world.session.cwd = world.session.start_dir = str(plain)
    place = shlex.quote(str(plain))
    await world.run(f"cd {place}; git init -q .; mkdir .git; git init -q --bare .; echo x > HEAD; true")
    assert not (plain / ".git").exists()
    assert not (plain / "HEAD").exists()


async def test_a_break_in_the_middle_is_told_and_commands_ask(world: World, monkeypatch: pytest.MonkeyPatch):
    assert not (await world.run("true")).is_error
    plan = world.sandbox.plan
    monkeypatch.setattr(
        world.sandbox, "plan", lambda *a, **k: {**plan(*a, **k), "tmp": "/proc/nonexistent/x", "bwrap": "/none"}
    )
    result = await world.run("touch src/ran")
    if world.kind == "landlock":
        return  # a missing place grants nothing there, and nothing breaks
    assert result.is_error
    assert not (world.ws / "src" / "ran").exists()
    assert "nothing was run" in result.text
    assert any("stopped working" in getattr(block, "text", "") for block in result.display)
    assert not world.sandbox.enforced
