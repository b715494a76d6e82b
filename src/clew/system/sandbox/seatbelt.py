"""The same plan as a macOS Seatbelt profile, for `sandbox-exec -p`. Written and tested as text: no Mac was at hand,
so nothing selects it yet, and `doctor` says that no sandbox holds there."""

from clew.system.sandbox.plan import Plan

BASE = """(version 1)
(deny default)
(allow process-exec process-fork signal (target same-sandbox))
(allow sysctl-read mach-lookup ipc-posix-sem file-ioctl)
(allow file-read*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (literal "/dev/tty"))
"""


def profile(plan: Plan) -> str:
    """Later rules win: first what is allowed, then what stays protected or hidden inside it."""
    lines = [BASE]
    lines += [f"(allow file-write* {below(path)})" for path in (plan["tmp"], *plan["writable"])]
    lines += [f"(deny file-write* {below(path)})" for path in plan["protected"]]
    lines += [f"(deny file-write-unlink {exactly(path)})" for path in plan["pinned"]]
    lines += [f"(deny file-read* file-write* {below(path)})" for path in plan["hidden"]]
    lines.append("(allow network*)" if plan["network"] else "(deny network*)")
    return "\n".join(lines) + "\n"


def below(path: str) -> str:
    """A path and everything under it, whether it exists or not."""
    return f"(subpath {quoted(path)})"


def exactly(path: str) -> str:
    """The path itself."""
    return f"(literal {quoted(path)})"


def quoted(path: str) -> str:
    """A Scheme string. A path with a line break or a NUL cannot be written safely and is refused."""
    if any(ord(char) < 32 for char in path):
        raise ValueError(f"a path with control characters cannot be confined: {path!r}")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def arguments(plan: Plan) -> list[str]:
    """Everything before the command itself."""
    return ["/usr/bin/sandbox-exec", "-p", profile(plan)]
