"""The parts of the sandbox that can be read: filter programs, profiles, plans, trees, watches."""

import os
import struct
from pathlib import Path

import pytest

from clew.system.sandbox import confine as bubblewrap
from clew.system.sandbox import landlock, policy, seccomp, status, tree
from clew.system.sandbox.hidden import hidden_places, outermost
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.policy import entries_to_write, guarded_places, named_by_config, remove_tree, without_logins
from clew.system.sandbox.promises import promises
from clew.system.sandbox.status import SandboxStatus, SandboxTrial, judge
from clew.system.sandbox.tree import WorkspaceTree
from clew.system.sandbox.watch import MAX_TAKEN, Taken, Watch
from clew.text.guarded_names import is_public

ALLOWED, REFUSED, KILLED, ABSENT, HANDED_OVER = 0x7FFF0000, 0x00050001, 0x80000000, 0x00050026, 0x7FC00000


def decide(
    program: bytes, *, arch: int, number: int, argument: int = 0, second: int = 0, third: int = 0, fourth: int = 0
) -> int:
    """A tiny interpreter of the instructions we use."""
    code = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    memory = {0: number, 4: arch, 16: argument & 0xFFFFFFFF, 24: second, 32: third, 40: fourth}
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
    shut = seccomp.program(sockets=False, machine=machine)
    opened = seccomp.program(sockets=True, machine=machine)
    for number in (*seccomp.FORBIDDEN[machine].values(), *seccomp.EVERYWHERE):
        assert decide(shut, arch=arch, number=number) == REFUSED
        assert decide(opened, arch=arch, number=number) == REFUSED
    for family in (1, 2, 10, 16, 17):
        assert decide(shut, arch=arch, number=special["socket"], argument=family) == REFUSED
    for family in range(50):
        wanted = ALLOWED if family in (1, 2, 10, 16) else REFUSED
        assert decide(opened, arch=arch, number=special["socket"], argument=family) == wanted, family
        assert decide(opened, arch=arch, number=special["socketpair"], argument=family) == (
            ALLOWED if family == 1 else REFUSED
        )
    assert decide(opened, arch=arch, number=special["socket"], argument=16, third=12) == REFUSED, "netfilter"
    assert decide(shut, arch=arch, number=special["socketpair"], argument=1) == ALLOWED
    assert decide(shut, arch=arch, number=special["socketpair"], argument=2) == REFUSED
    assert decide(shut, arch=arch, number=special["clone"], argument=0x01200011) == ALLOWED
    assert decide(shut, arch=arch, number=special["clone"], argument=0x10000011) == REFUSED
    assert decide(shut, arch=arch, number=special["unshare"], argument=0x10000000) == REFUSED
    assert decide(shut, arch=arch, number=special["unshare"], argument=0x400) == ALLOWED
    assert decide(shut, arch=arch, number=special["clone3"]) == ABSENT
    assert decide(shut, arch=arch, number=0) == ALLOWED
    assert decide(shut, arch=0x40000003, number=0) == KILLED


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_calls_that_make_names_are_handed_over(machine: str):
    arch, making = seccomp.ARCHITECTURES[machine], seccomp.MAKING[machine]
    guarded = seccomp.program(sockets=True, guarded=True, machine=machine)
    plain = seccomp.program(sockets=True, machine=machine)
    create = {"open": {"second": 0o101}, "openat": {"third": 0o101}}
    for name, number in making.items():
        assert decide(guarded, arch=arch, number=number, **create.get(name, {})) == HANDED_OVER, name
        assert decide(plain, arch=arch, number=number, **create.get(name, {})) == ALLOWED, name
    assert decide(guarded, arch=arch, number=making["openat"], third=0o1) == ALLOWED, "opening makes no name"
    assert decide(guarded, arch=arch, number=seccomp.OPENAT2) == ABSENT
    assert decide(plain, arch=arch, number=seccomp.OPENAT2) == ALLOWED


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_no_file_carries_the_users_rights(machine: str, guarded: bool):
    arch = seccomp.ARCHITECTURES[machine]
    laid = seccomp.program(sockets=True, guarded=guarded, machine=machine)
    place = {seccomp.ARGUMENT1: "second", seccomp.ARGUMENT2: "third", seccomp.ARGUMENT3: "fourth"}
    for name, (number, where) in seccomp.MODES[machine].items():
        assert decide(laid, arch=arch, number=number, **{place[where]: 0o104755}) == REFUSED, name
        assert decide(laid, arch=arch, number=number, **{place[where]: 0o102755}) != REFUSED, name
    for number, flags, mode in seccomp.OPENS[machine].values():
        assert decide(laid, arch=arch, number=number, **{place[flags]: 0o101, place[mode]: 0o4755}) == REFUSED
        assert decide(laid, arch=arch, number=number, **{place[flags]: 0o1, place[mode]: 0o4755}) == ALLOWED


@pytest.mark.parametrize("machine", sorted(seccomp.ARCHITECTURES))
def test_what_is_shared_with_processes_outside(machine: str):
    arch = seccomp.ARCHITECTURES[machine]
    own = seccomp.program(sockets=True, machine=machine)
    shared = seccomp.program(sockets=False, own_ipc=False, machine=machine)
    for number in seccomp.SHARED_BY_NUMBER[machine]:
        assert decide(own, arch=arch, number=number) == ALLOWED
        assert decide(shared, arch=arch, number=number) == REFUSED
    assert decide(own, arch=arch, number=seccomp.PRLIMIT[machine]) == ALLOWED
    assert decide(own, arch=arch, number=seccomp.PRLIMIT[machine], argument=77) == REFUSED


def test_the_other_call_table_is_refused():
    arch = seccomp.ARCHITECTURES["x86_64"]
    assert decide(seccomp.program(sockets=True, machine="x86_64"), arch=arch, number=0x40000000 + 41) == REFUSED


@pytest.fixture
def plan(tmp_path: Path) -> SandboxPlan:
    return {
        "kind": "bwrap",
        "namespaces": False,
        "writable": ["/w/s"],
        "pinned": ["/w/s/.git"],
        "protected": ["/w/s/.git/config"],
        "guarded": [],
        "watched": [],
        "nested": True,
        "git_configs": [],
        "max_memory": 0,
        "max_processes": 0,
        "aside": "/w/aside",
        "hidden": [str(tmp_path)],
        "withheld": [],
        "shown": {"/w/s/.git/config": "/w/masks/config-0"},
        "mask_file": "/w/masks/file",
        "mask_dir": "/w/masks/directory",
        "tmp": "/tmp/clew-x",
        "kept": ["/tmp/tools"],
        "network": False,
        "bwrap": "/usr/bin/bwrap",
    }


def test_bubblewrap_arguments_in_order(plan: SandboxPlan, tmp_path: Path):
    line = bubblewrap.arguments(plan, cwd="/w/s", seccomp=5)
    text = " ".join(line)
    order = [
        "--ro-bind / /",
        "--ro-bind-try /tmp/tools /tmp/tools",
        "--bind /w/s /w/s",
        "--bind /w/s/.git",
        "--ro-bind-try /w/s/.git/config",
        "--ro-bind /w/masks/config-0 /w/s/.git/config",
        f"--ro-bind /w/masks/directory {tmp_path}",
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)
    assert "--unshare-net" in line
    assert "--remount-ro /proc" in text
    assert text.endswith("--seccomp 5 --chdir /w/s --")
    assert "--unshare-net" not in bubblewrap.arguments({**plan, "network": True}, cwd="/", seccomp=-1)


def test_where_tmp_cannot_be_written_another_place_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(policy, "REPLACED", ("/proc/nonexistent", "/proc"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = Path(policy.private_directory("-masks"))
    assert made.parent == tmp_path
    assert made.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("TMPDIR", "relative")
    with pytest.raises(OSError, match="no place for temporary files"):
        policy.private_directory()


def test_the_tree_finds_names_at_every_depth(tmp_path: Path):
    for name in (".git/hooks", "a/b/.git", "node_modules/x", "a/.github/workflows", "deep/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".env", "a/b/.env.local", "a/key.pem", "node_modules/x/.env", "a/.mcp.json", "deep/.ssh/id_rsa"):
        (tmp_path / name).write_text("x")
    (tmp_path / "a" / "link").symlink_to("/etc")
    found = WorkspaceTree(str(tmp_path)).look()
    names = [str(Path(path).relative_to(tmp_path)) for path in found.secret]
    assert sorted(names) == [".env", "a/b/.env.local", "a/key.pem", "deep/.ssh"]
    assert sorted(str(Path(path).relative_to(tmp_path)) for path in found.repositories) == [".git", "a/b/.git"]
    protected = {str(Path(path).relative_to(tmp_path)) for path in found.protected}
    assert protected == {".env", "a/b/.env.local", "a/.mcp.json", "a/.github/workflows", "deep/.ssh"}


def test_the_tree_is_kept_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a").mkdir()
    looked = WorkspaceTree(str(tmp_path))
    assert looked.look().secret == []
    (tmp_path / "a" / ".env").write_text("x")
    assert looked.look().secret == [str(tmp_path / "a" / ".env")]
    before = (tmp_path / "a").stat()
    (tmp_path / "a" / ".env.local").write_text("x")
    os.utime(tmp_path / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    monkeypatch.setattr(tree, "SETTLED_NS", -(10**15))
    assert len(looked.look().secret) == 2, "a time that was set back hides nothing"

    def forbidden(*_: object) -> None:
        raise AssertionError("a settled directory was read again")

    monkeypatch.setattr(tree, "read", forbidden)
    assert len(looked.look().secret) == 2


def test_a_tree_without_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number in range(5):
        (tmp_path / f"d{number}").mkdir()
    monkeypatch.setattr(tree, "MAX_DIRECTORIES", 3)
    assert not WorkspaceTree(str(tmp_path)).look().complete


@pytest.mark.parametrize(
    ("name", "text", "public"),
    [
        ("ca.pem", "-----BEGIN CERTIFICATE-----\nMII", True),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\nMII\n-----BEGIN RSA PRIVATE KEY-----", False),
        ("odd.pem", "nothing known", False),
        ("release.asc", "-----BEGIN PGP SIGNATURE-----", True),
        ("key.asc", "-----BEGIN PGP PRIVATE KEY BLOCK-----", False),
        (".npmrc", "save-exact=true\n", True),
        (".npmrc", "//host/:_authToken=${NPM_TOKEN}\n", True),
        (".npmrc", "//host/:_authToken=abc\n", False),
        (".npmrc", "//host/:_password=YWJj\n", False),
        (".npmrc", "_auth = YWJj\n", False),
        (".npmrc", "; _authToken=old\nregistry=x\n", True),
        (".yarnrc.yml", "nodeLinker: pnp\nyarnPath: .yarn/releases/y.cjs\n", True),
        (".yarnrc.yml", 'npmAuthToken: "abc"\n', False),
        (".yarnrc.yml", "npmAuthToken: ${TOKEN}\n", True),
        (".env", "A=1", False),
        ("server.key", "-----BEGIN CERTIFICATE-----", False),
    ],
)
def test_content_decides_only_for_some_names(name: str, text: str, public: bool):
    assert is_public(name, text.encode()) is public


def test_hidden_places(tmp_path: Path):
    home = tmp_path / "home"
    for name in (".ssh/project", ".config/gh", ".local/share/keyrings"):
        (home / name).mkdir(parents=True)
    (home / ".pgpass").touch()
    (home / "notes.txt").touch()
    found = hidden_places(str(home), (), ())
    assert {str(home / name) for name in (".ssh", ".config/gh", ".local/share/keyrings", ".pgpass")} <= set(found)
    assert str(home / "notes.txt") not in found
    assert str(home / ".ssh") not in hidden_places(str(home), (), (str(home / ".ssh" / "project"),))
    assert outermost({"/a", "/a-b", "/a/b", "/c/d"}) == ["/a", "/a-b", "/c/d"]


def test_with_the_top_shut_entries_are_granted_one_by_one(tmp_path: Path):
    for name in ("src", ".clew", "package/.vscode", "package/lib"):
        (tmp_path / name).mkdir(parents=True)
    protected = [str(tmp_path / ".clew"), str(tmp_path / "package" / ".vscode")]
    top = entries_to_write((str(tmp_path),), protected, inside=False)
    assert top == [str(tmp_path / "package"), str(tmp_path / "src")]
    assert entries_to_write((str(tmp_path),), protected, inside=True) == [
        str(tmp_path / "package" / "lib"),
        str(tmp_path / "src"),
    ]


def test_a_configuration_loses_its_logins_only():
    text = '[remote "o"]\n\turl = x\n[http]\n\textraheader = AUTHORIZATION: basic abc\n[credential]\n\thelper = store\n'
    assert without_logins(text) == '[remote "o"]\n\turl = x\n[http]\n\textraheader = \n[credential]\n\thelper = \n'


def test_everything_but_the_hidden(tmp_path: Path):
    for name in ("a/secret", "a/open", "b"):
        (tmp_path / name).mkdir(parents=True)
    found = landlock.all_but([str(tmp_path / "a" / "secret")])
    assert str(tmp_path / "a" / "open") in found
    assert str(tmp_path / "b") in found
    assert not any(str(tmp_path / "a" / "secret").startswith(path) for path in found)


@pytest.fixture
def watch(tmp_path: Path):
    ws = tmp_path / "ws"
    (ws / ".git" / "objects").mkdir(parents=True)
    (ws / ".env").write_text("mine")
    watched = [(ws, ""), (ws / ".git", ".git"), (ws / ".git" / "objects", ".git/objects")]
    made = Watch(
        [
            {"path": str(path), "prefix": prefix, "known": os.listdir(path), "names": [], "repository": True}
            for path, prefix in watched
        ],
        str(tmp_path / "aside"),
    )
    yield made
    made.close()


def test_a_watch_takes_what_appears(watch: Watch, tmp_path: Path):
    ws = tmp_path / "ws"
    (ws / ".claude").mkdir()
    (ws / "fine.txt").touch()
    (ws / ".git" / "commondir").write_text("evil")
    (ws / ".git" / "index.lock").touch()
    (ws / ".git" / "objects" / "info").mkdir()
    (ws / ".github" / "workflows").mkdir(parents=True)
    watch.look()
    watch.look()
    watch.sweep()
    assert sorted(os.listdir(ws)) == [".env", ".git", ".github", "fine.txt"]
    assert sorted(os.listdir(ws / ".git")) == ["index.lock", "objects"]
    assert os.listdir(ws / ".github") == os.listdir(ws / ".git" / "objects") == []
    kept = {os.path.basename(path): at for path, at in watch.taken}
    assert Path(kept["commondir"]).read_text() == "evil"
    assert set(kept) == {".claude", "commondir", "info", "workflows"}


def test_a_watch_follows_no_link(watch: Watch, tmp_path: Path):
    outside = tmp_path / "outside"
    (outside / "workflows").mkdir(parents=True)
    (tmp_path / "ws" / ".github").symlink_to(outside)
    (tmp_path / "ws" / ".mcp.json").symlink_to(outside)
    watch.look()
    watch.sweep()
    assert os.listdir(outside) == ["workflows"]
    assert not os.path.lexists(tmp_path / "ws" / ".mcp.json")


def test_a_watch_knows_an_end(watch: Watch, tmp_path: Path):
    for number in range(MAX_TAKEN + 1):
        (tmp_path / "ws" / f".env.{number}x").touch()
    with pytest.raises(Taken):
        watch.look()
    watch.sweep()
    assert sorted(os.listdir(tmp_path / "ws")) == [".env", ".git"]


def test_what_cannot_be_moved_is_removed(watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Another file system: a file is copied, a directory goes."""
    (tmp_path / "ws" / ".claude" / "a").mkdir(parents=True)
    (tmp_path / "ws" / ".claude" / "a" / "b").touch()
    (tmp_path / "ws" / ".mcp.json").write_text("evil")
    rename = os.rename

    def across(source: str, target: str, **places: int) -> None:
        if "dst_dir_fd" not in places:
            raise OSError(18, "Invalid cross-device link")
        rename(source, target, **places)

    monkeypatch.setattr(os, "rename", across)
    watch.sweep()
    assert sorted(os.listdir(tmp_path / "ws")) == [".env", ".git"]
    kept = {os.path.basename(path): at for path, at in watch.taken}
    assert kept[".claude"] == ""
    assert Path(kept[".mcp.json"]).read_text() == "evil"


def test_every_kind_has_its_promises():
    assert "protected_names_taken_away" in promises("bwrap", namespaces=False, guards=False)
    assert "protected_names_taken_away" in promises("landlock", namespaces=True, guards=False)
    assert "protected_names_refused" in promises("landlock", namespaces=True, guards=True)
    alone = promises("landlock", namespaces=False, guards=False)
    assert "no_new_names" in alone
    assert "loopback" not in alone


def test_only_what_was_tested_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A self-test that ran out of time on a busy machine must not switch the sandbox off until the next boot."""
    attempt = SandboxTrial(kind="bwrap", namespaces=False, checks={"starts": True})
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
    failed = SandboxTrial(kind="bwrap", namespaces=False, checks={"starts": False, "no_tcp": True})
    alone = SandboxTrial(kind="landlock", namespaces=False, checks={"starts": True, "no_tcp": True})
    none = judge((failed,), 0, "")
    assert not none.enforced
    assert "bwrap: starts" in none.why
    assert "ask instead" in none.why
    weak = judge((failed, alone), 3, "/usr/bin/bwrap")
    assert (weak.kind, weak.label) == ("landlock", "Landlock alone")
    assert "user namespaces" in weak.why


def test_places_that_a_git_configuration_names(tmp_path: Path):
    repository = tmp_path / "ws" / ".git"
    repository.mkdir(parents=True)
    (repository / "config").write_text(
        '[include]\n\tpath = ../one\n[includeIf "gitdir:x"]\n\tpath = two\n[core]\n\thooksPath = tools/hooks\n'
    )
    (tmp_path / "ws" / "one").write_text("[include]\n\tpath = deeper/three\n\tpath = ../one\n")
    (tmp_path / ".gitconfig").write_text("[core]\n\thooksPath = ~/hooks\n[broken")
    ws = tmp_path / "ws"
    assert named_by_config(str(repository), str(tmp_path)) == [
        str(ws / "one"), str(repository / "two"), str(ws / "tools" / "hooks"), str(ws / "deeper" / "three"),
        str(tmp_path / "one"),
    ]  # fmt: skip


def test_the_way_to_a_named_place_is_guarded(tmp_path: Path):
    (tmp_path / "tools").mkdir()
    found = guarded_places((str(tmp_path),), [], [str(tmp_path / "tools" / "hooks" / "x")])
    assert {place["path"]: place["names"] for place in found} == {
        str(tmp_path): ["tools"],
        str(tmp_path / "tools"): ["hooks"],
    }
    assert not found[0]["repository"]
