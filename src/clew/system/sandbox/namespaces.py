"""Own mount, process, network and user namespaces: what bubblewrap does, for machines that lack it."""

import os
import stat

from clew.system.sandbox import kernel
from clew.system.sandbox.plan import Plan

NO_SPECIAL = kernel.MS_NOSUID | kernel.MS_NODEV


def separate(*, network: bool) -> None:
    """Leave the namespaces of the machine. The caller's next child is process 1 of its own world."""
    user, group = os.getuid(), os.getgid()
    flags = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
    kernel.unshare(flags if network else flags | kernel.CLONE_NEWNET)
    put("/proc/self/setgroups", "deny")
    put("/proc/self/uid_map", f"{user} {user} 1")
    put("/proc/self/gid_map", f"{group} {group} 1")


def put(path: str, text: str) -> None:
    """One write, as these files want it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def arrange_mounts(plan: Plan) -> None:
    """Everything read-only, then the writable places, then what stays protected or hidden inside them."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    held = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (plan["tmp"], *plan["writable"])}
    kernel.set_read_only("/", on=True)
    for top in ("/tmp", "/var/tmp"):
        if os.path.isdir(top) and not os.path.islink(top):
            bind(f"/proc/self/fd/{held[plan['tmp']]}", top, writable=True)
    if os.path.isdir("/dev/shm"):
        kernel.mount("tmpfs", "/dev/shm", "tmpfs", NO_SPECIAL, "mode=1777,size=256m")
    for path in (plan["tmp"], *plan["writable"]):
        os.makedirs(path, exist_ok=True)
        bind(f"/proc/self/fd/{held[path]}", path, writable=True)
    for path in plan["pinned"]:
        bind(path, path, writable=True)
    for path in (*plan["protected"], *plan["missing"]):
        if os.path.exists(path):
            bind(path, path, writable=False)
    for path in plan["hidden"]:
        hide(path)
    for descriptor in held.values():
        os.close(descriptor)


def bind(source: str, target: str, *, writable: bool) -> None:
    """Show a directory or file at a place, with its own setting."""
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.set_read_only(target, on=not writable)


def hide(path: str) -> None:
    """An empty directory or an empty file instead of what is there."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        kernel.mount("tmpfs", path, "tmpfs", NO_SPECIAL | kernel.MS_RDONLY, "mode=000,size=4k")
    else:
        kernel.mount("/dev/null", path, flags=kernel.MS_BIND)


def fresh_proc() -> None:
    """Only the processes of this world. Where the machine masks /proc this is refused, and Landlock still bars
    the view into processes outside."""
    try:
        kernel.mount("proc", "/proc", "proc", NO_SPECIAL | kernel.MS_NOEXEC | kernel.MS_RDONLY)
    except PermissionError:
        return
