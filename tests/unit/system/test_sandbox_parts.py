"""The parts of the sandbox that can be read: filter programs, profiles, plans, placeholders."""

import fcntl
import os
import struct
from pathlib import Path

import pytest

from clew.system.sandbox import bubblewrap, landlock, placeholders, seatbelt, seccomp, status
from clew.system.sandbox.names import hidden_paths, protected_paths
from clew.system.sandbox.plan import Plan
from clew.system.sandbox.policy import remove_tree
from clew.system.sandbox.status import Attempt, SandboxStatus, judge

ALLOWED, REFUSED, KILLED, ABSENT = 0x7FFF0000, 0x00050001, 0x80000000, 0x00050026


def decide(program: bytes, *, arch: int, number: int, argument: int = 0) -> int:
    """A tiny interpreter of the instructions we use."""
    code = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    memory = {0: number, 4: arch, 16: argument & 0xFFFFFFFF}
    accumulator = position = 0
    while True:
        operation, yes, no, value = code[position]
        position += 1
        if operation == seccomp.BPF_RETURN:
            return value
        if operation == seccomp.BPF_LOAD:
            accumulator = memory[value]
        else:
            held = {
                seccomp.BPF_JEQ: accumulator == value,
                seccomp.BPF_JGE: accumulator >= value,
                seccomp.BPF_JSET: bool(accumulator & value),
            }[operation]
            position += yes if held else no


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_the_filter_on_every_machine(machine: str):
    arch, special = seccomp.ARCHITECTURES[machine], seccomp.SPECIAL[machine]
    shut = seccomp.program(network=False, machine=machine)
    opened = seccomp.program(network=True, machine=machine)
    for number in (*seccomp.FORBIDDEN[machine].values(), *seccomp.EVERYWHERE):
        assert decide(shut, arch=arch, number=number) == REFUSED
        assert decide(opened, arch=arch, number=number) == REFUSED
    for family in (1, 2, 10, 16, 17):
        assert decide(shut, arch=arch, number=special["socket"], argument=family) == REFUSED
        assert decide(opened, arch=arch, number=special["socket"], argument=family) == ALLOWED
    assert decide(shut, arch=arch, number=special["socketpair"], argument=1) == ALLOWED
    assert decide(shut, arch=arch, number=special["socketpair"], argument=2) == REFUSED
    assert decide(shut, arch=arch, number=special["clone"], argument=0x01200011) == ALLOWED
    assert decide(shut, arch=arch, number=special["clone"], argument=0x10000011) == REFUSED
    assert decide(shut, arch=arch, number=special["unshare"], argument=0x10000000) == REFUSED
    assert decide(shut, arch=arch, number=special["unshare"], argument=0x400) == ALLOWED
    assert decide(shut, arch=arch, number=special["clone3"]) == ABSENT
    assert decide(shut, arch=arch, number=0) == ALLOWED
    assert decide(shut, arch=0x40000003, number=0) == KILLED


def test_the_other_call_table_is_refused():
    arch = seccomp.ARCHITECTURES["x86_64"]
    assert decide(seccomp.program(network=True, machine="x86_64"), arch=arch, number=0x40000000 + 41) == REFUSED


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return {
        "kind": "bwrap",
        "namespaces": False,
        "writable": ["/w/s"],
        "pinned": ["/w/s/.git"],
        "protected": ["/w/s/.git/config"],
        "missing": ["/w/s/.mcp.json"],
        "files": ["/w/s/.mcp.json"],
        "hidden": [str(tmp_path)],
        "tmp": "/tmp/clew-x",
        "network": False,
        "bwrap": "/usr/bin/bwrap",
    }


def test_bubblewrap_arguments_in_order(plan: Plan, tmp_path: Path):
    line = bubblewrap.arguments(plan, cwd="/w/s", seccomp=5)
    text = " ".join(line)
    order = [
        "--ro-bind / /",
        "--bind /w/s /w/s",
        "--bind /w/s/.git",
        "--ro-bind-try /w/s/.git/config",
        f"--tmpfs {tmp_path}",
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)
    assert "--unshare-net" in line
    assert "--remount-ro /proc" in text
    assert text.endswith("--seccomp 5 --chdir /w/s --")
    assert "--unshare-net" not in bubblewrap.arguments({**plan, "network": True}, cwd="/", seccomp=-1)


def test_seatbelt_profile(plan: Plan):
    text = seatbelt.profile({**plan, "hidden": ["/Users/a/.ssh"]})
    order = ['(allow file-write* (subpath "/w/s"))', '(deny file-write* (subpath "/w/s/.git/config"))']
    order += [
        '(deny file-write* (subpath "/w/s/.mcp.json"))',
        '(deny file-read* file-write* (subpath "/Users/a/.ssh"))',
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)
    assert text.startswith("(version 1)\n(deny default)")
    assert text.endswith("(deny network*)\n")
    assert "(allow network*)" in seatbelt.profile({**plan, "network": True})
    assert text.count("(") == text.count(")")
    assert seatbelt.arguments(plan)[:2] == ["/usr/bin/sandbox-exec", "-p"]


def test_seatbelt_paths_cannot_write_rules():
    assert seatbelt.quoted('a"b\\c') == '"a\\"b\\\\c"'
    with pytest.raises(ValueError, match="control characters"):
        seatbelt.quoted('x")\n(allow default)')


def test_protected_and_hidden_paths(tmp_path: Path):
    root, home = tmp_path / "root", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").touch()
    (root / ".zshrc").touch()
    (home / ".ssh").mkdir(parents=True)
    existing, missing = protected_paths(str(root), str(home))
    assert {str(root / ".git/config"), str(root / ".zshrc")} <= set(existing)
    assert {str(root / ".git/hooks"), str(root / ".clew"), str(root / ".mcp.json")} <= set(missing)
    assert str(root / ".bashrc") not in missing
    assert str(home / ".bashrc") in protected_paths(str(home), str(home))[1]
    assert str(home / ".git") in protected_paths(str(home), str(home))[1]
    assert str(home / ".ssh") in hidden_paths(str(home), (), (str(root),))
    assert str(home / ".ssh") not in hidden_paths(str(home), (), (str(home / ".ssh" / "project"),))


def test_everything_but_the_hidden(tmp_path: Path):
    for name in ("a/secret", "a/open", "b"):
        (tmp_path / name).mkdir(parents=True)
    found = landlock.all_but([str(tmp_path / "a" / "secret")])
    assert str(tmp_path / "a" / "open") in found
    assert str(tmp_path / "b") in found
    assert not any(str(tmp_path / "a" / "secret").startswith(path) for path in found)


def test_placeholders_are_shared_and_the_last_one_removes(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    first, second = placeholders.hold(str(path)), placeholders.hold(str(path))
    assert first is not None
    assert second is not None
    placeholders.release(str(path), first)
    assert path.is_dir()
    placeholders.release(str(path), second)
    assert not path.exists()
    path.write_text("the user's own")
    assert placeholders.hold(str(path)) is None
    assert path.read_text() == "the user's own"


def test_a_placeholder_with_content_stays(tmp_path: Path):
    path = tmp_path / ".vscode"
    held = placeholders.hold(str(path))
    assert held is not None
    (path / "settings.json").write_text("{}")
    placeholders.release(str(path), held)
    assert (path / "settings.json").exists()
    with pytest.raises(OSError, match="Bad file descriptor"):
        fcntl.flock(held, fcntl.LOCK_UN)


def test_only_what_was_tested_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A self-test that ran out of time on a busy machine must not switch the sandbox off until the next boot."""
    attempt = Attempt(kind="bwrap", namespaces=False, checks={"starts": True})
    answers = [
        SandboxStatus(why="the sandbox self-test failed (timed out); commands ask instead"),
        SandboxStatus(kind="bwrap", tried=(attempt,)),
    ]
    monkeypatch.setattr(status, "probe_now", lambda: answers.pop(0))
    assert not status.current_status(tmp_path / "new").enforced
    assert status.current_status(tmp_path / "new").enforced
    assert status.current_status(tmp_path / "new").kind == "bwrap", "asked nobody the third time"


@pytest.mark.skipif(os.getuid() == 0, reason="root may change directories without any rights")
def test_a_temporary_tree_without_rights_is_removed(tmp_path: Path):
    (tmp_path / "tree" / "locked" / "inner").mkdir(parents=True)
    (tmp_path / "tree" / "locked" / "inner" / "file").touch()
    (tmp_path / "kept").mkdir(mode=0o500)
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "tree" / "locked" / "inner").chmod(0)
    (tmp_path / "tree" / "locked").chmod(0)
    remove_tree(str(tmp_path / "tree"))
    assert not (tmp_path / "tree").exists()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_the_first_kind_that_held_is_chosen():
    failed = Attempt(kind="bwrap", namespaces=False, checks={"starts": False, "no_tcp": True})
    alone = Attempt(kind="landlock", namespaces=False, checks={"starts": True, "no_tcp": True})
    none = judge((failed,), 0, "")
    assert not none.enforced
    assert "bwrap: starts" in none.why
    assert "ask instead" in none.why
    weak = judge((failed, alone), 3, "/usr/bin/bwrap")
    assert (weak.kind, weak.label) == ("landlock", "Landlock alone")
    assert "user namespaces" in weak.why
