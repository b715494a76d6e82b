"""An isolated agent's commands: whatever they try, the user's checkout, its refs and the siblings keep every byte."""

import hashlib
import itertools
import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from clew.agents.checkouts import Checkouts
from clew.protocol.ids import AgentId, CallId
from clew.system.process import ProcessStarter
from clew.system.sandbox.policy import Sandbox, remove_tree
from clew.tools.base import ToolContext
from clew.tools.builtin.bash import Bash, BashParams
from clew.tools.session import ToolSession
from unit.sandbox.world import KINDS, git

PLACES = ("$MAIN", "$SIB")
IN_PLACE = (
    "echo x >> {0}/a.txt",
    "echo x > {0}/new.txt",
    "rm -rf {0}/a.txt {0}/src",
    "rm -rf {0}",
    "mv {0} {0}.away",
    "mv {0}/a.txt .",
    "ln -sfn {0} link && echo x > link/new.txt",
    "ln -sfn {0}/a.txt link && echo x > link",
    "ln {0}/a.txt hard && echo x >> hard",
    "cp -r . {0}/",
    "cd {0} && echo x > new.txt",
    "cd {0} && git commit -q --allow-empty -m x",
    "chmod -R 777 {0}",
    "touch {0}/.git/index.lock",
    "truncate -s 0 {0}/.git/HEAD",
    "python3 -c 'import os,sys; os.open(sys.argv[1]+\"/new.txt\", os.O_CREAT|os.O_WRONLY)' {0}",
    "dd if=/dev/zero of={0}/a.txt bs=1 count=1",
    "sed -i s/one/two/ {0}/a.txt",
    "tar cf - a.txt | tar xf - -C {0}",
    "find {0} -type f -delete",
    "install -m 755 a.txt {0}/hook",
    "mkdir -p {0}/deep/dir",
    "mount --bind . {0}",
    "mount -o remount,rw {0}",
    "unshare -rm sh -c 'mount -o remount,rw,bind {0}; echo x > {0}/new.txt'",
    "setfattr -n user.x -v y {0}/a.txt",
    "touch -d 2000-01-01 {0}/a.txt",
)
BY_GIT = (
    "git -C {0} commit -q --allow-empty -m x",
    "git -C {0} add -A",
    "git -C {0} checkout -q -b escaped",
    "git -C {0} reset -q --hard HEAD~0",
    "git -C {0} clean -fdxq",
    "git -C {0} update-ref refs/heads/escaped HEAD",
    "git -C {0} branch -D other",
    "git -C {0} tag escaped",
    "git -C {0} stash push -u",
    "git -C {0} config core.hooksPath /tmp",
    "git -C {0} config --worktree core.bare true",
    "git -C {0} worktree add -q ../escaped",
    "git -C {0} worktree prune",
    "git -C {0} worktree remove --force .",
    "git -C {0} gc -q --prune=now",
    "git -C {0} repack -adq",
    "git -C {0} prune --expire=now",
    "git -C {0} pack-refs --all",
    "git -C {0} reflog expire --expire=now --all",
    "git -C {0} remote add escaped .",
    "git -C {0} fetch -q $OWN HEAD:refs/heads/escaped",
    "git -C {0} pull -q $OWN HEAD",
    "git -C {0} submodule add -q $OWN sub",
    "git -C {0} notes add -m x",
    "git -C {0} replace HEAD HEAD~0",
    "git -C {0} symbolic-ref HEAD refs/heads/escaped",
    "git -C {0} apply --index patch",
    "git -C {0} sparse-checkout set src",
    "git -C {0} maintenance run",
    "git -C {0} rm -rq .",
    "GIT_DIR={0}/.git git commit -q --allow-empty -m x",
    "GIT_DIR={0}/.git git update-ref refs/heads/escaped HEAD",
    "GIT_DIR={0}/.git GIT_WORK_TREE={0} git checkout -q -f HEAD -- .",
    "GIT_WORK_TREE={0} git checkout -q -f HEAD -- .",
    "GIT_WORK_TREE={0} git reset -q --hard",
    "GIT_WORK_TREE={0} git clean -fdxq",
    "GIT_INDEX_FILE={0}/.git/index git add -A",
    "GIT_COMMON_DIR={0}/.git git update-ref refs/heads/escaped HEAD",
    "GIT_OBJECT_DIRECTORY={0}/.git/objects git hash-object -w a.txt",
    "git --git-dir={0}/.git branch escaped",
    "git --work-tree={0} checkout -q -f HEAD -- .",
    "git push -q {0} HEAD:refs/heads/escaped",
    "git push -q --force {0} HEAD:refs/heads/trunk",
    "git push -q --delete {0} other",
    "git -c receive.denyCurrentBranch=updateInstead push -q {0} HEAD:trunk",
    "git remote add there {0} && git push -q --mirror there",
    "git config core.worktree {0}; git reset -q --hard; git config --unset core.worktree",
    "git config alias.x '!echo x > {0}/new.txt' && git x",
    "git -c alias.x='!echo x > {0}/new.txt' x",
    "git -c core.fsmonitor='touch {0}/new.txt' status",
    "git -c core.pager='touch {0}/new.txt;' -c color.ui=always log",
    "git init -q --separate-git-dir={0}/.git/escaped .",
    "git init -q {0}",
    "git clone -q . {0}/cloned",
    "git clone -q --bare . {0}/.git/cloned",
    "git worktree add -q {0}/tree",
    "git bundle create -q {0}/x.bundle HEAD",
    "git archive -o {0}/x.tar HEAD",
    "git format-patch -q -o {0} --root HEAD",
    "git diff --output={0}/x.diff HEAD~0",
    "git fetch -q --write-fetch-head {0} && cp .git/FETCH_HEAD {0}/.git/",
    "git submodule add -q {0} sub; echo x > sub/../{0}/new.txt",
    "git gc -q --prune=now && git -C {0} gc -q",
    "git repack -adq && rm -f {0}/.git/objects/pack/*",
    "echo {0}/.git/objects > .git/objects/info/alternates; git hash-object -w a.txt; git gc -q",
    "printf 'gitdir: {0}/.git' > .git.new; mv .git .git.old; mv .git.new .git; git commit -q --allow-empty -m x",
    "echo {0}/.git > .git/commondir; git branch escaped; git gc -q",
    "ln -sfn {0}/.git/refs .git/refs.new; mv .git/refs .git/refs.old; mv .git/refs.new .git/refs; git branch escaped",
    "rm -rf .git && ln -s {0}/.git .git && git commit -q --allow-empty -m x",
    "rm -rf .git/objects && ln -s {0}/.git/objects .git/objects && git hash-object -w --stdin < a.txt",
    "printf '#!/bin/sh\\ntouch {0}/new.txt' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit;"
    " git commit -q --allow-empty -m x",
    "git hook run --ignore-missing post-commit; (cd {0} && git hook run pre-commit; touch new.txt)",
    "GIT_TRACE={0}/new.txt git status",
    "GIT_TRACE2_EVENT={0}/new.txt git status",
    "git -c core.hooksPath={0} commit -q --allow-empty -m x; touch {0}/post-commit",
)
ONCE = (
    "rm -rf $CLEW_PLACE/*; echo {} > $CLEW_PLACE/x.json",
    "rm -rf $TREES; mv $TREES $TREES.away",
    "echo x > $TREES/new",
    "rm -rf $(cat .git/objects/info/alternates)",
    "touch $(cat .git/objects/info/alternates)/escaped",
    "(sleep 0.2; echo x > $MAIN/late) & disown; wait",
    "setsid sh -c 'echo x > $MAIN/late' &\nwait",
    "cat $MAIN/.env $MAIN/.git/config > told.txt",
)
NOT_FOR_LANDLOCK = ("chmod ", "setfattr ", "touch -d")
"""Alone it has no rule for rights, times and attributes of files (docs/sandbox.md)."""
ALL = (*(line.replace("{0}", place) for line in (*IN_PLACE, *BY_GIT) for place in PLACES), *ONCE)
SAMPLE = tuple(itertools.chain(ALL[::6], ONCE[-3:]))


def digest(root: Path, *, times: bool) -> dict[str, str]:
    """Every entry below a place: kind, rights, the hash of what it holds, and when that was written."""
    found: dict[str, str] = {}
    for folder, directories, files in os.walk(root):
        for name in (*directories, *files):
            path = Path(folder, name)
            status = os.lstat(path)
            held = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
            link = os.readlink(path) if path.is_symlink() else ""
            written = status.st_mtime_ns if held and times else 0
            found[str(path.relative_to(root))] = f"{stat.filemode(status.st_mode)} {link}{held} {written}"
    return found


class Apart:
    """A repository, two checkouts that borrow from it, and the commands of the agent in the first."""

    def __init__(self, top: Path, kind: str, starter: ProcessStarter | None) -> None:
        self.kind = kind
        self.main, home, clew = top / "main", top / "home", top / "clew"
        (self.main / "src").mkdir(parents=True)
        home.mkdir()
        for name in ("a.txt", "src/b.txt"):
            (self.main / name).write_text("one\n")
        git("init", "-q", "-b", "trunk", ".", cwd=self.main)
        git("add", ".", cwd=self.main)
        git("commit", "-qm", "first", cwd=self.main)
        git("branch", "other", cwd=self.main)
        (self.main / ".env").write_text("KEY=marzipan-of-the-user\n")
        with (self.main / ".git" / "config").open("a") as config:
            config.write("[http]\n\textraheader = Authorization: basic marzipan-of-the-remote\n")
        (self.main / "a.txt").write_text("uncommitted\n")
        checkouts = Checkouts(clew, search_path=os.environ["PATH"])
        own, sibling = (checkouts.make(AgentId(name), "s", self.main) for name in ("0001", "0002"))
        self.own, self.sibling, self.trees = Path(own.path), Path(sibling.path), Path(own.path).parent
        self.receipts = clew / "worktrees"
        shared = Sandbox(lambda: KINDS[kind], home=str(home), hidden=(str(clew),), writable=(str(self.main),))
        self._shared = shared
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        self.session = ToolSession(
            cwd=str(self.own), sandbox=shared.apart((str(self.main),)), env=env, checkout=str(self.own)
        )
        if starter is not None:
            self.session.shells._starter = starter
        self._pristine = top / "pristine"
        shutil.copytree(self.own, self._pristine, symlinks=True)
        self._given = {
            "MAIN": self.main, "SIB": self.sibling, "OWN": self.own, "TREES": self.trees, "CLEW_PLACE": self.receipts
        }  # fmt: skip
        self._calls = 0

    def outside(self) -> dict[str, dict[str, str]]:
        """All that the agent must not change, as it is now."""
        times = self.kind != "landlock"
        below = digest(self.trees, times=times)
        trees = {name: held for name, held in below.items() if not f"{name}/".startswith("0001/")}
        return {
            "main": digest(self.main, times=times),
            "trees": trees,
            "receipts": digest(self.receipts, times=times),
        }

    async def run(self, command: str) -> str:
        """One command of the agent."""
        self._calls += 1

        async def nobody(_: object) -> None:
            return None

        context = ToolContext(call_id=CallId(f"c{self._calls}"), cwd=str(self.own), progress=lambda _: None, ask=nobody)
        given = "".join(f"export {name}={value}\n" for name, value in self._given.items())
        identity = "".join(
            f"export GIT_{who}_{what}=x@y\n" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        )
        bash = Bash(self.session)
        params = BashParams(command=f"{given}{identity}{command}")
        bash.accesses(params, context)
        return (await bash.run(params, context)).text

    def renew(self) -> None:
        """The agent's checkout as it was made; its top stays, because the sandbox knows it."""
        for entry in self.own.iterdir():
            remove_tree(str(entry)) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.copytree(self._pristine, self.own, symlinks=True, dirs_exist_ok=True)

    async def close(self) -> None:
        """End everything."""
        await self.session.close()
        self._shared.close()


@pytest.fixture
async def apart(kind: str, tmp_path: Path, starter: ProcessStarter | None) -> AsyncIterator[Apart]:
    made = Apart(tmp_path, kind, starter)
    yield made
    await made.close()


async def escapes(apart: Apart, commands: Iterable[str]) -> list[str]:
    """Those of the commands that changed something outside. Each begins in the checkout as it was made."""
    before = apart.outside()
    found: list[str] = []
    for command in commands:
        if apart.kind == "landlock" and command.startswith(NOT_FOR_LANDLOCK):
            continue
        await apart.run(command)
        after = apart.outside()
        if after != before:
            found.append(command)
            before = after
        apart.renew()
    return found


async def test_no_command_of_a_sample_changes_a_byte_outside_the_agents_checkout(apart: Apart) -> None:
    assert await escapes(apart, SAMPLE) == []


@pytest.mark.corpus
async def test_none_of_200_commands_changes_a_byte_outside_the_agents_checkout(apart: Apart) -> None:
    assert len(ALL) >= 200
    assert await escapes(apart, ALL) == []


async def test_an_isolated_agent_works_in_its_checkout_and_commits_where_mounts_hold_it(apart: Apart) -> None:
    said = await apart.run("echo two > a.txt && git add a.txt && git commit -qm two; git log --format=%s; pwd")
    assert str(apart.own) in said
    assert (apart.own / "a.txt").read_text() == "two\n"
    if apart.kind != "landlock":  # alone, it keeps every git directory read-only
        assert "two\nfirst" in said


async def test_secrets_of_the_users_checkout_stay_hidden(apart: Apart) -> None:
    said = await apart.run("cat $MAIN/.env $MAIN/.git/config; cat $MAIN/a.txt; grep -r marzipan $MAIN $SIB")
    assert "marzipan" not in said
    assert "uncommitted" in said, "the rest can be read"
