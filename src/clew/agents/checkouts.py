"""Checkouts of isolated agents: each has a receipt, and none is removed while it holds the only copy of something.

Receipts lie in `$CLEW_HOME/worktrees`, where no command can write; the checkouts lie beside `$CLEW_HOME`, because a
command sees nothing of `$CLEW_HOME` itself. A receipt is written before its checkout exists and removed after it.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.ids import AgentId
from clew.system.environment import find_program
from clew.system.git.borrowed import Borrower, CheckoutProblem, CheckoutState
from clew.system.git.layout import find_repository
from clew.system.private_files import private_dir, replace_private
from clew.system.sandbox.policy import remove_tree
from clew.transcript.log.lease import Owner, this_process

REFS = "refs/clew"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What a person may call a checkout: it is a file name and part of a ref."""


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is on disk about one checkout."""

    agent: AgentId
    session: str
    root: str
    """The root of the repository that it was made from."""
    path: str
    branch: str
    base: str
    """The commit that it began with."""
    state: Literal["making", "ready", "kept", "removing"]
    owner: Owner
    """The process that works with it; `kept` ones have none."""
    why: str = ""
    """Of a kept one: what it holds, or why nobody could tell."""
    carried: str = ""
    """The commit of the uncommitted changes that it began with; empty: it began with its base."""
    lacking: int = 0
    """Uncommitted changes of the repository's own checkout that it began without."""
    saved: bool = False
    """Of a kept one: all that it held when its agent ended is in the repository."""

    @property
    def ref(self) -> str:
        """Where in the repository its work is saved."""
        return f"{REFS}/{self.agent}"

    @property
    def in_use(self) -> bool:
        """A process that still runs works with it."""
        return self.state != "kept" and self.owner.alive()


class Settled(Struct, frozen=True, kw_only=True):
    """What became of a checkout when its agent ended."""

    words: str
    path: str = ""
    """Where it stays; empty: it is gone."""
    ref: str = ""
    """Where in the repository its work is; empty: there is none, or it could not be saved."""
    carried: str = ""
    """The commit that its work begins after, where it began with uncommitted changes of the repository's checkout."""


class Checkouts:
    """All checkouts of a user: those of this process are made and settled, those of dead ones are found."""

    def __init__(self, home: Path, *, search_path: str = "") -> None:
        self._receipts = home / "worktrees"
        self._trees = Path(f"{os.path.realpath(home)}-worktrees")
        self._search_path = search_path

    def make(
        self,
        agent: AgentId,
        session: str,
        root: Path,
        *,
        base: str = "",
        changes: bool = False,
        withheld: Callable[[str], bool] | None = None,
    ) -> Receipt:
        """A new checkout of what the repository around `root` has checked out, or of `base`. `changes`: with what is
        uncommitted there, but for files that are `withheld`. Raises ValueError, in words for the model, and then
        nothing of it is left."""
        self.recover()
        try:
            borrower = self._borrower(root)
            top = os.path.realpath(root)
            if f"{self._trees}/".startswith(f"{top}/"):
                raise CheckoutProblem("clew's own directory lies in the project, so a checkout would lie in it too")
            path = self._trees / agent
            if os.path.lexists(path):
                raise CheckoutProblem(f"{path} is there already")
            again, base = bool(base), base or borrower.head()
        except CheckoutProblem as error:
            raise ValueError(f"a checkout of its own cannot be had: {error}") from error
        receipt = Receipt(
            agent=agent,
            session=session,
            root=top,
            path=str(path),
            branch=f"clew/{agent}",
            base=base,
            state="making",
            owner=this_process("clew"),
        )
        try:
            private_dir(self._trees)
            self._write(receipt)
            borrower.make(Path(receipt.path), branch=receipt.branch, base=base)
            if not again:
                receipt = carrying(borrower, receipt, changes=changes, withheld=withheld)
            return self._write(replace(receipt, state="ready"))
        except (CheckoutProblem, OSError) as error:
            with contextlib.suppress(OSError):
                self._remove(receipt)
            raise ValueError(f"a checkout of its own cannot be had: {error}") from error

    def again(self, agent: AgentId, session: str, root: Path) -> Receipt:
        """The checkout of an agent that goes on: the one it left, or, where that is gone, a new one with what was saved
        of it. Raises ValueError."""
        known = self.find(agent)
        if known is not None and known.in_use and known.owner.pid != os.getpid():
            raise ValueError(f"another process works in its checkout ({known.owner})")
        if known is not None and known.state in ("ready", "kept") and os.path.isdir(known.path):
            try:
                return self._write(replace(known, state="ready", owner=this_process("clew"), why="", saved=False))
            except OSError as error:
                raise ValueError(f"its checkout {known.path} cannot be used: {error}") from error
        saved, carried = "", ""
        with contextlib.suppress(CheckoutProblem, OSError):
            if known is not None:
                self._remove(known)
            borrower = self._borrower(root)
            saved, carried = (borrower.commit(f"{REFS}/{agent}/{name}") for name in ("head", "carried"))
        made = self.make(agent, session, root, base=saved)
        return self._write(replace(made, carried=carried)) if carried else made

    def open(
        self,
        name: str,
        session: str,
        root: Path,
        *,
        changes: bool = False,
        withheld: Callable[[str], bool] | None = None,
    ) -> Receipt:
        """The checkout of this name for a conversation: the one that was kept, one with what was saved of it, or a new
        one. Raises ValueError, in words for a person, for a bad name and for one that somebody works in."""
        if not NAME.fullmatch(name) or name.endswith((".lock", ".")) or ".." in name:
            raise ValueError(f"{name!r} is no name for a worktree: letters, digits, '-', '_' and '.', at most 60")
        self.recover()
        known = self.find(AgentId(name))
        if known is not None and known.root != os.path.realpath(root):
            raise ValueError(f"there is a worktree {name} already, made from {known.root}; give another name")
        if known is not None and known.in_use:
            raise ValueError(f"somebody works in the worktree {name} already ({known.owner}); give another name")
        if known is not None or self._saved(name, root):
            return self.again(AgentId(name), session, root)
        return self.make(AgentId(name), session, root, changes=changes, withheld=withheld)

    def release(self, receipt: Receipt) -> None:
        """Nobody works in it here any more, and another process goes on with it as it is."""
        with contextlib.suppress(OSError):
            self._write(replace(receipt, state="kept", why="handed over to another process"))

    def settle(self, receipt: Receipt, *, keep: bool = False) -> Settled:
        """Its agent has ended: an unchanged checkout goes, with its branch, unless it is to be kept; any other one
        stays, and its work is saved in the repository besides."""
        try:
            if not os.path.isdir(receipt.path):
                self._forget(receipt)
                return Settled(words=f"Its checkout {receipt.path} was removed by somebody else while it worked.")
            borrower = self._borrower(Path(receipt.root))
            state = borrower.examine(Path(receipt.path), base=receipt.base, carried=receipt.carried)
            if state.unchanged and not keep and not borrower.commit(f"{receipt.ref}/head"):
                self._remove(receipt)
                return Settled(words="It changed nothing in its checkout, which is gone.")
            borrower.save(Path(receipt.path), base=receipt.base, ref=receipt.ref, carried=receipt.carried)
            if state.nested:
                raise CheckoutProblem(f"it holds repositories of its own ({', '.join(state.nested[:5])})")
            empty = state.unchanged and not borrower.commit(f"{receipt.ref}/head")
            self._write(
                replace(receipt, state="kept", why="nothing was changed" if empty else held(state), saved=not empty)
            )
            if empty:
                return Settled(
                    words=f"Nothing was changed in the checkout; it stays at {receipt.path}.", path=receipt.path
                )
        except (CheckoutProblem, OSError) as error:
            with contextlib.suppress(OSError):  # a full disk: the next process tries again
                self._write(replace(receipt, state="kept", why=f"not saved: {error}"))
            words = f"Its checkout stays at {receipt.path}, branch {receipt.branch}; it could not be saved: {error}."
            return Settled(words=words, path=receipt.path)
        return Settled(
            words=way_back(receipt, state), path=receipt.path, ref=f"{receipt.ref}/head", carried=receipt.carried
        )

    def left_by(self, agent: AgentId) -> Settled:
        """What an agent left whose process died; it is settled now, if it was not."""
        self.recover(agent)
        known = self.find(agent)
        if known is None:
            return Settled(words="")
        ref = f"{known.ref}/head" if known.saved else ""
        return Settled(words=known.why, path=known.path, ref=ref, carried=known.carried if ref else "")

    def clean(self, receipt: Receipt) -> str:
        """Remove a checkout that nobody works with, once all that it holds is in the repository. What was done."""
        with self._alone():
            if receipt.in_use:
                return f"{receipt.path}: an agent works there; it stays"
            if receipt.state in ("making", "removing") or not os.path.isdir(receipt.path):
                self._remove(receipt)
                return f"{receipt.path}: removed what was left of it"
            try:
                borrower = self._borrower(Path(receipt.root))
                state = borrower.save(Path(receipt.path), base=receipt.base, ref=receipt.ref, carried=receipt.carried)
            except (CheckoutProblem, OSError) as error:
                return f"{receipt.path}: stays, because it could not be saved: {error}"
            if state.nested:
                return f"{receipt.path}: stays, because it holds repositories of its own: {', '.join(state.nested[:5])}"
            saved = bool(borrower.commit(f"{receipt.ref}/head"))
            self._remove(receipt)
            return f"{receipt.path}: removed; " + (
                f"its work is in {receipt.ref}/head" if saved else "it was unchanged"
            )

    def recover(self, only: AgentId | None = None) -> None:
        """Finish what dead processes left half done, or what is left of `only` one agent: what was being made or
        removed goes, the rest is settled."""
        left = [receipt for receipt in self.all() if receipt.state != "kept" and not receipt.in_use]
        left = [receipt for receipt in left if only is None or receipt.agent == only]
        if not left:
            return
        with self._alone():
            for receipt in left:
                now = self.find(receipt.agent)
                if now is None or now.state == "kept" or now.in_use:
                    continue
                with contextlib.suppress(OSError):  # a full disk: the receipt stays, and so does the checkout
                    if now.state == "ready":
                        self.settle(now)
                    else:
                        self._remove(now)

    def _saved(self, name: str, root: Path) -> bool:
        """Whether the repository has work of a checkout of this name."""
        try:
            return bool(self._borrower(root).commit(f"{REFS}/{name}/head"))
        except CheckoutProblem:
            return False

    def find(self, agent: AgentId) -> Receipt | None:
        """The receipt of an agent."""
        try:
            return msgspec.json.decode((self._receipts / f"{agent}.json").read_bytes(), type=Receipt)
        except (OSError, ValueError, msgspec.DecodeError):
            return None

    def all(self) -> list[Receipt]:
        """Every receipt that can be read."""
        try:
            names = sorted(os.listdir(self._receipts))
        except OSError:
            return []
        found = (self.find(AgentId(name.removesuffix(".json"))) for name in names if name.endswith(".json"))
        return [receipt for receipt in found if receipt is not None]

    def _borrower(self, root: Path) -> Borrower:
        repository = find_repository(root)
        if repository is None:
            raise CheckoutProblem(f"{root} is in no git repository")
        program = find_program("git", env={"PATH": self._search_path}, outside=(repository.root, repository.common_dir))
        if not program:
            raise CheckoutProblem("there is no git program")
        return Borrower(program, repository)

    def receipt_path(self, receipt: Receipt) -> Path:
        """The file of a receipt."""
        return self._receipts / f"{receipt.agent}.json"

    def _write(self, receipt: Receipt) -> Receipt:
        replace_private(self.receipt_path(receipt), msgspec.json.encode(receipt) + b"\n")
        return receipt

    def _remove(self, receipt: Receipt) -> None:
        self._write(replace(receipt, state="removing"))
        remove_tree(receipt.path)
        if not os.path.lexists(receipt.path):
            self._forget(receipt)

    def _forget(self, receipt: Receipt) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.receipt_path(receipt))

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        """No two processes settle the leftovers of a third."""
        private_dir(self._receipts)
        descriptor = os.open(self._receipts / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def seen_places(receipt: Receipt) -> tuple[str, ...]:
    """What a checkout borrows from, where that lies outside the repository's own root."""
    repository = find_repository(Path(receipt.root))
    return (str(repository.common_dir),) if repository is not None else ()


def carrying(borrower: Borrower, receipt: Receipt, *, changes: bool, withheld: Callable[[str], bool] | None) -> Receipt:
    """The receipt of a new checkout with the uncommitted changes that it was given, or their number where it was not.
    Raises CheckoutProblem where they are wanted and cannot be had."""
    path = Path(receipt.path)
    try:
        found = borrower.uncommitted(path, withheld=withheld)
    except CheckoutProblem:
        if changes:
            raise
        return receipt
    if not changes or not found.names:
        return replace(receipt, lacking=len(found.names) + len(found.kept_back))
    return replace(receipt, carried=borrower.carry(path, found), lacking=len(found.kept_back))


def way_back(receipt: Receipt, state: CheckoutState) -> str:
    """How the work of a checkout comes into the repository's own, in words for whoever takes it."""
    start = receipt.carried or receipt.base
    take = f"git merge {receipt.ref}/head"
    if receipt.carried:
        take = f"git diff --binary {receipt.carried[:12]} {receipt.ref}/head | git apply"
    began = f"the uncommitted changes it began with are the commit {receipt.carried[:12]}; " if receipt.carried else ""
    return (
        f"Its work is in {receipt.ref}/head ({held(state)}; {began}base {receipt.base[:12]}): look with git diff "
        f"{start[:12]} {receipt.ref}/head, take it with {take}. Nothing of it is in this checkout yet. Its own "
        f"checkout stays at {receipt.path}."
    )


def lacking(receipt: Receipt) -> str:
    """What a checkout began without, as a sentence; empty: nothing, as far as is known."""
    if not receipt.lacking:
        return ""
    count = f"{receipt.lacking} uncommitted change{'s' * (receipt.lacking != 1)}"
    return f"The checkout lacks {count} of the one it was made from."


def line_of(receipt: Receipt) -> str:
    """One checkout, for people."""
    if receipt.in_use:
        return f"{receipt.path}: somebody works there ({receipt.owner})"
    where = f"; saved in {receipt.ref}/head" if receipt.saved else ""
    return f"{receipt.path}: {receipt.why or 'its process died'}{where}; made from {receipt.root}"


def held(state: CheckoutState) -> str:
    """What a checkout holds, in a few words."""
    counted = ((state.commits, "commit"), (len(state.files), "uncommitted file"), (len(state.nested), "repository"))
    words = [f"{count} {name}{'s' * (count != 1)}" for count, name in counted if count]
    return ", ".join(words) or "saved before"
