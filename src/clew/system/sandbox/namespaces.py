"""Own mount, process, network and user namespaces: what bubblewrap does, for machines that lack it.

A /dev of its own: the handful of devices programs need, and no disk, memory or kernel message among them.
"""

import contextlib
import fcntl
import os
import socket
import stat
import struct

from clew.system.sandbox import kernel
from clew.system.sandbox.kept import replaced_tops
from clew.system.sandbox.plan import SandboxPlan

PLAIN = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


def arrange_devices() -> None:
    """Needs the right to mount. The devices are those of the machine, bound by descriptor."""
    held: dict[str, int] = {}
    for name in PLAIN:
        if os.path.exists(f"/dev/{name}"):
            held[name] = os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC)
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, "mode=755,size=1m")
    for name, descriptor in held.items():
        os.close(os.open(f"/dev/{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        kernel.mount(f"/proc/self/fd/{descriptor}", f"/dev/{name}", flags=kernel.MS_BIND)
        os.close(descriptor)
    os.mkdir("/dev/pts", 0o755)
    kernel.mount(
        "devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=666,mode=620"
    )
    os.mkdir("/dev/shm", 0o1777)
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=1777,size=256m")
    for name, target in LINKS.items():
        os.symlink(target, f"/dev/{name}")
    remount = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount("none", "/dev", flags=remount)


NO_SPECIAL = kernel.MS_NOSUID | kernel.MS_NODEV
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def separate(*, network: bool, joined: bool = False) -> None:
    """Leave the namespaces of the machine. The caller's next child is process 1 of its own world. `joined`: users and
    network are the session's own already."""
    own = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
    if joined:
        kernel.unshare(own)
    elif network:
        unshare_as_oneself(own | kernel.CLONE_NEWUSER)
    else:
        unshare_as_oneself(own | kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
        loopback_up()


def unshare_as_oneself(flags: int) -> None:
    """In new namespaces, as the same user and group."""
    user, group = os.getuid(), os.getgid()
    kernel.unshare(flags)
    put("/proc/self/setgroups", "deny")
    put("/proc/self/uid_map", f"{user} {user} 1")
    put("/proc/self/gid_map", f"{group} {group} 1")


def loopback_up() -> None:
    """The only interface of an own network: programs of one command talk over it, and to nobody else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def put(path: str, text: str) -> None:
    """One write, as these files want it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def arrange_mounts(plan: SandboxPlan) -> None:
    """Everything read-only, then the writable places, then what stays protected or hidden inside them."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    masks = (plan["mask_file"], plan["mask_dir"], *plan["shown"].values())
    sources = (plan["tmp"], *plan["writable"], *plan["kept"], *masks)
    held = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sources}
    kernel.set_read_only("/", on=True)
    for top in replaced_tops():
        bind(f"/proc/self/fd/{held[plan['tmp']]}", top, writable=True)
    arrange_devices()
    for path in plan["kept"]:
        stand_in(path, held[path])
        bind(f"/proc/self/fd/{held[path]}", path, writable=False)
    for path in (plan["tmp"], *plan["writable"]):
        stand_in(path, held[path])
        bind(f"/proc/self/fd/{held[path]}", path, writable=True)
    for path in plan["pinned"]:
        bind(path, path, writable=True)
    for path in plan["protected"]:
        with contextlib.suppress(FileNotFoundError):  # gone since it was seen; the watch guards the name
            bind(path, path, writable=False)
    for path, source in plan["shown"].items():
        bind(f"/proc/self/fd/{held[source]}", path, writable=False)
    for path in plan["hidden"]:
        with contextlib.suppress(FileNotFoundError):
            is_directory = stat.S_ISDIR(os.stat(path).st_mode)
            bind(f"/proc/self/fd/{held[plan['mask_dir' if is_directory else 'mask_file']]}", path, writable=False)
    for descriptor in held.values():
        os.close(descriptor)


def stand_in(path: str, descriptor: int) -> None:
    """A workspace below /tmp has lost its place to the session's own /tmp: make one to mount it on."""
    if os.path.exists(path):
        return
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def bind(source: str, target: str, *, writable: bool) -> None:
    """Show a directory or file at a place, with its own setting."""
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.set_read_only(target, on=not writable)


def fresh_proc() -> None:
    """Only the processes of this world. Where the machine masks /proc this is refused, and Landlock still bars
    the view into processes outside."""
    try:
        kernel.mount("proc", "/proc", "proc", NO_SPECIAL | kernel.MS_NOEXEC | kernel.MS_RDONLY)
    except PermissionError:
        return
