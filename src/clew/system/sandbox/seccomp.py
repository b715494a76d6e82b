"""A system-call filter: sockets of common families at most; no mounts, tracing, kernel keys, io_uring, setuid files."""

import ctypes
import errno
import struct

from clew.system.sandbox import kernel

BPF_LOAD, BPF_JEQ, BPF_JGE, BPF_JSET, BPF_RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL, NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
NR, ARCH, ARGUMENT0, ARGUMENT1, ARGUMENT2, ARGUMENT3 = 0, 4, 16, 24, 32, 40
SECCOMP_MODE_FILTER = 2
SET_MODE_FILTER, NEW_LISTENER, WAIT_KILLABLE = 1, 1 << 3, 1 << 5
O_CREAT = 0o100
S_ISUID = 0o4000
X32_BIT = 0x40000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
NETLINK_ROUTE = 0
"""Programs ask it for the names of interfaces; the other netlink families are doors into the kernel."""
NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00000080

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FORBIDDEN = {
    "x86_64": {
        "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "swapon": 167, "swapoff": 168, "reboot": 169,
        "init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
        "add_key": 248, "request_key": 249, "keyctl": 250, "setns": 308, "process_vm_readv": 310,
        "process_vm_writev": 311, "perf_event_open": 298, "bpf": 321, "userfaultfd": 323, "open_by_handle_at": 304,
    },
    "aarch64": {
        "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "swapon": 224, "swapoff": 225, "reboot": 142,
        "init_module": 105, "delete_module": 106, "finit_module": 273, "kexec_load": 104, "kexec_file_load": 294,
        "add_key": 217, "request_key": 218, "keyctl": 219, "setns": 268, "process_vm_readv": 270,
        "process_vm_writev": 271, "perf_event_open": 241, "bpf": 280, "userfaultfd": 282, "open_by_handle_at": 265,
    },
}  # fmt: skip
EVERYWHERE = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442)
"""io_uring_*, the new mount calls and mount_setattr have one number on all architectures."""
SPECIAL = {
    "x86_64": {"socket": 41, "socketpair": 53, "unshare": 272, "clone": 56, "clone3": 435},
    "aarch64": {"socket": 198, "socketpair": 199, "unshare": 97, "clone": 220, "clone3": 435},
}
MAKING = {
    "x86_64": {
        "creat": 85, "mkdir": 83, "mkdirat": 258, "mknod": 133, "mknodat": 259, "rename": 82, "renameat": 264,
        "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "bind": 49, "open": 2,
        "openat": 257,
    },
    "aarch64": {
        "mkdirat": 34, "mknodat": 33, "renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36, "bind": 200,
        "openat": 56,
    },
}  # fmt: skip
"""Every call that can make a name. `openat2` hides its flags in memory; programs that find it missing use `openat`."""
OPENAT2 = 437
MODES = {
    "x86_64": {
        "chmod": (90, ARGUMENT1), "fchmod": (91, ARGUMENT1), "fchmodat": (268, ARGUMENT2),
        "fchmodat2": (452, ARGUMENT2), "creat": (85, ARGUMENT1), "mknod": (133, ARGUMENT1), "mknodat": (259, ARGUMENT2),
    },
    "aarch64": {
        "fchmod": (52, ARGUMENT1), "fchmodat": (53, ARGUMENT2), "fchmodat2": (452, ARGUMENT2),
        "mknodat": (33, ARGUMENT2),
    },
}  # fmt: skip
"""Calls that set rights, and where: nobody gets the user's rights from a file that a command left behind."""
OPENS = {
    "x86_64": {"open": (2, ARGUMENT1, ARGUMENT2), "openat": (257, ARGUMENT2, ARGUMENT3)},
    "aarch64": {"openat": (56, ARGUMENT2, ARGUMENT3)},
}
"""Calls that open: where their flags are, and the rights of what they make."""
PRLIMIT = {"x86_64": 302, "aarch64": 261}
SHARED_BY_NUMBER = {
    "x86_64": (29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241),
    "aarch64": (180, 181, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197),
}
"""Memory, semaphores and queues that all processes of a user share, unless they have an own world for them."""


def supported() -> bool:
    """Whether the numbers of this machine are known."""
    return kernel.MACHINE in ARCHITECTURES


def program(*, sockets: bool, guarded: bool = False, own_ipc: bool = True, machine: str = kernel.MACHINE) -> bytes:
    """The filter as BPF instructions. `guarded`: calls that make names are handed to whoever holds the listener.
    `own_ipc`: what is shared by number is shared with nobody outside."""
    special = SPECIAL[machine]
    refuse = ERRNO | errno.EPERM
    code = [
        (BPF_LOAD, 0, 0, ARCH),
        (BPF_JEQ, 1, 0, ARCHITECTURES[machine]),
        (BPF_RETURN, 0, 0, KILL),
        (BPF_LOAD, 0, 0, NR),
    ]
    if machine == "x86_64":
        code += [(BPF_JGE, 0, 1, X32_BIT), (BPF_RETURN, 0, 0, refuse)]
    shared = () if own_ipc else SHARED_BY_NUMBER[machine]
    for number in (*FORBIDDEN[machine].values(), *EVERYWHERE, *shared):
        code += [(BPF_JEQ, 0, 1, number), (BPF_RETURN, 0, 0, refuse)]
    # clone3 hides its flags in memory: answering "not there" makes the C library use clone, which can be judged.
    code += [(BPF_JEQ, 0, 1, special["clone3"]), (BPF_RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    for name in ("unshare", "clone"):
        flags = NEW_NAMESPACES if name == "unshare" else NEW_NAMESPACES & ~0x80
        code += [(BPF_JEQ, 0, 4, special[name]), (BPF_LOAD, 0, 0, ARGUMENT0), (BPF_JSET, 0, 1, flags)]
        code += [(BPF_RETURN, 0, 0, refuse), (BPF_RETURN, 0, 0, ALLOW)]
    code += [(BPF_JEQ, 0, 4, PRLIMIT[machine]), (BPF_LOAD, 0, 0, ARGUMENT0), (BPF_JEQ, 0, 1, 0)]
    code += [(BPF_RETURN, 0, 0, ALLOW), (BPF_RETURN, 0, 0, refuse)]
    code += making_rules(machine, guarded=guarded, refuse=refuse)
    code += socket_rules(special, sockets=sockets, refuse=refuse)
    code.append((BPF_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def socket_rules(special: dict[str, int], *, sockets: bool, refuse: int) -> list[tuple[int, int, int, int]]:
    """Pairs of local sockets reach nobody and always pass."""
    code: list[tuple[int, int, int, int]] = []
    if sockets:
        families = (AF_UNIX, AF_INET, AF_INET6)
        code += [(BPF_JEQ, 0, len(families) + 6, special["socket"]), (BPF_LOAD, 0, 0, ARGUMENT0)]
        code += [(BPF_JEQ, len(families) + 2 - number, 0, family) for number, family in enumerate(families)]
        code += [(BPF_JEQ, 0, 3, AF_NETLINK), (BPF_LOAD, 0, 0, ARGUMENT2), (BPF_JEQ, 0, 1, NETLINK_ROUTE)]
        code += [(BPF_RETURN, 0, 0, ALLOW), (BPF_RETURN, 0, 0, refuse)]
    else:
        code += [(BPF_JEQ, 0, 1, special["socket"]), (BPF_RETURN, 0, 0, refuse)]
    code += [(BPF_JEQ, 0, 4, special["socketpair"]), (BPF_LOAD, 0, 0, ARGUMENT0), (BPF_JEQ, 1, 0, AF_UNIX)]
    code += [(BPF_RETURN, 0, 0, refuse), (BPF_RETURN, 0, 0, ALLOW)]
    return code


def making_rules(machine: str, *, guarded: bool, refuse: int) -> list[tuple[int, int, int, int]]:
    """Opening a file makes a name only with O_CREAT; everything else here always does. No file is made or changed to
    carry the user's rights to whoever runs it."""
    made = NOTIFY if guarded else ALLOW
    code: list[tuple[int, int, int, int]] = []
    if guarded:
        code += [(BPF_JEQ, 0, 1, OPENAT2), (BPF_RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    for number, flags, mode in OPENS[machine].values():
        code += [(BPF_JEQ, 0, 7, number), (BPF_LOAD, 0, 0, flags), (BPF_JSET, 1, 0, O_CREAT)]
        code += [(BPF_RETURN, 0, 0, ALLOW), (BPF_LOAD, 0, 0, mode), (BPF_JSET, 0, 1, S_ISUID)]
        code += [(BPF_RETURN, 0, 0, refuse), (BPF_RETURN, 0, 0, made)]
    for name, (number, mode) in MODES[machine].items():
        passed = made if name in MAKING[machine] else ALLOW
        code += [(BPF_JEQ, 0, 4, number), (BPF_LOAD, 0, 0, mode), (BPF_JSET, 0, 1, S_ISUID)]
        code += [(BPF_RETURN, 0, 0, refuse), (BPF_RETURN, 0, 0, passed)]
    if guarded:
        for name, number in MAKING[machine].items():
            if name not in OPENS[machine] and name not in MODES[machine]:
                code += [(BPF_JEQ, 0, 1, number), (BPF_RETURN, 0, 0, NOTIFY)]
    return code


class FilterProgram(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(*, sockets: bool, own_ipc: bool) -> None:
    """Lay the filter on this process and all it starts. Needs no_new_privs."""
    _, wrapped = as_program(program(sockets=sockets, own_ipc=own_ipc))
    kernel.prctl(kernel.PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(wrapped))


def install_guarded(*, sockets: bool) -> int:
    """The same, with a descriptor on which calls that make names arrive. A call that has arrived is not interrupted by
    signals, because what was done for it cannot be done twice (Linux 5.19)."""
    _, wrapped = as_program(program(sockets=sockets, guarded=True))
    number = kernel.NR_SECCOMP[kernel.MACHINE]
    return kernel.syscall(number, SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE, ctypes.byref(wrapped))


def as_program(code: bytes) -> tuple[ctypes.Array[ctypes.c_char], FilterProgram]:
    """The memory, which must outlive the call, and what points to it."""
    memory = ctypes.create_string_buffer(code, len(code))
    return memory, FilterProgram(len(code) // 8, ctypes.cast(memory, ctypes.c_void_p))
