"""The command line of bubblewrap for a plan. Standard library only."""

import os

from clew.system.sandbox.kept import replaced_tops
from clew.system.sandbox.plan import Plan


def arguments(plan: Plan, *, cwd: str, seccomp: int, joined: bool = False) -> list[str]:
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
