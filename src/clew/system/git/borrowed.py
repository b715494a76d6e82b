"""Git makes, examines, saves and removes a borrowing checkout: a repository of its own that reads another's objects.

Nothing in the other repository is written but objects and a ref below `refs/clew/`, and only by `save`. No hook, filter
or helper of either repository runs. What the checkout's own git directory says is read by plumbing that starts nothing;
its files are compared with an index in a git directory of ours.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from clew.system.git.layout import Repository, file_start
from clew.system.git.neutral import OVERRIDES, as_flags, git_environment

TIMEOUT_S = 300.0
COPIED = ("user.name", "user.email", "core.autocrlf", "core.eol", "core.safecrlf")
"""Settings of the repository that a checkout has too: values only, none names a program or a file."""
PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "clew"), ("EMAIL", "clew@localhost"))
}
SNAPSHOT = "Uncommitted work of an agent, saved by clew"
CARRIED = "Uncommitted changes of the checkout that this one was made from, carried over by clew"
FILTERLESS = ("unspecified", "unset", "set")
"""Values of the attribute `filter` that name none."""
MAX_CARRIED_BYTES = 50_000_000
MAX_CARRIED_FILES = 5_000


class CheckoutProblem(Exception):
    """Git could not do it; the words say why."""


class CheckoutState(Struct, frozen=True, kw_only=True):
    """What a checkout holds that its repository does not."""

    head: str
    tips: tuple[str, ...] = ()
    """Commits that its refs name and no ref of the repository reaches; its HEAD first, if that is one."""
    commits: int = 0
    files: tuple[str, ...] = ()
    """Files that differ from its HEAD, or are new and not ignored."""
    nested: tuple[str, ...] = ()
    """Repositories in it that are not in its HEAD: their content cannot be saved."""

    @property
    def unchanged(self) -> bool:
        """Nothing would be lost with it but ignored files."""
        return not self.tips and not self.files and not self.nested


class Uncommitted(Struct, frozen=True, kw_only=True):
    """What differs from HEAD in the repository's own checkout."""

    names: tuple[str, ...] = ()
    """Files that can be carried over: changed, new and not ignored, or gone."""
    kept_back: tuple[str, ...] = ()
    """Those that cannot: repositories in it, files that a filter of the project makes, what nobody may read."""


class Borrower:
    """The checkouts that borrow from one trusted repository."""

    def __init__(self, program: str, repository: Repository) -> None:
        self._program = program
        self._repository = repository
        self._objects = os.path.realpath(repository.common_dir / "objects")

    def head(self) -> str:
        """The commit that is checked out in the repository. Raises CheckoutProblem."""
        if commit := self.commit("HEAD"):
            return commit
        raise CheckoutProblem("the repository has no commit yet")

    def make(self, path: Path, *, branch: str, base: str) -> None:
        """A checkout of `base` at `path`, which must not exist, on a branch of its own. Raises CheckoutProblem."""
        if path.exists() or path.is_symlink():
            raise CheckoutProblem(f"{path} is there already")
        self._init(path, branch=branch, alternates=(self._objects,), base=base)
        git_dir = path / ".git"
        refs = self._main("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
        copied = (line.replace(" refs/heads/", " refs/remotes/origin/") for line in refs.splitlines())
        (git_dir / "packed-refs").write_text("".join(f"{line}\n" for line in copied), encoding="utf-8")
        if shallow := file_start(self._repository.common_dir / "shallow", 10_000_000):
            (git_dir / "shallow").write_bytes(shallow)
        self._git(("update-ref", f"refs/heads/{branch}", base), cwd=path)
        self._git(("read-tree", "-u", "--reset", "HEAD"), cwd=path)

    def uncommitted(self, path: Path, *, withheld: Callable[[str], bool] | None = None) -> Uncommitted:
        """What is not committed where the new checkout at `path` was made from; nothing there is written, and no
        filter runs. `withheld`: whether a file may not be read. Raises CheckoutProblem."""
        with TemporaryDirectory(prefix="clew-look-") as place:
            env = self._beside(path, Path(place) / "index")
            self._git(("read-tree", "HEAD"), cwd=self._repository.root, env=env)
            return self._differing(env, withheld)

    def carry(self, path: Path, found: Uncommitted) -> str:
        """Put these into the new checkout as one commit, which is its HEAD then; that commit. Its objects lie in the
        checkout. Raises CheckoutProblem, also where they are too many or too large."""
        root = self._repository.root
        size = sum(size_of(root / name) for name in found.names)
        if size > MAX_CARRIED_BYTES or len(found.names) > MAX_CARRIED_FILES:
            raise CheckoutProblem(
                f"the uncommitted changes are too large to be carried over ({len(found.names):,} files, {size:,} bytes;"
                f" at most {MAX_CARRIED_FILES:,} and {MAX_CARRIED_BYTES:,}): commit or ignore some, or go without them"
            )
        with TemporaryDirectory(prefix="clew-look-") as place:
            env = self._beside(path, Path(place) / "index")
            self._git(("read-tree", "HEAD"), cwd=root, env=env)
            given = "\0".join(found.names).encode(errors="surrogateescape")
            self._git(("update-index", "--add", "--remove", "-z", "--stdin"), cwd=root, env=env, given=given)
            tree = self._git(("write-tree",), cwd=root, env=env).strip()
        made = self._git(("commit-tree", tree, "-p", "HEAD", "-m", CARRIED), cwd=path, env=dict(PERSON)).strip()
        self._git(("update-ref", "HEAD", made), cwd=path)
        self._git(("read-tree", "-u", "--reset", "HEAD"), cwd=path)
        return made

    def _differing(self, env: dict[str, str], withheld: Callable[[str], bool] | None) -> Uncommitted:
        root = self._repository.root
        self._git(("update-index", "-q", "--refresh"), cwd=root, env=env, may_fail=True)
        listed = self._git(("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard"), cwd=root, env=env)
        staged = self._main("diff-index", "--cached", "--name-only", "--no-renames", "-z", "HEAD")
        names = dict.fromkeys(name for name in (*listed.split("\0"), *staged.split("\0")) if name)
        if not names:
            return Uncommitted()
        # Files that a sparse checkout leaves out are not there, and are not gone either.
        marked = self._main("ls-files", "-z", "-t").split("\0")
        sparse = {line[2:] for line in marked if line.startswith("S ")}
        given = "\0".join(names).encode(errors="surrogateescape")
        attributes = self._git(("check-attr", "-z", "--stdin", "filter"), cwd=root, env=env, given=given).split("\0")
        filtered = {
            name for name, value in zip(attributes[::3], attributes[2::3], strict=False) if value not in FILTERLESS
        }
        modes = self._git(("ls-files", "-z", "-s"), cwd=root, env=env).split("\0")
        inner = {line.partition("\t")[2] for line in modes if line.startswith("160000 ")}
        back: list[str] = []
        found: list[str] = []
        for name in names:
            if name in sparse and not os.path.lexists(root / name):
                continue
            cannot = name.endswith("/") or name in inner or name in filtered or os.path.isdir(root / name)
            cannot = cannot or (withheld is not None and withheld(str(root / name)))
            (back if cannot else found).append(name)
        return Uncommitted(names=tuple(found), kept_back=tuple(back))

    def examine(self, path: Path, *, base: str, carried: str = "") -> CheckoutState:
        """What it holds; `carried`: the commit that came with it. Raises CheckoutProblem where that cannot be told;
        then nothing may be removed."""
        with TemporaryDirectory(prefix="clew-look-") as place:
            return self._examine(path, Path(place) / "look", base=base, carried=carried)

    def save(self, path: Path, *, base: str, ref: str, carried: str = "") -> CheckoutState:
        """All that it holds, uncommitted files as a commit of their own, goes into the repository: `ref`/head, and
        `ref`/1, `ref`/2 … for other branches and stashes; `ref`/carried for the commit that it began with, if it is one
        of uncommitted changes. What it held. Raises CheckoutProblem."""
        with TemporaryDirectory(prefix="clew-look-") as place:
            look = Path(place) / "look"
            state = self._examine(path, look, base=base, carried=carried)
            tips, env = list(state.tips), self._looking(path, look)
            if state.files:
                listed = "\0".join(state.files).encode(errors="surrogateescape")
                self._git(("update-index", "--add", "--remove", "-z", "--stdin"), cwd=path, env=env, given=listed)
                tree = self._git(("write-tree",), cwd=path, env=env).strip()
                words = ("commit-tree", tree, "-p", state.head, "-m", SNAPSHOT)
                made = self._git(words, cwd=path, env={**env, **PERSON}).strip()
                tips = [made, *(tip for tip in tips if tip != state.head)]
            elif tips and tips[0] != state.head:
                tips = [state.head, *tips]
            if tips:
                borrowed = (path / ".git" / "objects", look / ".git" / "objects")
                names = [f"{ref}/head", *(f"{ref}/{number}" for number in range(1, len(tips)))]
                if carried:
                    names, tips = [*names, f"{ref}/carried"], [*tips, carried]
                self._take_over(dict(zip(names, tips, strict=True)), borrowed, base=base)
            return state

    def commit(self, name: str) -> str:
        """The commit that a ref of the repository names; empty: there is no such ref."""
        words = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return self._run(words, may_fail=True).decode(errors="replace").strip()

    def _examine(self, path: Path, look: Path, *, base: str, carried: str) -> CheckoutState:
        git_dir = path / ".git"
        if git_dir.is_symlink() or not git_dir.is_dir():
            raise CheckoutProblem("its git directory is gone or was replaced")
        objects = git_dir / "objects"
        own = (f"--git-dir={git_dir}",)
        head = self._git((*own, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"), cwd=path).strip()
        refs = self._git((*own, "for-each-ref", "--format=%(objectname)"), cwd=path).split()
        borrowing = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)}
        known = self._known(base) + (f"^{carried}\n" if carried else "")
        tips: list[str] = []
        for tip in dict.fromkeys((head, *refs)):
            given = f"{tip}\n{known}" + "".join(f"^{one}\n" for one in tips)
            if self._main("rev-list", "--max-count=1", "--stdin", env=borrowing, given=given.encode()).strip():
                tips.append(tip)
        given = "".join(f"{tip}\n" for tip in tips) + known
        commits = self._main("rev-list", "--count", "--stdin", env=borrowing, given=given.encode()) if tips else "0"
        self._init(look, branch="look", alternates=(self._objects, os.path.realpath(objects)), base=base)
        env = self._looking(path, look)
        self._git(("read-tree", head), cwd=path, env=env)
        self._git(("update-index", "-q", "--refresh"), cwd=path, env=env, may_fail=True)
        listed = self._git(("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard"), cwd=path, env=env)
        names = tuple(dict.fromkeys(name for name in listed.split("\0") if name))
        return CheckoutState(
            head=head,
            tips=tuple(tips),
            commits=int(commits),
            files=tuple(name for name in names if not name.endswith("/")),
            nested=tuple(name for name in names if name.endswith("/")),
        )

    def _take_over(self, refs: Mapping[str, str], borrowed: Sequence[Path], *, base: str) -> None:
        """The objects first, each one looked at; the refs only when every object is there."""
        env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(map(str, borrowed))}
        wanted = "".join(f"{tip}\n" for tip in refs.values()) + self._known(base)
        packed = self._run(("pack-objects", "--revs", "--stdout", "-q"), env=env, given=wanted.encode())
        self._main("index-pack", "--stdin", "--fix-thin", "--strict", given=packed)
        self._main("rev-list", "--objects", "--quiet", "--stdin", given=wanted.encode())
        orders = "".join(f"update {name} {tip}\n" for name, tip in refs.items())
        self._main("update-ref", "--stdin", given=orders.encode())

    def _known(self, base: str) -> str:
        """What the repository has, as lines that leave it out of a walk."""
        refs = self._main("for-each-ref", "--format=%(objectname)").split()
        return "".join(f"^{commit}\n" for commit in dict.fromkeys((base, self.commit("HEAD") or base, *refs)))

    def _init(self, path: Path, *, branch: str, alternates: Sequence[str], base: str) -> None:
        if any("\n" in one or one.startswith(('"', "#")) for one in alternates):
            raise CheckoutProblem("the path of the repository cannot be written into a list of object stores")
        form = "sha256" if len(base) == 64 else "sha1"
        words = ("init", "-q", "--template=", f"--object-format={form}", "-b", branch, str(path))
        self._git(words, cwd=path.parent)
        git_dir = path / ".git"
        for name in ("info", "hooks", "objects/info"):
            (git_dir / name).mkdir(exist_ok=True)
        lines = "".join(f"{one}\n" for one in alternates)
        (git_dir / "objects" / "info" / "alternates").write_text(lines, encoding="utf-8", errors="surrogateescape")
        (git_dir / "info" / "exclude").write_bytes(file_start(self._repository.common_dir / "info" / "exclude"))
        for key in COPIED:
            if value := self._run(("config", "--get", key), may_fail=True).decode(errors="replace").strip():
                self._git(("config", key, value), cwd=path)

    def _beside(self, path: Path, index: Path) -> dict[str, str]:
        """The repository's own files against an index of ours, with the settings and the objects of the checkout."""
        return {
            "GIT_DIR": str(path / ".git"),
            "GIT_WORK_TREE": str(self._repository.root),
            "GIT_INDEX_FILE": str(index),
        }

    def _looking(self, path: Path, look: Path) -> dict[str, str]:
        return {"GIT_DIR": str(look / ".git"), "GIT_WORK_TREE": str(path), "GIT_INDEX_FILE": str(look / "index")}

    def _main(self, *words: str, env: dict[str, str] | None = None, given: bytes = b"") -> str:
        """A command in the repository itself."""
        return self._run(words, env=env or {}, given=given).decode(errors="surrogateescape")

    def _git(
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        env: dict[str, str] | None = None,
        given: bytes = b"",
        may_fail: bool = False,
    ) -> str:
        """A command in a checkout."""
        return self._run(words, cwd=cwd, env=env, given=given, may_fail=may_fail).decode(errors="surrogateescape")

    def _run(
        self,
        words: Sequence[str],
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        given: bytes = b"",
        may_fail: bool = False,
    ) -> bytes:
        try:
            done = subprocess.run(
                [self._program, "--no-pager", *as_flags(OVERRIDES), *words],
                cwd=cwd or self._repository.root,
                env={**git_environment(), **(env or {})},
                input=given,
                capture_output=True,
                timeout=TIMEOUT_S,
                start_new_session=True,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise CheckoutProblem(f"git could not be run: {error}") from error
        if done.returncode and not may_fail:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise CheckoutProblem(said[-1][:300] if said else f"git {words[0]} ended with {done.returncode}")
        return done.stdout


def size_of(path: Path) -> int:
    """The bytes of a file or link; 0: it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
