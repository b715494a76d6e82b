"""Putting a plan into force on the process that is about to become the command, in a child of the process starter."""

import os
import signal

from clew.system.sandbox import bubblewrap, kernel, landlock, namespaces, seccomp
from clew.system.sandbox.plan import Plan, has_mounts


def confine_and_run(argv: list[str], env: dict[str, str], cwd: str, plan: Plan) -> None:
    """Never returns when all goes well; raises OSError when a layer cannot be laid, and then nothing was run."""
    if plan["kind"] == "bwrap":
        run_in_bubblewrap(argv, env, cwd, plan)
    if plan["namespaces"]:
        namespaces.separate(network=plan["network"])
        namespaces.arrange_mounts(plan)
        become_parent_of_init()
        namespaces.fresh_proc()
        become_init()
    os.chdir(cwd)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    if plan["namespaces"]:
        landlock.restrict(writable=seen_places(plan), readable=None, tcp=True)
    else:
        readable = landlock.all_but([*plan["hidden"], "/dev"])
        landlock.restrict(writable=[plan["tmp"], *plan["writable"]], readable=readable, tcp=plan["network"])
    if seccomp.supported():
        seccomp.install(sockets=has_sockets(plan))
    os.execve(argv[0], argv, env)


def has_sockets(plan: Plan) -> bool:
    """Sockets are for an own network, or for that of the machine when the user lets commands use it."""
    return plan["network"] or has_mounts(plan)


def seen_places(plan: Plan) -> list[str]:
    """Writable places under the names they have inside; mounts protect what lies in them."""
    return [*plan["writable"], plan["tmp"], "/tmp", "/var/tmp", "/dev/shm"]


def run_in_bubblewrap(argv: list[str], env: dict[str, str], cwd: str, plan: Plan) -> None:
    """Bubblewrap lays the filter itself, after its own mounts."""
    descriptor = -1
    if seccomp.supported():
        descriptor = os.memfd_create("seccomp", 0)
        os.write(descriptor, seccomp.program(sockets=has_sockets(plan)))
        os.lseek(descriptor, 0, os.SEEK_SET)
    line = bubblewrap.arguments(plan, cwd=cwd, seccomp=descriptor)
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
    leave_with(child)


def become_init() -> None:
    """Fork again: process 1 must collect orphans, and its end is the end of everything in its world."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leave_with(child)


def leave_with(child: int) -> None:
    """Collect children until this one ends, then exit as it did."""
    os.closerange(0, 4096)
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(1)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
