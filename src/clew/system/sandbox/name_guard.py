"""Protected names are refused before they exist: calls that make names are carried out here, outside the filter.

The kernel has no rule against one name in a directory that may be written. So the filter hands every call that makes a
name to process 1 of the sandbox, which lives behind the same mounts and rules. It copies the path once, finds the
directory, and makes the name there itself, by descriptor: nothing the caller changes meanwhile counts. Held by
`tests/unit/sandbox/test_name_races.py`. Standard library only.
"""

import _thread
import contextlib
import errno
import fcntl
import os
import select
import stat
import struct
from collections.abc import Generator

from clew.system.git.left_behind import repository_marks
from clew.system.sandbox import kernel, seccomp
from clew.system.sandbox.caller import AT_FDCWD, Caller, exists, process_views, split
from clew.system.sandbox.forbidden import forbidden, inner_prefix
from clew.system.sandbox.plan import Guarded
from clew.text.guarded_names import folded

RECEIVE, SEND, ADD_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40182103
CALL, ANSWER, DESCRIPTOR = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI"), struct.Struct("=QIIII")
ANSWER_WITH_DESCRIPTOR = 2
AT_SYMLINK_FOLLOW, AT_EMPTY_PATH = 0x400, 0x1000
RENAME_EXCHANGE, RENAME_WHITEOUT = 2, 4
ADDRESS_BYTES = 128
MAX_LINKS = 40
MAX_TOLD = 100
MAX_MARKED = 5_000
TELL_MS = 5_000
NAMES = {number: name for name, number in seccomp.MAKING.get(kernel.MACHINE, {}).items()}
KEPT_FLAGS = os.O_APPEND | os.O_NONBLOCK | getattr(os, "O_DIRECT", 0) | getattr(os, "O_NOATIME", 0)


def place_of(parent: int, name: bytes) -> str:
    """The path of an entry."""
    return os.path.join(os.readlink(f"/proc/self/fd/{parent}"), os.fsdecode(name.rstrip(b"/")))


class NameGuard:
    """Answers the calls of one command."""

    def __init__(self, guarded: list[Guarded], tell: int, *, nested: bool = True) -> None:
        """`tell`: where paths are written, one on a line: refused ones as they are, and directories that may become
        repositories with a `+` in front. `nested`: repositories may come into being."""
        self.listener = -1
        self._nested = nested
        self._marked: set[str] = set()
        self.held: list[int] = []
        """Directories stay open for good: some file systems number one anew when nobody looks at it."""
        self._tell = tell
        self._told = 0
        self._proc = process_views()
        self._places: dict[tuple[int, int], Guarded] = {}
        for place in guarded:
            self._guard(os.open(place["path"], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), place)

    def _guard(self, descriptor: int, place: Guarded) -> None:
        self.held.append(descriptor)
        status = os.fstat(descriptor)
        self._places[status.st_dev, status.st_ino] = place

    def answer(self) -> None:
        """Take one call and carry it out, or say why not."""
        buffer = bytearray(CALL.size)
        try:
            fcntl.ioctl(self.listener, RECEIVE, buffer)
        except OSError:
            return  # the caller has ended
        call, pid, _, number, _, _, *arguments = CALL.unpack(buffer)
        value, error = 0, 0
        try:
            made = self._carry_out(NAMES[number], Caller(pid), arguments, call)
            if made is None:
                return  # answered already, or later
            value = made
        except OSError as problem:
            error = -(problem.errno or errno.EIO)
        except Exception:  # a boundary: one strange call must not end the command
            error = -errno.EINVAL
        self._send(call, value, error)

    def _send(self, call: int, value: int, error: int) -> None:
        with contextlib.suppress(OSError):  # the caller has ended
            fcntl.ioctl(self.listener, SEND, ANSWER.pack(call, value, error, 0))

    def _carry_out(self, name: str, caller: Caller, a: list[int], call: int) -> int | None:
        """Older calls are newer ones from the current directory."""
        here = AT_FDCWD
        match name:
            case "open":
                name, a = "openat", [here, *a]
            case "creat":
                name, a = "openat", [here, a[0], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, a[1]]
            case "mkdir" | "mknod":
                name, a = f"{name}at", [here, *a]
            case "symlink":
                name, a = "symlinkat", [a[0], here, a[1]]
            case "link" | "rename":
                name, a = f"{name}at", [here, a[0], here, a[1], 0]
            case "renameat":
                a = [*a[:4], 0]
            case _:
                pass
        if name == "openat":
            return self._open(caller, a[0], a[1], a[2], a[3], call)
        return self._make(name, caller, a)

    def _make(self, name: str, caller: Caller, a: list[int]) -> int:
        match name:
            case "mkdirat":
                return self._make_directory(caller, a[0], a[1], a[2])
            case "mknodat":
                return self._make_node(caller, a[0], a[1], a[2], a[3])
            case "symlinkat":
                return self._make_link(caller, a[0], a[1], a[2])
            case "linkat":
                return self._link(caller, a[0], a[1], a[2], a[3], a[4])
            case "renameat" | "renameat2":
                return self._rename(caller, a[0], a[1], a[2], a[3], a[4] & 0xFFFFFFFF)
            case _:
                return self._bind(caller, a[0], a[1], a[2])

    @contextlib.contextmanager
    def _place(self, caller: Caller, start: int, address: int) -> Generator[tuple[int, bytes]]:
        """The directory of a path, and the last part of it."""
        path = caller.own(caller.path(address))
        base = -1 if path.startswith(b"/") else caller.directory(start)
        try:
            parent, name = split(base, path)
        finally:
            if base >= 0:
                os.close(base)
        try:
            self._keep_out(parent)
            yield parent, name
        finally:
            os.close(parent)

    def _keep_out(self, parent: int) -> bool:
        """What lies below our own entry in /proc is ours, not the caller's. True: it is the entry of another one."""
        if os.fstat(parent).st_dev not in self._proc:
            return False
        place = os.readlink(f"/proc/self/fd/{parent}")
        if any(part == str(os.getpid()) for part in place.split("/")):
            raise PermissionError(errno.EACCES, "this process is not yours")
        return True

    def _judge(self, parent: int, name: bytes, *, by_mkdir: bool = False) -> Guarded | None:
        """Raises when this name must not come into being here; else tells what the directory is."""
        status = os.fstat(parent)
        place = self._places.get((status.st_dev, status.st_ino))
        text = os.fsdecode(name.rstrip(b"/"))
        if place is None or not place["prefix"].startswith(".git") or folded(text) == ".git":
            self._mark(parent, text)
        if place is None:
            return None
        refused = text in place["names"] or forbidden(place["prefix"], text, repository=place["repository"])
        # A directory whose own names matter is only made empty, so that those can be judged as they come.
        if refused or (not by_mkdir and inner_prefix(place["prefix"], text)):
            self._note(os.path.join(place["path"], text))
            raise OSError(errno.EROFS, "this name is protected")
        return place

    def _mark(self, parent: int, name: str) -> None:
        """Tell of a name that makes its directory a repository, before it exists; raises where none may be made."""
        if not repository_marks(name):
            return
        folder = os.readlink(f"/proc/self/fd/{parent}")
        if not self._nested and folded(name) == ".git":
            self._note(os.path.join(folder, name))
            raise OSError(errno.EROFS, "no repository may be made here")
        self._tell_marked(folder)

    def _tell_marked(self, folder: str) -> None:
        if folder in self._marked:
            return
        if "\n" in folder or len(self._marked) >= MAX_MARKED:
            raise OSError(errno.EROFS, "too many repositories, or one that cannot be told of")
        poll = select.poll()
        poll.register(self._tell, select.POLLOUT)
        if not poll.poll(TELL_MS):
            raise OSError(errno.EROFS, "nobody hears of this repository")
        os.write(self._tell, b"+" + os.fsencode(folder) + b"\n")
        self._marked.add(folder)

    def _moved(self, old: str, new: str) -> None:
        """A directory gets another place, and what may be a repository in it too."""
        for folder in [path for path in self._marked if path == old or path.startswith(f"{old}/")]:
            self._tell_marked(new + folder[len(old) :])

    def _note(self, path: str) -> None:
        self._told += 1
        if self._told <= MAX_TOLD:
            with contextlib.suppress(OSError):
                os.write(self._tell, os.fsencode(path.replace("\n", "?")) + b"\n")

    def _make_directory(self, caller: Caller, start: int, address: int, mode: int) -> int:
        with self._place(caller, start, address) as (parent, name):
            if exists(parent, name):
                raise FileExistsError(errno.EEXIST, "it is there")
            place = self._judge(parent, name, by_mkdir=True)
            caller.lend_mask()
            os.mkdir(name, mode & 0o7777, dir_fd=parent)
            text = os.fsdecode(name.rstrip(b"/"))
            if place is not None and (prefix := inner_prefix(place["prefix"], text)):
                made = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
                path = os.path.join(place["path"], text)
                self._guard(made, {"path": path, "prefix": prefix, "known": [], "names": [], "repository": True})
        return 0

    def _make_node(self, caller: Caller, start: int, address: int, mode: int, device: int) -> int:
        with self._place(caller, start, address) as (parent, name):
            self._judge(parent, name)
            caller.lend_mask()
            os.mknod(name, mode & 0xFFFF & ~stat.S_ISUID, device & 0xFFFFFFFF, dir_fd=parent)
        return 0

    def _make_link(self, caller: Caller, target: int, start: int, address: int) -> int:
        text = caller.path(target)
        with self._place(caller, start, address) as (parent, name):
            self._judge(parent, name)
            os.symlink(text, name, dir_fd=parent)
        return 0

    def _link(self, caller: Caller, old_start: int, old: int, start: int, address: int, flags: int) -> int:
        with contextlib.ExitStack() as opened:
            follow = bool(flags & AT_SYMLINK_FOLLOW)
            if flags & AT_EMPTY_PATH and not caller.path(old):
                source, source_name, follow = None, b"/proc/%d/fd/%d" % (caller.pid, old_start & 0xFFFFFFFF), True
            else:
                source, source_name = opened.enter_context(self._place(caller, old_start, old))
            parent, name = opened.enter_context(self._place(caller, start, address))
            self._judge(parent, name)
            os.link(source_name, name, src_dir_fd=source, dst_dir_fd=parent, follow_symlinks=follow)
        return 0

    def _rename(self, caller: Caller, old_start: int, old: int, start: int, address: int, flags: int) -> int:
        if flags & RENAME_WHITEOUT:
            raise OSError(errno.EPERM, "no whiteouts")
        with (
            self._place(caller, old_start, old) as (source, source_name),
            self._place(caller, start, address) as (parent, name),
        ):
            self._judge(parent, name)
            if flags & RENAME_EXCHANGE:
                self._judge(source, source_name)
            if self._marked:
                here, there = place_of(source, source_name), place_of(parent, name)
                self._moved(here, there)
                if flags & RENAME_EXCHANGE:
                    self._moved(there, here)
            kernel.syscall(kernel.NR_RENAMEAT2[kernel.MACHINE], source, source_name, parent, name, flags)
        return 0

    def _bind(self, caller: Caller, number: int, address: int, size: int) -> int:
        """A socket with a place in the file system has a name too. It keeps the path it was given, so it is judged by
        its last part alone, as if it were made in every guarded directory."""
        data = kernel.read_memory(caller.pid, address, min(size & 0xFFFFFFFF, ADDRESS_BYTES))
        path = data[2:].partition(b"\0")[0] if data[:2] == struct.pack("=H", seccomp.AF_UNIX) else b""
        if path:
            text = os.fsdecode(os.path.basename(path.rstrip(b"/")))
            for place in self._places.values():
                if text in place["names"] or forbidden(place["prefix"], text, repository=place["repository"]):
                    raise OSError(errno.EROFS, "this name is protected")
            caller.lend_mask()
            base = caller.directory(AT_FDCWD)
            os.fchdir(base)
            os.close(base)
        process = os.pidfd_open(int(caller.status(b"Tgid:")))
        try:
            descriptor = kernel.syscall(kernel.NR_PIDFD_GETFD, process, number & 0xFFFFFFFF, 0)
        finally:
            os.close(process)
        try:
            kernel.bind_socket(descriptor, data)
        finally:
            os.close(descriptor)
            os.chdir("/")
        return 0

    def _open(self, caller: Caller, start: int, address: int, flags: int, mode: int, call: int) -> int | None:
        flags &= 0xFFFFFFFF
        path = caller.path(address)
        base = -1 if path.startswith(b"/") else caller.directory(start)
        for _ in range(MAX_LINKS):
            path = caller.own(path)
            try:
                parent, name = split(-1 if path.startswith(b"/") else base, path)
            finally:
                if base >= 0:
                    os.close(base)
            try:
                descriptor = self._open_at(caller, parent, name, flags, mode)
                if descriptor is None:  # somebody has to open its other end first, and others cannot wait for that
                    later = os.dup(parent)
                    _thread.start_new_thread(self._open_waiting, (call, later, name, flags))
                    return None
                self._give(call, descriptor, flags)
                return None
            except OSError as problem:
                if problem.errno != errno.ELOOP or flags & os.O_NOFOLLOW:
                    raise
                path = os.readlink(name.rstrip(b"/"), dir_fd=parent)
                base, parent = parent, -1
            finally:
                if parent >= 0:
                    os.close(parent)
        os.close(base)
        raise OSError(errno.ELOOP, "too many links")

    def _open_at(self, caller: Caller, parent: int, name: bytes, flags: int, mode: int) -> int | None:
        """ELOOP: it is a link. None: it is a pipe without another end."""
        in_proc = self._keep_out(parent)
        plain = flags & ~(os.O_CREAT | os.O_EXCL) | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        while True:
            if not flags & os.O_EXCL:
                try:
                    return os.open(name, plain if in_proc else plain | os.O_NOFOLLOW, dir_fd=parent)
                except FileNotFoundError:
                    pass
                except OSError as problem:
                    if problem.errno != errno.ENXIO or flags & os.O_NONBLOCK:
                        raise
                    return None
            if flags & os.O_EXCL and exists(parent, name):
                raise FileExistsError(errno.EEXIST, "it is there")
            self._judge(parent, name)
            caller.lend_mask()
            make = flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                return os.open(name, make, mode & 0o3777, dir_fd=parent)
            except FileExistsError:
                if flags & os.O_EXCL:
                    raise  # else it came into being just now: look again

    def _open_waiting(self, call: int, parent: int, name: bytes, flags: int) -> None:
        try:
            plain = flags & ~os.O_CREAT | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
            self._give(call, os.open(name, plain, dir_fd=parent), flags)
        except OSError as problem:
            self._send(call, 0, -(problem.errno or errno.EIO))
        finally:
            os.close(parent)

    def _give(self, call: int, descriptor: int, flags: int) -> None:
        """The caller's call returns with this file."""
        try:
            if not flags & os.O_PATH and not flags & os.O_NONBLOCK:
                fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & KEPT_FLAGS)
            packed = DESCRIPTOR.pack(call, ANSWER_WITH_DESCRIPTOR, descriptor, 0, flags & os.O_CLOEXEC)
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # the caller has ended
                fcntl.ioctl(self.listener, ADD_DESCRIPTOR, packed)
        finally:
            os.close(descriptor)
