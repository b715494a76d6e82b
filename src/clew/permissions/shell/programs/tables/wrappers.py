"""Programs that run other programs: how to find the inner command, for deny rules and for proof (P7)."""

from clew.permissions.shell.programs.program import Program, Wrapper, wrapper
from clew.text.guarded_names import word_set

_ADDS_NOTHING = "Starts the command behind it and adds neither a right nor an effect; the inner command is judged."
_ADDS_RIGHTS = "Starts the command behind it with other rights, another root or another terminal: never proven."
_RUNS_TEXT = "Runs text as a shell command: never proven; the text is searched for what is denied."


def _row(wraps: Wrapper, audit: str = _ADDS_RIGHTS, *, texts: str = "", version: str = "") -> Program:
    return Program(audit=audit, wraps=wraps, shell_texts=tuple(texts.split()), version=tuple(version.split()))


def _transparent(wraps: Wrapper, version: str = "") -> Program:
    return _row(wraps, _ADDS_NOTHING, version=version)


PROGRAMS: dict[str, Program] = {
    "timeout": _transparent(
        wrapper(
            "-k -s --kill-after --signal",
            1,
            proven="-k -s --kill-after --signal --preserve-status --foreground -v --verbose",
        )
    ),
    "gtimeout": _row(wrapper("-k -s --kill-after --signal", 1)),
    "time": _transparent(wrapper("-f -o --format --output", proven="-p")),
    "nice": _transparent(wrapper("-n --adjustment", proven="-n --adjustment")),
    "ionice": _transparent(wrapper("-c -n -p --class --classdata", proven="-c -n --class --classdata")),
    "stdbuf": _transparent(wrapper("-i -o -e --input --output --error", proven="-i -o -e --input --output --error")),
    "command": _transparent(wrapper(proven="-p")),
    "builtin": _transparent(wrapper(proven="")),
    "env": _row(
        wrapper("-u -C --unset --chdir -S --split-string", assigns=True, proven="", chdir="-C --chdir"),
        _ADDS_NOTHING,
        texts="-S --split-string",
        version="--version --help",
    ),
    "sudo": _row(
        wrapper(
            "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --role --type",
            assigns=True,
            chdir="-D --chdir",
        ),
        version="--version --help",
    ),
    "doas": _row(wrapper("-u -C")),
    "pkexec": _row(wrapper("--user")),
    "chrt": _row(wrapper("-T -P -D", 1)),
    "taskset": _row(wrapper("", 1)),
    "numactl": _row(wrapper()),
    "nohup": _row(wrapper()),
    "setsid": _row(wrapper()),
    "unbuffer": _row(wrapper()),
    "exec": _row(wrapper("-a")),
    "chroot": _row(wrapper("--userspec --groups", 1)),
    "unshare": _row(wrapper("-S -G -R -w --setuid --setgid --root --wd", chdir="-w --wd")),
    "nsenter": _row(wrapper("-t -S -G --target")),
    "setpriv": _row(wrapper("--reuid --regid --groups --inh-caps")),
    "prlimit": _row(wrapper()),
    "xargs": _row(
        wrapper(
            "-n -P -I -L -d -E -s -a -J -R --max-args --max-procs --replace --max-lines --delimiter --arg-file "
            "--eof --max-chars"
        ),
        "Runs a command with words from a pipe: proven only behind programs that list files (fed.py).",
        version="--version --help",
    )._replace(feeds=True),
    "parallel": _row(wrapper("-j -a --jobs --arg-file --colsep -n -N"), _RUNS_TEXT, texts="*")._replace(feeds=True),
    "watch": _row(wrapper("-n --interval"), _RUNS_TEXT, texts="*"),
    "strace": _row(wrapper("-o -e -p -s -E -P -u -a"), version="-V --version"),
    "ltrace": _row(wrapper("-o -e -p -s -u")),
    "flock": _row(wrapper("-w -E --timeout --conflict-exit-code", 1), texts="-c --command"),
    "busybox": _row(wrapper()),
    "toybox": _row(wrapper()),
    "coproc": _row(wrapper()),
    "noglob": _row(wrapper()),
    "nocorrect": _row(wrapper()),
    "systemd-run": _row(
        wrapper("-p -u --unit --property --uid --gid --slice --working-directory", chdir="--working-directory")
    ),
    "systemd-inhibit": _row(wrapper()),
    "dbus-run-session": _row(wrapper()),
    "firejail": _row(wrapper()),
    "bwrap": _row(wrapper("--bind --ro-bind --dev --proc --tmpfs --chdir", chdir="--chdir")),
    "caffeinate": _row(wrapper("-t -w")),
    "proxychains": _row(wrapper("-f")),
    "proxychains4": _row(wrapper("-f")),
    "torsocks": _row(wrapper()),
    "torify": _row(wrapper()),
    "rlwrap": _row(wrapper()),
    "winpty": _row(wrapper()),
    "gosu": _row(wrapper("", 1)),
    "su-exec": _row(wrapper("", 1)),
    "entr": _row(wrapper()),
    "then": _row(wrapper()),
    "do": _row(wrapper()),
    "su": Program(audit=_RUNS_TEXT, shell_texts=("-c", "--command")),
    "runuser": Program(audit=_RUNS_TEXT, shell_texts=("-c", "--command")),
    "script": Program(audit=_RUNS_TEXT, shell_texts=("-c", "--command")),
    "eval": Program(audit=_RUNS_TEXT, shell_texts=("*",)),
    "trap": Program(audit=_RUNS_TEXT, shell_texts=("*",)),
    "tmux": Program(audit=_RUNS_TEXT, shell_texts=("*", "+"), version=("-V", "ls", "list-sessions")),
    "screen": Program(audit=_RUNS_TEXT, shell_texts=("*", "+"), version=("-ls", "-list", "-v")),
    "mapfile": Program(audit=_RUNS_TEXT, shell_texts=("-C",)),
    "readarray": Program(audit=_RUNS_TEXT, shell_texts=("-C",)),
    "compgen": Program(audit=_RUNS_TEXT, shell_texts=("-C", "-W")),
    "complete": Program(audit=_RUNS_TEXT, shell_texts=("-C",)),
    **{
        shell: Program(audit=_RUNS_TEXT, version=("--version", "--help") if shell in ("bash", "sh", "zsh") else ())
        for shell in sorted(word_set("sh bash dash zsh ksh ash fish mksh rbash tcsh csh busybox-sh"))
    },
}
