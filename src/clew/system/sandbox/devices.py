"""A /dev of its own: the handful of devices programs need, and no disk, memory or kernel message among them."""

import os

from clew.system.sandbox import kernel

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
