"""Carrying out a plan: each file whole or not at all, never through a link, never without a way back."""

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.ids import new_uuid
from clew.system.clock import iso_utc
from clew.system.files import kind_of, open_directory, sync_directory
from clew.system.private_files import write_all
from clew.transcript.errors import UnsafeTranscript
from clew.undo.capture import state_of
from clew.undo.errors import ContentMissing
from clew.undo.journal import FileJournal, StepLines
from clew.undo.limits import MIB
from clew.undo.packs import PackStore
from clew.undo.plan import FilePlan, RestorePlan, as_changes, forbidden, stamp_of
from clew.undo.state import ChangingCall, Checkpoint, State, path_of, path_text
from clew.undo.tree import inside

_MAX_KEPT_BYTES = 64 * MIB
_SYNC_EACH = 256
"""Up to so many files are synced one by one. More would take minutes, and a restore that a power cut hits can be
repeated: its content stays in the store."""


class Restored(Struct, frozen=True, kw_only=True):
    """What came of a restore, path by path."""

    done: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    """Left alone for want of consent, with the reason."""
    failed: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None
    """Taking this one back is the redo; None when nothing was changed."""


DRAFT = re.compile(r"\.(.{1,60})\.[0-9a-f]{12}\.clew-undo", re.DOTALL)
"""The name of a file on its way to its place."""
Progress = Callable[[int, int], None]
"""How many steps are done, and of how many paths."""
PROGRESS_EVERY = 1_000


def apply_plan(
    plan: RestorePlan,
    *,
    store: PackStore,
    journal: FileJournal,
    call: ChangingCall,
    only: Collection[str] | None = None,
    consent: Collection[str] = (),
    force: bool = False,
    progress: Progress | None = None,
    finishes: Checkpoint | None = None,
    leave_open: bool = False,
) -> Restored:
    """Restore the chosen paths (`only`: as the plan names them; None: all). Conflicts are restored only with `force` or
    when they are in `consent`. What is overwritten is kept first; what cannot be kept stays as it is. A restore of
    many paths tells how far it is, in this thread. `finishes`: the restore that this is the rest of, whose record it
    completes; what that one had done is told as done, too. `leave_open`: the caller ends the record by `write_record`,
    once it has told what was done, so that a process that dies before is told of and told again."""
    began, cut = iso_utc(time.time()), finishes or journal.unfinished()
    if cut is not None:
        remove_drafts(cut)  # first: a directory that holds one could not go
    chosen = [file for file in plan.files if only is None or file.path in only]
    skipped = [(file.path, file.impossible) for file in chosen if file.impossible]
    wanted: list[FilePlan] = []
    for file in (file for file in chosen if not file.impossible):
        if not file.conflict or force or file.path in consent:
            wanted.append(file)
        else:
            skipped.append((file.path, file.conflict))
    carrier = _Carrier(plan.roots, store, force=force, consent=consent)
    ready = [file for file in wanted if carrier.keep_present(file)]
    store.sync()
    if not ready and finishes is None:
        if cut is not None and cut.id in plan.undoes and not (skipped or carrier.failed):
            write_record(journal, replace(cut, changes=(), undoes=(), unfinished=False))  # it had changed nothing yet
        return Restored(done=(), skipped=tuple(skipped), failed=tuple(carrier.failed))
    record = finishes or Checkpoint(
        id=new_uuid(),
        at=iso_utc(time.time()),
        began=began,
        source="restore",
        call=call,
        roots=tuple(path_text(root) for root in plan.roots),
        changes=as_changes(ready),
        undoes=plan.undoes if len(ready) == len(plan.files) else (),
        unfinished=True,
    )
    # Before the first file changes: whoever finds this line knows what was meant, and goes on or takes it back.
    warnings = write_record(journal, record) if finishes is None else []
    with StepLines(journal, record.id) as steps:
        done = carrier.carry_out(ready, steps, progress)
    left = {file.path for file in plan.files} - done
    changes = tuple(change for change in record.changes if change.path not in left)
    whole = len(changes) == len(record.changes)
    record = replace(record, changes=changes, undoes=record.undoes if whole else (), unfinished=False)
    if not leave_open:
        warnings = write_record(journal, record) or warnings
    return Restored(
        done=tuple(change.path for change in changes),
        skipped=tuple(skipped),
        failed=tuple(carrier.failed),
        warnings=tuple(warnings),
        checkpoint=record,
    )


def remove_drafts(unfinished: Checkpoint) -> None:
    """Remove the files that a restore wrote beside its targets and could not put in their place."""
    names: dict[str, set[str]] = {}
    for change in unfinished.changes:
        folder, name = os.path.split(path_of(change.path))
        names.setdefault(folder, set()).add(name[:60])
    roots = [os.path.realpath(path_of(root)) for root in unfinished.roots]
    for folder, beside in names.items():
        if folder not in roots and not inside(folder, roots):
            continue
        with contextlib.suppress(OSError):
            parent = open_directory(folder)
            try:
                for entry in _listed(parent):
                    if (found := DRAFT.fullmatch(entry)) is not None and found[1] in beside:
                        os.unlink(entry, dir_fd=parent)
            finally:
                os.close(parent)


def _listed(parent: int) -> list[str]:
    """The names in a directory that is open only to reach what lies in it."""
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    try:
        return os.listdir(readable)
    finally:
        os.close(readable)


def write_record(journal: FileJournal, record: Checkpoint) -> list[str]:
    """Write down what a restore means to do or has done. A disk that refuses is one line for a person."""
    try:
        journal.add(record)
    except (OSError, UnsafeTranscript) as error:
        return [f"the restore could not be written down ({error}); it can be redone only in this session"]
    return []


class _Carrier:
    """One restore."""

    def __init__(self, roots: Collection[str], store: PackStore, *, force: bool, consent: Collection[str]) -> None:
        self.roots = list(roots)
        self.store = store
        self.force = force
        self.consent = consent
        self.failed: list[tuple[str, str]] = []
        self._linked: dict[tuple[int, str], str] = {}
        self._sync_each = True
        self._steps: StepLines | None = None
        self._progress: Progress | None = None
        self._count = self._total = 0

    def keep_present(self, file: FilePlan) -> bool:
        """Make sure that what is there now can be brought back."""
        current = file.current
        if (
            file.action == "mode"
            or current.kind not in ("file", "link")
            or (current.digest and bytes.fromhex(current.digest) in self.store)
        ):
            return True
        try:
            kept = state_of(path_of(file.path), store=self.store, max_bytes=_MAX_KEPT_BYTES)
        except OSError as error:
            return self._fail(file, error.strerror or str(error))
        if kept.digest and kept.digest == current.digest:
            return True
        if kept.digest:
            return self._fail(file, "it changed meanwhile")
        if not current.digest and (self.force or file.path in self.consent):
            return True  # the user was told that it is too large to be kept, and agreed
        return self._fail(file, f"its present content could not be kept ({kept.why}); it was left alone")

    def carry_out(self, files: list[FilePlan], steps: StepLines, progress: Progress | None = None) -> set[str]:
        """First what must go, deepest first; then directories; then contents; then modes of directories."""
        self._sync_each = len(files) <= _SYNC_EACH
        self._steps, self._progress, self._total = steps, progress, len(files)
        done: set[str] = set()
        blocked: set[str] = set()
        for file in reversed(files):
            if file.current.kind != "missing" and (file.target.kind == "missing" or self._changes_kind(file)):
                if not self._try(file, self._remove):
                    blocked.add(file.path)
                elif file.target.kind == "missing":
                    done.add(file.path)
                    steps.done(file.path)
        rest = [file for file in files if file.target.kind != "missing" and file.path not in blocked]
        for file in (file for file in rest if file.target.kind == "directory"):
            if self._try(file, self._make_directory):
                done.add(file.path)
        for file in (file for file in rest if file.target.kind in ("file", "link")):
            if self._try(file, self._put):
                done.add(file.path)
                steps.done(file.path)
        for file in reversed([file for file in rest if file.target.kind == "directory" and file.path in done]):
            if self._try(file, self._set_mode):
                steps.done(file.path)
            else:
                done.discard(file.path)
        return done

    def _try(self, file: FilePlan, step: Callable[[FilePlan, int, str], None]) -> bool:
        path = path_of(file.path)
        self._count += 1
        if self._progress is not None and self._count % PROGRESS_EVERY == 0:
            self._progress(min(self._count, self._total), self._total)
        if refused := forbidden(path, self.roots):
            return self._fail(file, refused)
        if self._steps is not None:
            self._steps.begin(file.path)
        folder, name = os.path.split(path)
        try:
            parent = open_directory(folder, create=file.target.kind != "missing")
            try:
                step(file, parent, name)
            finally:
                os.close(parent)
        except ContentMissing as error:
            return self._fail(file, str(error))
        except OSError as error:
            return self._fail(file, _words(error))
        return True

    def _fail(self, file: FilePlan, why: str) -> bool:
        self.failed.append((file.path, why))
        return False

    def _changes_kind(self, file: FilePlan) -> bool:
        return (file.current.kind == "directory") != (file.target.kind == "directory")

    def _remove(self, file: FilePlan, parent: int, name: str) -> None:
        self._unchanged(file, parent, name)
        if file.current.kind == "directory":
            os.rmdir(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)

    def _make_directory(self, file: FilePlan, parent: int, name: str) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            _give_to_owner(parent, name)
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EBUSY, f"{kind_of(status.st_mode)} is in its place now")
        if not status.st_mode & stat.S_IWUSR or not status.st_mode & stat.S_IXUSR:
            _chmod(
                parent, name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU, directory=True
            )  # until its files are back

    def _set_mode(self, file: FilePlan, parent: int, name: str) -> None:
        _chmod(parent, name, file.target.mode, directory=True)

    def _put(self, file: FilePlan, parent: int, name: str) -> None:
        """A draft beside it takes its place in one step; a mode alone is set on the file that is there."""
        removed = self._changes_kind(file)
        if file.action == "mode" and not removed:
            self._unchanged(file, parent, name)
            _chmod(parent, name, file.target.mode, directory=False)
            return
        draft = f".{name[:60]}.{os.urandom(6).hex()}.clew-undo"
        self._draft(file, parent, draft)
        try:
            if removed or file.current.kind == "missing":
                _put_where_nothing_is(parent, draft, name)
            else:
                self._unchanged(file, parent, name)
                os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=parent)
            raise
        if self._sync_each:
            sync_directory(parent)
        if file.target.inode:
            self._linked[file.target.inode, file.target.digest] = path_of(file.path)

    def _draft(self, file: FilePlan, parent: int, draft: str) -> None:
        content = self.store.get(bytes.fromhex(file.target.digest))
        if file.target.kind == "link":
            os.symlink(os.fsdecode(content), draft, dir_fd=parent)
            _give_to_owner(parent, draft)
            return
        if file.target.inode and self._link_to_twin(file.target, parent, draft):
            return
        fresh = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(draft, fresh, 0o600, dir_fd=parent)
        try:
            write_all(descriptor, content)
            _give_to_owner(parent, draft)
            os.fchmod(descriptor, file.target.mode)
            if self._sync_each:
                os.fsync(descriptor)
        except BaseException:
            os.unlink(draft, dir_fd=parent)
            raise
        finally:
            os.close(descriptor)

    def _link_to_twin(self, target: State, parent: int, draft: str) -> bool:
        """Names that were one file become one file again: one restored before, or one that was never gone."""
        twin = self._linked.get((target.inode, target.digest)) or path_of(target.twin)
        folder, name = os.path.split(twin)
        try:
            if not twin or forbidden(twin, self.roots):
                return False
            if state_of(twin, store=None, max_bytes=_MAX_KEPT_BYTES).digest != target.digest:
                return False
            held = open_directory(folder)
        except OSError:
            return False
        try:
            os.link(name, draft, src_dir_fd=held, dst_dir_fd=parent, follow_symlinks=False)
        except OSError:
            return False
        finally:
            os.close(held)
        return True

    def _unchanged(self, file: FilePlan, parent: int, name: str) -> None:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if file.current.kind == "directory":
            if not stat.S_ISDIR(status.st_mode):
                raise OSError(errno.ESTALE, "it changed meanwhile")
        elif (
            stamp_of(status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size, file.current) != file.stamp
        ):
            raise OSError(errno.ESTALE, "it changed meanwhile")


def _put_where_nothing_is(parent: int, draft: str, name: str) -> None:
    """A link fails when somebody made a file of this name meanwhile, a rename would overwrite it."""
    try:
        os.link(draft, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except FileExistsError:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        raise OSError(errno.EBUSY, f"{kind_of(status.st_mode)} is in its place now") from None
    except OSError:  # a file system without hard links
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            raise OSError(errno.EBUSY, f"{kind_of(status.st_mode)} is in its place now") from None
        os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
    else:
        os.unlink(draft, dir_fd=parent)


def _give_to_owner(parent: int, name: str) -> None:
    """Run as root, what we make belongs to whoever owns the directory."""
    if os.geteuid() == 0:
        owner = os.fstat(parent)
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=parent, follow_symlinks=False)


def _chmod(parent: int, name: str, mode: int, *, directory: bool) -> None:
    """Also of what we may not read. By descriptor: a link that took its place meanwhile is refused."""
    descriptor = os.open(name, getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        found = os.fstat(descriptor).st_mode
        if not (stat.S_ISDIR(found) if directory else stat.S_ISREG(found)):
            raise OSError(errno.ESTALE, "it changed meanwhile")
        os.chmod(f"/proc/self/fd/{descriptor}" if hasattr(os, "O_PATH") else descriptor, mode)
    finally:
        os.close(descriptor)


def _words(error: OSError) -> str:
    if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
        return "the directory holds other files; it was left as it is"
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a part of its path is a link or a file now; nothing was written through it"
    return error.strerror or str(error)
