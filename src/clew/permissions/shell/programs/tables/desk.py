"""Programs that tell about packages, sessions and settings of the machine, and a few viewers of the desk."""

from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.spec import Parsed, Spec

_SERVICE = "Asks a service of the machine over its local bus. Words that change something are left out."
_DATABASE = "Reads the package database of the system; its settings lie in the system's directories."
_LONG = ("--version", "--help")


def _first_in(*allowed: str, bare: bool = True):
    def check(parsed: Parsed) -> str:
        first = parsed.operands[0].text if parsed.operands else ""
        return "" if first in allowed or (bare and not first) else f"{first or 'this'} may change something"

    return check


def _no_assignment(parsed: Parsed) -> str:
    return "this sets a value" if any("=" in word.text for word in parsed.operands) else ""


def _queries(parsed: Parsed) -> str:
    return "" if parsed.flags.keys() & {"-q", "--query"} else "only queries are known to only read"


def _by_name(parsed: Parsed) -> str:
    return "this names a file" if any("/" in word.text for word in parsed.operands) else ""


_APT_CACHE = _first_in(
    "search", "show", "policy", "depends", "rdepends", "pkgnames", "madison", "stats", "showpkg", "showsrc", bare=False
)
PROGRAMS: dict[str, Program] = {
    "loginctl": reader(
        "-a -l -n: -o: --all --full --lines= --output= --no-pager --no-legend",
        "text",
        _first_in("list-sessions", "list-users", "list-seats", "session-status", "user-status", "seat-status"),
        audit=_SERVICE,
        shows="words",
    ),
    "timedatectl": reader(
        "-a --all --no-pager", "text", _first_in("status", "show", "list-timezones"), audit=_SERVICE, shows="words"
    ),
    "hostnamectl": reader(
        "--static --transient --pretty --no-pager", "text", _first_in("status"), audit=_SERVICE, shows="words"
    ),
    "localectl": reader(
        "--no-pager", "text", _first_in("status", "list-locales", "list-keymaps"), audit=_SERVICE, shows="words"
    ),
    "apt": Program(
        audit=_DATABASE,
        version=(*_LONG, "-v", "-h"),
        subcommands={
            "list": Spec("-a --installed --upgradable --all-versions --manual-installed", "text"),
            **dict.fromkeys(("show", "policy", "depends", "rdepends"), Spec("-a --all-versions", "text")),
            "search": Spec("-n -f --names-only --full", "text"),
        },
        shows="words",
    ),
    "apt-cache": reader(
        "-n -f -a --names-only --full --all-versions", "text", _APT_CACHE, audit=_DATABASE, shows="words"
    ),
    "rpm": reader(
        "-q -a -i -l -c -d -s -R --query --all --info --list --configfiles --docfiles --state --requires --provides "
        "--changelog --scripts --whatprovides --whatrequires --last",
        "text",
        _queries,
        audit=f"{_DATABASE} Flags that define or evaluate macros are left out.",
        shows="words",
    ),
    "lsmod": reader("", "none", shows="words"),
    "sysctl": reader(
        "-a -A -X -b -d -e -n -N -q -r: --all --values --names --quiet --pattern= --binary --ignore",
        "text",
        _no_assignment,
        audit="Shows the kernel's settings; files and assignments are left out.",
        shows="words",
    ),
    "route": reader("-n -e -ee -4 -6", "none", shows="words"),
    "info": reader("-w --where --location", "text", _by_name, audit="Shows a manual of the system.", shows="words"),
    "lua": Program(audit="It tells its version and runs nothing.", version=("-v",)),
    **{
        name: Program(audit="It tells its version and reads nothing of the project.", version=versions)
        for name, versions in {
            "htop": _LONG, "hyperfine": _LONG, "ffprobe": ("-version",),
            "convert": ("-version", "--version"), "magick": ("-version", "--version"), "identify": ("-version",),
            "gh": (*_LONG, "help", "version"), "helm": ("--help",), "exiftool": ("-ver",),
        }.items()
    },
    "tokei": reader(
        "-f -s: -t: -C --files --sort= --types= --compact --hidden --no-ignore", "paths", shows="names", walks="*"
    ),
}  # fmt: skip
