"""Putting a plan into force on the process that is about to become the command, in a child of the process starter.

The command line of bubblewrap for a plan. Standard library only.
"""

import os
import select
import signal
import socket
from itertools import pairwise

from clew.system.peers import SESSION_NAME
from clew.system.sandbox import kernel, landlock, namespaces, seccomp
from clew.system.sandbox.kept import replaced_tops
from clew.system.sandbox.name_guard import NameGuard
from clew.system.sandbox.plan import SandboxPlan, has_mounts


def arguments(plan: SandboxPlan, *, cwd: str, seccomp: int, joined: bool = False) -> list[str]:
    """Everything before the command itself. Later options win over earlier ones, so the order is the rule."""
    line = [plan["bwrap"], "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    line += ["--unshare-uts", "--cap-drop", "ALL"]
    if not plan["network"] and not joined:
        line.append("--unshare-net")
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    # A user who is root could otherwise change kernel settings through /proc/sys.
    line += ["--proc", "/proc", "--remount-ro", "/proc"]
    for top in replaced_tops():
        line += ["--bind", plan["tmp"], top]
    for path in plan["kept"]:
        line += ["--ro-bind-try", path, path]
    for path in (plan["tmp"], *plan["writable"], *plan["pinned"]):
        line += ["--bind", path, path]
    # What vanished since it was seen is not mounted over; the watch guards the name.
    for path in plan["protected"]:
        line += ["--ro-bind-try", path, path]
    for path, source in plan["shown"].items():
        line += ["--ro-bind", source, path]
    for path in plan["hidden"]:
        if os.path.exists(path):
            line += ["--ro-bind", plan["mask_dir" if os.path.isdir(path) else "mask_file"], path]
    if seccomp >= 0:
        line += ["--seccomp", str(seccomp)]
    return [*line, "--chdir", cwd, "--"]


def confine_and_run(
    argv: list[str], env: dict[str, str], cwd: str, plan: SandboxPlan, *, keep: int = -1, joined: bool = False
) -> None:
    """Never returns when all goes well; raises OSError when a layer cannot be laid, and then nothing was run.

    `keep`: a pipe that is told which names were refused. `joined`: the session's own network has been entered already.
    """
    if plan["kind"] == "bwrap":
        run_in_bubblewrap(argv, env, cwd, plan, joined=joined)
    if plan["namespaces"]:
        namespaces.separate(network=plan["network"], joined=joined)
        namespaces.arrange_mounts(plan)
        become_parent_of_init()
        namespaces.fresh_proc()
    os.chdir(cwd)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    if plan["namespaces"]:
        landlock.restrict(writable=seen_places(plan), readable=None, tcp=True)
        become_init(plan, keep)
    else:
        readable = landlock.all_but([*plan["hidden"], "/dev"])
        landlock.restrict(writable=[plan["tmp"], *plan["writable"]], readable=readable, tcp=plan["network"])
        if seccomp.supported():
            seccomp.install(sockets=has_sockets(plan), own_ipc=has_mounts(plan))
    os.execve(argv[0], argv, env)


def has_sockets(plan: SandboxPlan) -> bool:
    """Sockets are for an own network, or for that of the machine when the user lets commands use it."""
    return plan["network"] or has_mounts(plan)


def seen_places(plan: SandboxPlan) -> list[str]:
    """Writable places under the names they have inside; mounts protect what lies in them."""
    return [*plan["writable"], plan["tmp"], "/tmp", "/var/tmp", "/dev/shm"]


def run_in_bubblewrap(argv: list[str], env: dict[str, str], cwd: str, plan: SandboxPlan, *, joined: bool) -> None:
    """Bubblewrap lays the filter itself, after its own mounts."""
    descriptor = -1
    if seccomp.supported():
        descriptor = os.memfd_create("seccomp", 0)
        os.write(descriptor, seccomp.program(sockets=has_sockets(plan)))
        os.lseek(descriptor, 0, os.SEEK_SET)
    line = arguments(plan, cwd=cwd, seccomp=descriptor, joined=joined)
    os.execve(line[0], [*line, *argv], env)


def become_parent_of_init() -> None:
    """Fork: the child goes on as process 1; the parent only waits and passes on how it ended.

    It ignores SIGTERM, which is meant for the command: its own end would take everything down at once.
    """
    child = os.fork()
    if child == 0:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.closerange(0, 4096)
    while not ended(child):
        pass


def become_init(plan: SandboxPlan, keep: int) -> None:
    """Fork again: process 1 must collect orphans, and its end is the end of everything in its world. The command goes
    on under the filter; process 1, behind the same mounts and rules, makes the names that the filter lets nobody make.
    """
    guard = NameGuard(plan["guarded"], keep, nested=plan["nested"]) if plan["guarded"] else None
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if guard is not None:
            listener = seccomp.install_guarded(sockets=has_sockets(plan))
            socket.send_fds(theirs, [b"l"], [listener])
            os.close(listener)
        elif seccomp.supported():
            seccomp.install(sockets=has_sockets(plan), own_ipc=has_mounts(plan))
        ours.close()
        theirs.close()
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_NAME, SESSION_NAME.encode())
    theirs.close()
    _, received, _, _ = socket.recv_fds(ours, 1, 1)
    kept = [keep, *received, *(guard.held if guard is not None else ())]
    for low, high in gaps(kept):
        os.closerange(low, high)
    os.chdir("/")
    try:
        if guard is not None and received:
            guard.listener = received[0]
        serve(child, guard if received else None)
    finally:
        os._exit(126)


def gaps(kept: list[int]) -> list[tuple[int, int]]:
    """The ranges between some descriptors."""
    edges = [-1, *sorted(number for number in kept if number >= 0), 4096]
    return [(low + 1, high) for low, high in pairwise(edges)]


def serve(child: int, guard: NameGuard | None) -> None:
    """Answer calls and collect children until this one ends, then exit as it did."""
    wakes, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, heard)
    poll = select.poll()
    poll.register(wakes, select.POLLIN)
    if guard is not None:
        poll.register(guard.listener, select.POLLIN)
    while not ended(child, wait=False):
        for number, event in poll.poll():
            if number == wakes:
                os.read(wakes, 4096)
            elif guard is not None and event & select.POLLIN:
                guard.answer()
            else:
                poll.unregister(number)  # nobody is left under the filter


def heard(*_: object) -> None:
    """A signal that only wakes."""


def ended(child: int, *, wait: bool = True) -> bool:
    """Collect children; exits as this one did when it is among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0 if wait else os.WNOHANG)
        except ChildProcessError:
            os._exit(1)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
        if pid == 0:
            return False
