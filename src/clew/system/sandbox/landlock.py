"""Landlock: file and network rules a process lays on itself and on everything it starts."""

import ctypes
import os
import stat

from clew.system.sandbox import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 9, 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
NET_BIND_TCP, NET_CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1 << 0, 1 << 1
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx")
TERMINALS = "/dev/pts"
"""Only where they are the command's own: else they are those the user types into."""


class RulesetAttributes(ctypes.Structure):
    """struct landlock_ruleset_attr."""

    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class PathBeneath(ctypes.Structure):
    """struct landlock_path_beneath_attr."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The version the kernel speaks; 0 when it has none or has it switched off."""
    try:
        return kernel.syscall(kernel.NR_LANDLOCK_CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION)
    except OSError:
        return 0


def write_rights(version: int) -> int:
    """Everything that changes the file system, as far as this kernel can tell."""
    rights = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM
    rights |= MAKE_CHAR | MAKE_BLOCK
    if version >= 2:
        rights |= REFER
    if version >= 3:
        rights |= TRUNCATE
    if version >= 5:
        rights |= IOCTL_DEV
    return rights


def restrict(*, writable: list[str], readable: list[str] | None, tcp: bool) -> None:
    """Lay the rules on this process. Needs no_new_privs.

    `readable` None: reading is not limited here. Else files can be read only below those places, also in writable ones;
    listing directories is never limited. `tcp`: connections are not this layer's to stop.
    """
    version = abi()
    if not version:
        raise OSError("this kernel has no Landlock")
    writes = write_rights(version)
    reads = READ_FILE if readable is not None else 0
    attributes = RulesetAttributes(fs=writes | reads)
    if version >= 4 and not tcp:
        attributes.net = NET_BIND_TCP | NET_CONNECT_TCP
    if version >= 6:
        attributes.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = kernel.syscall(kernel.NR_LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        for path in writable:
            allow(ruleset, path, writes)
        for path in DEVICES if readable is not None else (*DEVICES, TERMINALS):
            allow(ruleset, path, (WRITE_FILE | TRUNCATE | IOCTL_DEV) & writes | reads)
        for path in readable or ():
            allow(ruleset, path, reads)
        kernel.syscall(kernel.NR_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """One rule; a path that does not exist grants nothing."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        rule = PathBeneath(allowed=rights if stat.S_ISDIR(mode) else rights & ON_FILES, parent=descriptor)
        if rule.allowed:
            kernel.syscall(kernel.NR_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def all_but(hidden: list[str]) -> list[str]:
    """Directories and files that together hold everything but the hidden paths. Landlock has only grants, so the
    way down to a hidden path is granted entry by entry, as it is now."""
    barred = set(hidden)
    above = {"/"}
    for path in hidden:
        while (path := os.path.dirname(path)) not in above:
            above.add(path)
    found: list[str] = []
    open_ends = ["/"]
    while open_ends:
        directory = open_ends.pop()
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            path = os.path.join(directory, name)
            if path in above:
                open_ends.append(path)
            elif path not in barred:
                found.append(path)
    return found
