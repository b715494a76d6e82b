"""Real commands in the sandbox of this machine: what holds, what is shown, what leaving it means."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.permissions.access import ShellAccess
from clew.protocol.display import TextBlock
from clew.system.sandbox.policy import Sandbox
from clew.system.sandbox.status import SandboxStatus, SandboxTrial, find_bash, find_bwrap
from clew.tools.base import Tool, ToolContext
from clew.tools.schema import decode_arguments
from clew.tools.session import ToolSession, open_sandbox

from .conftest import Caller, timed_out, until

TRY = """
import json, sys
from clew.system.sandbox import selftest
kind, namespaces, guards, bwrap, bash = sys.argv[1:]
checks = selftest.attempt(kind, namespaces=namespaces == "yes", guards=guards == "yes", bwrap=bwrap, bash=bash)
print(json.dumps(checks))
"""


def holds(status: SandboxStatus) -> bool:
    """Whether this kind works here: what is present decides what is tested."""
    words = [
        status.kind,
        "yes" if status.namespaces else "no",
        "yes" if status.guards else "no",
        status.bwrap,
        find_bash(),
    ]
    done = subprocess.run([sys.executable, "-c", TRY, *words], capture_output=True, text=True, check=False)
    return done.returncode == 0 and all(json.loads(done.stdout).values())


CANDIDATES = {
    "bwrap": SandboxStatus(kind="bwrap", bwrap=find_bwrap()),
    "namespaces": SandboxStatus(kind="landlock", namespaces=True, guards=True),
    "landlock": SandboxStatus(kind="landlock"),
}
KINDS = {
    name: status
    for name, status in CANDIDATES.items()
    if sys.platform == "linux" and (status.bwrap or name != "bwrap") and holds(status)
}

pytestmark = pytest.mark.skipif(not KINDS, reason="no sandbox holds on this machine")


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    (path / ".ssh").mkdir(parents=True)
    (path / ".ssh" / "id_rsa").write_text("CANARY-KEY")
    (path / ".netrc").write_text("CANARY-NETRC")
    (path / "notes.txt").write_text("harmless")
    return path


@pytest.fixture
def repo(workspace: Path) -> Path:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    (workspace / ".clew").mkdir()
    (workspace / ".clew" / "settings.json").write_text("{}")
    (workspace / "src").mkdir()
    (workspace / "src" / "a.py").write_text("a = 1\n")
    return workspace


@pytest.fixture
def held(session: ToolSession, kind: str, home: Path, tmp_path: Path) -> Sandbox:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "key").write_text("CANARY-VAULT")
    session.sandbox = Sandbox(lambda: KINDS[kind], home=str(home), hidden=(str(vault),))
    return session.sandbox


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


async def test_the_workspace_and_temp_are_writable(call: Caller, held: Sandbox, repo: Path):
    result = await call(
        "Bash", command='echo new > src/b.py; echo 2 >> src/a.py; t=$(mktemp); echo x > "$t"; cat "$t"; echo $TMPDIR'
    )
    assert result.text == f"x\n{held.tmp}", result.text
    assert (repo / "src" / "b.py").read_text() == "new\n"


async def test_a_cleaned_temporary_directory_is_made_again(call: Caller, held: Sandbox, repo: Path):
    first = held.tmp
    os.rmdir(first)
    result = await call("Bash", command='echo x > "$TMPDIR/y"; cat "$TMPDIR/y"')
    assert result.text == "x"
    assert held.tmp != first


async def test_new_names_at_the_top(call: Caller, held: Sandbox, repo: Path, kind: str):
    result = await call("Bash", command="touch top.txt && mkdir build && touch build/x")
    if kind == "landlock":
        assert result.is_error
        assert "leave_sandbox" in result.text
    else:
        assert not result.is_error, result.text
        assert (repo / "build" / "x").exists()


async def test_outside_is_read_only(call: Caller, held: Sandbox, repo: Path, tmp_path: Path, home: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old").write_text("old")
    script = f"""
    O={outside}; echo x > $O/new; echo x > $O/old; rm -f $O/old; mv $O/old src/; ln $O/old src/hard
    ln -s $O src/link; echo x > src/link/new; mkdir $O/d; chmod 777 $O/old; truncate -s 0 $O/old
    echo x > /usr/local/clew-test; echo x > {home}/.bashrc; true"""
    result = await call("Bash", command=script)
    assert os.listdir(outside) == ["old"]
    assert (outside / "old").read_text() == "old"
    assert not (home / ".bashrc").exists()
    assert not Path("/usr/local/clew-test").exists()
    assert "Read-only" in result.text or "denied" in result.text or "No such file" in result.text


async def test_protected_names_stay_as_they_are(call: Caller, held: Sandbox, repo: Path):
    """S3: existing and missing, by every way a name can come into being."""
    script = """
    echo evil > .git/config; echo evil > .git/hooks/pre-commit; echo evil > .clew/settings.json; rm -rf .clew
    mv .git gone; mv .clew gone2; mkdir .claude && echo evil > .claude/settings.json; echo evil > .mcp.json
    echo evil > src/evil; mv src/evil .mcp.json; ln -s src .vscode; mkdir -p .vscode && echo evil > .vscode/tasks.json
    cp src/a.py .envrc; rmdir .mcp.json; rm -rf .git/hooks; mkdir x && mv x .idea; true"""
    await call("Bash", command=script)
    assert (repo / ".git" / "config").read_text() == "[core]\n"
    assert os.listdir(repo / ".git" / "hooks") == []
    assert (repo / ".clew" / "settings.json").read_text() == "{}"
    assert not (repo / ".mcp.json").exists()
    assert not (repo / ".envrc").exists()
    assert [path for path in repo.glob(".*/**/*") if path.is_file() and ".clew" not in path.parts] == [
        repo / ".git" / "config"
    ]
    assert await until(lambda: sorted(name for name in os.listdir(repo) if name.startswith(".")) == [".clew", ".git"])


async def test_a_missing_repository_cannot_be_planted(call: Caller, held: Sandbox, workspace: Path):
    await call("Bash", command="git init . ; mkdir .git; echo evil > .git/config; true")
    assert not (workspace / ".git" / "config").exists()
    assert await until(lambda: not (workspace / ".git").exists())


async def test_nothing_of_ours_shows_in_git(call: Caller, held: Sandbox, workspace: Path, kind: str):
    await call("Bash", command="git init -q .", leave_sandbox=True)
    result = await call("Bash", command="git status --porcelain --untracked-files=all")
    assert (result.text, result.is_error) == ("(no output)", False)


async def test_credentials_are_out_of_sight(call: Caller, held: Sandbox, repo: Path, home: Path, tmp_path: Path):
    secrets = f"{home}/.ssh/id_rsa {home}/.netrc {tmp_path}/vault/key /etc/shadow /proc/{os.getpid()}/environ"
    script = f"cat {secrets}; cat src/a.py"
    result = await call("Bash", command=script)
    assert "CANARY" not in result.text
    assert "root:" not in result.text
    assert "PYTEST_CURRENT_TEST" not in result.text
    assert "a = 1" in result.text


async def test_there_is_no_network(call: Caller, held: Sandbox, repo: Path, listener: socket.socket, tmp_path: Path):
    port = listener.getsockname()[1]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, socket.socket(socket.AF_UNIX) as local:
        datagrams.bind(("127.0.0.1", 0))
        datagrams.setblocking(False)
        local.bind("\0clew-test-" + str(os.getpid()))
        local.listen()
        local.setblocking(False)
        udp = datagrams.getsockname()[1]
        script = f"""
        exec 3<>/dev/tcp/127.0.0.1/{port}
        echo CANARY > /dev/udp/127.0.0.1/{udp}
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("\\0clew-test-{os.getpid()}")'
        python3 -c 'import socket; a, b = socket.socketpair(); print("pairs work")'"""
        result = await call("Bash", command=script)
        for server in (listener, local):
            with pytest.raises(BlockingIOError):
                server.accept()
        with pytest.raises(BlockingIOError):
            datagrams.recv(100)
    assert "pairs work" in result.text


async def test_network_when_the_user_allows_it(
    call: Caller, session: ToolSession, kind: str, repo: Path, listener: socket.socket, home: Path
):
    session.sandbox = Sandbox(lambda: KINDS[kind], network=True, home=str(home))
    await call("Bash", command=f"exec 3<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}")
    listener.accept()[0].close()


async def test_the_way_out_is_shut(call: Caller, held: Sandbox, repo: Path):
    script = f"""
    umount /tmp; mount -t tmpfs none /mnt; unshare -rm true && echo UNSHARED
    python3 - <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print("ptrace", libc.ptrace(0, 0, 0, 0))
lines = [line.split() for line in open("/proc/self/status")]
print("privileges", [line[1] for line in lines if line[0] in ("CapEff:", "NoNewPrivs:")])
END
    echo x > /proc/sys/kernel/clew_test; kill -9 {os.getpid()}; true"""
    result = await call("Bash", command=script)
    assert "UNSHARED" not in result.text
    assert "ptrace -1" in result.text
    assert "privileges ['0000000000000000', '1']" in result.text


async def test_confined_commands_end_with_all_they_started(call: Caller, held: Sandbox, progress: list[str]):
    result = await timed_out(call, "echo begin; setsid sleep 3000 & sleep 3000", lambda: progress)
    assert result.text.startswith("begin\nTimed out")


async def test_a_gentle_end_reaches_the_command(call: Caller, held: Sandbox, repo: Path, progress: list[str]):
    script = "trap 'echo bye > src/bye; exit' TERM; echo up; while :; do sleep 0.05; done"
    await timed_out(call, script, lambda: progress)
    assert (repo / "src" / "bye").read_text() == "bye\n"


async def test_exit_codes_and_directory_pass_through(call: Caller, session: ToolSession, held: Sandbox, repo: Path):
    assert "Exit code 42." in (await call("Bash", command="cd src; exit 42")).text
    assert session.cwd == str(repo / "src")
    assert "Exit code 137." in (await call("Bash", command="kill -9 $$")).text


def judged(tools: dict[str, Tool[Any]], context: ToolContext, **arguments: Any) -> ShellAccess:
    params = decode_arguments("Bash", tools["Bash"].params, {"command": "true"} | arguments)
    (access,) = tools["Bash"].accesses(params, context)
    assert isinstance(access, ShellAccess)
    return access


def test_permissions_are_told(tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext], held: Sandbox):
    inside = judged(tools, make_context())
    assert (inside.sandboxed, inside.leaves_sandbox) == (True, False)
    leaving = judged(tools, make_context(), leave_sandbox=True)
    assert (leaving.sandboxed, leaving.leaves_sandbox) == (False, True)


async def test_leaving_is_leaving(call: Caller, held: Sandbox, repo: Path, tmp_path: Path):
    await call("Bash", command=f"echo x > {tmp_path}/outside_file", leave_sandbox=True)
    assert (tmp_path / "outside_file").exists()


async def test_a_sandbox_that_breaks_runs_nothing_and_asks_from_then_on(
    call: Caller, session: ToolSession, tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext], repo: Path
):
    broken = SandboxStatus(kind="bwrap", bwrap="/proc/nonexistent/bwrap")
    session.sandbox = Sandbox(lambda: broken)
    result = await call("Bash", command="touch src/ran")
    assert "nothing was run" in result.text
    assert not (repo / "src" / "ran").exists()
    assert not session.sandbox.enforced
    assert "commands ask instead" in session.sandbox.why_not
    assert not judged(tools, make_context()).sandboxed


async def test_without_a_sandbox_the_user_hears_once(call: Caller, session: ToolSession):
    session.sandbox = Sandbox(lambda: SandboxStatus(why="no kernel support"))
    first, second = await call("Bash", command="true"), await call("Bash", command="true")
    assert first.display[1:] == (TextBlock(text="Sandbox: no kernel support."),)
    assert len(second.display) == 1


async def test_a_required_sandbox_lets_nothing_past(call: Caller, session: ToolSession, kind: str, repo: Path):
    session.sandbox = Sandbox(lambda: KINDS[kind], required=True)
    assert (await call("Bash", command="touch src/out", leave_sandbox=True)).is_error
    assert not (await call("Bash", command="touch src/in")).is_error
    session.sandbox.broke("test")
    assert (await call("Bash", command="touch src/out")).is_error
    assert sorted(os.listdir(repo / "src")) == ["a.py", "in"]


async def test_extra_writable_places_come_from_the_user(
    call: Caller, session: ToolSession, kind: str, repo: Path, tmp_path: Path
):
    extra = tmp_path / "extra"
    (extra / "sub").mkdir(parents=True)
    session.sandbox = Sandbox(lambda: KINDS[kind], writable=(str(extra),))
    assert not (await call("Bash", command=f"touch {extra}/sub/x")).is_error
    assert (extra / "sub" / "x").exists()


def test_opening_follows_the_settings(tmp_path: Path):
    assert open_sandbox(mode="off", network=False, clew_home=tmp_path) is None
    made = open_sandbox(mode="required", network=True, clew_home=tmp_path)
    assert made is not None
    assert (made.required, made.network, made.enforced) == (True, True, True)
    remembered = (tmp_path / "cache" / "sandbox.json").stat()
    assert remembered.st_mode & 0o777 == 0o600
    again = open_sandbox(mode="auto", network=False, clew_home=tmp_path)
    assert again is not None
    assert again.status == made.status
    assert (tmp_path / "cache" / "sandbox.json").stat().st_mtime_ns == remembered.st_mtime_ns
    (tmp_path / "cache" / "sandbox.json").write_text("{broken")
    mended = open_sandbox(mode="auto", network=False, clew_home=tmp_path)
    assert mended is not None
    assert mended.enforced


async def test_a_call_judged_as_held_never_runs_free(
    tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext], held: Sandbox, repo: Path
):
    context = make_context()
    params = decode_arguments("Bash", tools["Bash"].params, {"command": "touch src/ran"})
    tools["Bash"].accesses(params, context)
    held.broke("test")
    assert (await tools["Bash"].run(params, context)).is_error
    assert not (repo / "src" / "ran").exists()


def test_status_words():
    assert not SandboxStatus(why="x").enforced
    assert SandboxTrial(kind="bwrap", namespaces=False, checks={"starts": False}).held is False
