"""The Linux calls Python has no name for. Standard library only: it runs before any site packages are there."""

import ctypes
import os
import platform

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MOUNT_ATTR_RDONLY = 1
AT_RECURSIVE = 0x8000
AT_FDCWD = -100

# The same numbers on every architecture: they were assigned after the tables were unified.
NR_PIDFD_GETFD = 438
NR_MOUNT_SETATTR = 442
NR_LANDLOCK_CREATE_RULESET, NR_LANDLOCK_ADD_RULE, NR_LANDLOCK_RESTRICT_SELF = 444, 445, 446
NR_SECCOMP = {"x86_64": 317, "aarch64": 277}
NR_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
LAST_CAP = 63

MACHINE = platform.machine()
_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a call, or its error as OSError."""
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, argument: object = 0, third: object = 0) -> int:
    """prctl(2)."""
    return checked(_libc.prctl(option, as_long(argument), as_long(third), 0, 0), f"prctl {option}")


def as_long(value: object) -> object:
    """Integers as C longs; pointers as they are."""
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def syscall(number: int, *arguments: object) -> int:
    """syscall(2)."""
    return checked(_libc.syscall(ctypes.c_long(number), *(as_long(value) for value in arguments)), f"syscall {number}")


def unshare(flags: int) -> None:
    """unshare(2)."""
    checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """setns(2)."""
    checked(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def inotify() -> int:
    """A descriptor that tells what happens in directories; it does not block and is not inherited."""
    return checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify_init1")


def inotify_watch(descriptor: int, path: str, events: int) -> int:
    """inotify_add_watch(2)."""
    return checked(
        _libc.inotify_add_watch(ctypes.c_int(descriptor), os.fsencode(path), ctypes.c_uint32(events)),
        "inotify_add_watch",
    )


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2)."""
    result = _libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    checked(result, f"mount {target}")


class IoVector(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


def read_memory(pid: int, address: int, size: int) -> bytes:
    """What stands in the memory of a process, up to the first page that is not there."""
    buffer = ctypes.create_string_buffer(size)
    here, there = IoVector(ctypes.addressof(buffer), size), IoVector(address, size)
    got = _libc.process_vm_readv(
        ctypes.c_int(pid),
        ctypes.byref(here),
        ctypes.c_ulong(1),
        ctypes.byref(there),
        ctypes.c_ulong(1),
        ctypes.c_ulong(0),
    )
    return buffer.raw[: checked(got, "process_vm_readv")]


def bind_socket(descriptor: int, address: bytes) -> None:
    """bind(2) with an address as the kernel spells it."""
    checked(_libc.bind(ctypes.c_int(descriptor), address, ctypes.c_uint(len(address))), "bind")


class MountAttributes(ctypes.Structure):
    """struct mount_attr."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def set_read_only(path: str, *, on: bool) -> None:
    """Make a mount and everything mounted below it read-only, or writable again."""
    attributes = MountAttributes()
    if on:
        attributes.set = MOUNT_ATTR_RDONLY
    else:
        attributes.clear = MOUNT_ATTR_RDONLY
    size = ctypes.sizeof(attributes)
    syscall(NR_MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), AT_RECURSIVE, ctypes.byref(attributes), size)


class CapHeader(ctypes.Structure):
    """struct __user_cap_header_struct."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """All of them, also those a program run later could gain."""
    for capability in range(LAST_CAP + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break
    header = CapHeader(0x20080522, 0)
    checked(_libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()), "capset")
