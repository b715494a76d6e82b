"""The command line of bubblewrap for a plan. Standard library only."""

import os

from clew.system.sandbox.plan import Plan


def arguments(plan: Plan, *, cwd: str, seccomp: int) -> list[str]:
    """Everything before the command itself. Later options win over earlier ones, so the order is the rule."""
    line = [plan["bwrap"], "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    line += ["--unshare-uts", "--cap-drop", "ALL"]
    if not plan["network"]:
        line.append("--unshare-net")
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/dev/shm"]
    # A user who is root could otherwise change kernel settings through /proc/sys.
    line += ["--proc", "/proc", "--remount-ro", "/proc"]
    for top in ("/tmp", "/var/tmp"):
        if os.path.isdir(top) and not os.path.islink(top):
            line += ["--bind", plan["tmp"], top]
    for path in (plan["tmp"], *plan["writable"], *plan["pinned"]):
        line += ["--bind", path, path]
    for path in plan["protected"]:
        line += ["--ro-bind-try", path, path]
    # An empty memory file system is cheaper than a bind, and what is written there is never seen again.
    for path in plan["missing"]:
        if os.path.isdir(path):
            line += ["--perms", "0555", "--tmpfs", path]
    for path in plan["hidden"]:
        if os.path.isdir(path):
            line += ["--perms", "0000", "--tmpfs", path]
        elif os.path.exists(path):
            line += ["--ro-bind", "/dev/null", path]
    if seccomp >= 0:
        line += ["--seccomp", str(seccomp)]
    return [*line, "--chdir", cwd, "--"]
