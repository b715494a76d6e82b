"""Commits of a confined command that bring protected names: the refs that lead to them are moved back, and told.

A commit may hold what the user has: a file of the work tree, an entry that was staged, a content of the history before.
Anything else under a protected name was written past the sandbox, and the user's next checkout, reset or rebase would
put it into the work tree. Standard library only.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clew.system.git.index_entries import IndexEntry
from clew.system.git.keeper_call import KeptRepository
from clew.system.git.left_behind import HeldFolder, Judged
from clew.system.git.planted_index import is_file
from clew.system.git.refs import STASH_LOG, Refs, RefsUnclear, inner_text, refs_of
from clew.text.guarded_names import protected_name

MAX_COMMITS = 5_000
MAX_NAMES = 200
MAX_MOVED = 500
MAX_LINE_WORDS = 8
_FETCHED = ("refs/remotes/", "refs/tags/", "FETCH_HEAD")
"""What a fetch moves; where commands have the network these are what others have published."""


class CommitsUnclear(Exception):
    """Git cannot say what these commits hold."""


class BroughtName(NamedTuple):
    """A protected name in a new commit."""

    commit: str
    path: str


class NewCommits:
    """Judges the commits that came into being since `before`."""

    def __init__(self, git: HeldFolder, before: Refs, index: dict[str, IndexEntry]) -> None:
        """`index`: protected names that were staged before."""
        self._git = git
        self._before = before
        self._index = index
        self._repository = KeptRepository(git.path)
        self._tips = before.tips()
        self._harmless: dict[tuple[str, str], bool] = {}

    def moved(self, *, network: bool) -> tuple[list[Judged], list[Judged]]:
        """Refs that lead to a planted name are moved back. What was taken, and what could not be judged."""
        try:
            now = refs_of(self._git)
        except RefsUnclear as problem:
            return [], [Judged(os.path.join(self._git.path, "refs"), "", f"its refs cannot be judged: {problem}")]
        taken = [self._delete(ref, "it puts one object in the place of another") for ref in self._replaced(now)]
        try:
            moved = self._moved(now)
            planted = self.planted({ref: rev for ref, rev in moved.items() if not (network and is_fetched(ref))})
        except CommitsUnclear as problem:
            return taken, [Judged(os.path.join(self._git.path, "refs"), "", str(problem))]
        unclear: list[Judged] = []
        if "HEAD" in planted:
            self._restore_head()
        for ref, brought in planted.items():
            judged = self._restored(ref, brought)
            (taken if judged.why.startswith("it led") else unclear).append(judged)
        return taken, unclear

    def put_back(self) -> None:
        """After links were taken away: refs and HEAD that were behind them are as they were."""
        if self._before.head and not self._git.mode("HEAD"):
            replaced_text(self._git, "HEAD", f"{self._before.head}\n")
        with contextlib.suppress(RefsUnclear, OSError):
            if not self._git.mode("refs"):
                os.mkdir("refs", dir_fd=self._git.descriptor)  # without it git sees no repository
            now = refs_of(self._git).named
            for ref, commit in self._before.named.items():
                if ref not in now and not commit.startswith("ref:"):
                    self._repository.write(["update-ref", "--no-deref", ref, commit], locks=(ref, "packed-refs"))

    def _moved(self, now: Refs) -> dict[str, str]:
        """Each ref that moved, by its name; files that name commits once for each word."""
        moved = {ref: ref for ref, value in now.named.items() if self._before.named.get(ref) != value}
        if now.head != self._before.head:
            moved["HEAD"] = "HEAD"
        files = {name: (self._before.pseudo.get(name, ""), text) for name, text in now.pseudo.items()}
        files[STASH_LOG] = (self._before.stash_log, now.stash_log)
        for name, (before, text) in files.items():
            moved |= {f"{name}:{word}": word for word in new_words(before, text)}
        return moved

    def planted(self, revisions: dict[str, str]) -> dict[str, BroughtName]:
        """Which of these revisions lead to a protected name that the user has not. Raises CommitsUnclear."""
        commits = self._resolved(revisions)
        if not commits:
            return {}
        if len(commits) > MAX_MOVED:
            raise CommitsUnclear("more refs moved than are looked at")
        brought = {name.commit: name for name in self._brought(self._new(set(commits.values())))}
        if not brought:
            return {}
        found: dict[str, BroughtName] = {}
        for label, commit in commits.items():
            name = next((brought[one] for one in self._new({commit}) if one in brought), None)
            if name is not None:
                found[label] = name._replace(commit=commit)
        return found

    def _resolved(self, revisions: dict[str, str]) -> dict[str, str]:
        """The commits that these revisions name, without those that were there."""
        plain = {label: rev for label, rev in revisions.items() if rev and "\n" not in rev}
        if not plain:
            return {}
        text = "".join(f"{rev}^{{commit}}\n" for rev in plain.values())
        listed = self._repository.run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], text)
        if listed is None:
            raise CommitsUnclear("git cannot say where its refs lead")
        answers = zip(plain, listed.splitlines(), strict=False)
        pairs = ((label, line.split()) for label, line in answers)
        return {label: words[0] for label, words in pairs if words[1:] == ["commit"] and words[0] not in self._tips}

    def _new(self, commits: Iterable[str]) -> list[str]:
        """All commits that they bring."""
        lines = [*sorted(commits), *(f"^{tip}" for tip in sorted(self._tips))]
        words = ["rev-list", "--ignore-missing", f"--max-count={MAX_COMMITS + 1}", "--stdin"]
        listed = self._repository.run(words, "\n".join(lines) + "\n")
        if listed is None:
            raise CommitsUnclear("git cannot list the new commits")
        found = listed.split()
        if len(found) > MAX_COMMITS:
            raise CommitsUnclear("there are more new commits than are looked at")
        return found

    def _brought(self, commits: list[str]) -> Iterator[BroughtName]:
        """Protected names of these commits, one for each commit that has any."""
        if not commits:
            return
        words = ["diff-tree", "--stdin", "-r", "-z", "-m", "--root", "--no-renames", "--raw", "--no-abbrev"]
        listed = self._repository.run(words, "\n".join(commits) + "\n")
        if listed is None:
            raise CommitsUnclear("git cannot say what the new commits change")
        commit, done = "", set[str]()
        fields = iter(listed.split("\0"))
        for field in fields:
            if not field.startswith(":"):
                commit = field.split()[0] if field.strip() else commit
                continue
            path = next(fields, "")
            mode, name, status = field.split()[1], field.split()[3], field.split()[4]
            if commit not in done and status != "D" and protected_name(path) and not self._has(path, name, mode):
                done.add(commit)
                yield BroughtName(commit, path)

    def _has(self, path: str, name: str, mode: str) -> bool:
        """Whether the user has this content under this name."""
        key = (path, name)
        if key not in self._harmless:
            if len(self._harmless) >= MAX_NAMES:
                return False
            entry = IndexEntry(int(mode, 8), name, 0, path)
            staged = self._index.get(path)
            own = (staged is not None and staged.object == name) or is_file(self._repository.root, entry)
            self._harmless[key] = own or self._in_history(path, name)
        return self._harmless[key]

    def _in_history(self, path: str, name: str) -> bool:
        """Whether a commit before the command had it."""
        if not self._tips:
            return False
        words = ["log", "-1", "-m", "--format=%H", f"--find-object={name}", "--ignore-missing", "--stdin"]
        text = "".join(f"{tip}\n" for tip in sorted(self._tips))
        return bool((self._repository.run(words, f"{text}--\n{path}\n") or "").strip())

    def _replaced(self, now: Refs) -> list[str]:
        old = self._before.named
        return [ref for ref, value in now.named.items() if ref.startswith("refs/replace/") and old.get(ref) != value]

    def _delete(self, ref: str, why: str) -> Judged:
        done = self._repository.write(["update-ref", "--no-deref", "-d", ref], locks=(ref, "packed-refs"))
        return Judged(os.path.join(self._git.path, ref), "", why if done else f"{why}, and stays")

    def _restore_head(self) -> None:
        head = self._before.head
        if head.startswith("ref:"):
            words = ["symbolic-ref", "HEAD", head.removeprefix("ref:").strip()]
        else:
            words = ["update-ref", "--no-deref", "HEAD", head]
        if head:
            self._repository.write(words, locks=("HEAD",))

    def _restored(self, ref: str, brought: BroughtName) -> Judged:
        """Put one ref back to where it was."""
        why = f"it led to {brought.commit[:12]}, which brings {brought.path} with a content that no file has"
        path = os.path.join(self._git.path, ref)
        if ref == "HEAD":
            now = (self._git.text("HEAD") or "").strip()
            return Judged(path, "", why if now == self._before.head else f"It stays: {why}")
        name, file, _ = ref.partition(":")
        if file:
            text = self._before.stash_log if name == STASH_LOG else self._before.pseudo.get(name, "")
            done = inner_text(self._git, name) == text or replaced_text(self._git, name, text)
            return Judged(os.path.join(self._git.path, name), "", why if done else f"It stays: {why}")
        old = self._before.named.get(ref, "")
        if old.startswith("ref:"):
            words = ["symbolic-ref", ref, old.removeprefix("ref:").strip()]
        else:
            words = ["update-ref", "--no-deref", ref, old] if old else ["update-ref", "--no-deref", "-d", ref]
        done = self._repository.write(words, locks=(ref, "packed-refs"))
        where = f"; it is at {old[:12]} again" if old else ""
        return Judged(path, "", f"{why}{where}" if done else f"It stays: {why}")


def is_fetched(ref: str) -> bool:
    return ref.startswith(_FETCHED)


def new_words(before: str, now: str) -> list[str]:
    """The first words of the lines that are in `now` only, as they might name commits."""
    known = set(before.splitlines())
    lines = [line for line in now.splitlines() if line not in known and not line.startswith("#")]
    if len(lines) > MAX_COMMITS:
        raise CommitsUnclear("it has more lines than are looked at")
    return list(dict.fromkeys(word for line in lines for word in line.split()[:MAX_LINE_WORDS]))


def replaced_text(git: HeldFolder, path: str, text: str) -> bool:
    """Write a small file of a git directory anew, without following links; an empty text removes it."""
    folder, _, name = path.partition("/")
    if name:
        with git.inner(folder) as inner:
            return inner is None or replaced_text(inner, name, text)
    try:
        if git.mode(path):
            os.unlink(path, dir_fd=git.descriptor)
        if text:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(path, flags, 0o644, dir_fd=git.descriptor), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    return True
