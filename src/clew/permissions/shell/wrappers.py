"""Programs that run other programs: how to find the inner command, for deny rules and for proof (P7)."""

from typing import NamedTuple

from clew.permissions.shell.values import Value


class Wrapper(NamedTuple):
    """Flags that take a value, operands before the inner command, and whether assignments may precede it."""

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False


def _row(valued: str = "", operands: int = 0, *, assigns: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, assigns)


WRAPPERS: dict[str, Wrapper] = {
    "sudo": _row(
        "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --role --type", assigns=True
    ),
    "doas": _row("-u -C"),
    "pkexec": _row("--user"),
    "env": _row("-u -C --unset --chdir -S --split-string", assigns=True),
    "nice": _row("-n --adjustment"),
    "ionice": _row("-c -n -p --class --classdata"),
    "chrt": _row("-T -P -D", 1),
    "taskset": _row("", 1),
    "numactl": _row(),
    "timeout": _row("-k -s --kill-after --signal", 1),
    "gtimeout": _row("-k -s --kill-after --signal", 1),
    "time": _row("-f -o --format --output"),
    "nohup": _row(),
    "setsid": _row(),
    "stdbuf": _row("-i -o -e --input --output --error"),
    "unbuffer": _row(),
    "command": _row(),
    "builtin": _row(),
    "exec": _row("-a"),
    "chroot": _row("--userspec --groups", 1),
    "unshare": _row("-S -G -R -w --setuid --setgid --root --wd"),
    "nsenter": _row("-t -S -G --target"),
    "setpriv": _row("--reuid --regid --groups --inh-caps"),
    "prlimit": _row(),
    "xargs": _row(
        "-n -P -I -L -d -E -s -a -J -R --max-args --max-procs --replace --max-lines --delimiter --arg-file "
        "--eof --max-chars"
    ),
    "parallel": _row("-j -a --jobs --arg-file --colsep -n -N"),
    "watch": _row("-n --interval"),
    "strace": _row("-o -e -p -s -E -P -u -a"),
    "ltrace": _row("-o -e -p -s -u"),
    "flock": _row("-w -E --timeout --conflict-exit-code", 1),
    "busybox": _row(),
    "toybox": _row(),
    "coproc": _row(),
    "noglob": _row(),
    "nocorrect": _row(),
    "systemd-run": _row("-p -u --unit --property --uid --gid --slice"),
    "systemd-inhibit": _row(),
    "dbus-run-session": _row(),
    "firejail": _row(),
    "bwrap": _row("--bind --ro-bind --dev --proc --tmpfs --chdir"),
    "caffeinate": _row("-t -w"),
    "proxychains": _row("-f"),
    "proxychains4": _row("-f"),
    "torsocks": _row(),
    "torify": _row(),
    "rlwrap": _row(),
    "winpty": _row(),
    "gosu": _row("", 1),
    "su-exec": _row("", 1),
    "entr": _row(),
    "then": _row(),
    "do": _row(),
}
# Only these are transparent enough for proof: they add no right and no effect of their own.
PROVEN_WRAPPERS: dict[str, frozenset[str]] = {
    "timeout": frozenset(
        {"-k", "-s", "--kill-after", "--signal", "--preserve-status", "--foreground", "-v", "--verbose"}
    ),
    "time": frozenset({"-p"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "--class", "--classdata"}),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    "command": frozenset({"-p"}),
    "builtin": frozenset[str](),
    "env": frozenset[str](),
}
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "rbash", "tcsh", "csh", "busybox-sh"})


def base_name(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def inner_command(name: str, argv: list[Value]) -> list[Value]:
    """The command that a wrapper would run, or nothing."""
    wrapper = WRAPPERS[name]
    at = 1
    while at < len(argv):
        text = argv[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            at += 2 if text in wrapper.valued else 1
            continue
        if wrapper.assigns and "=" in text and not text.startswith("="):
            at += 1
            continue
        break
    return argv[at + wrapper.operands :]
