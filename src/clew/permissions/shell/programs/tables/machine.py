"""Programs that tell of services, processes, sockets and containers of this machine. None asks another machine."""

import os
import re

from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.spec import Parsed, Spec
from clew.permissions.shell.programs.tables.everyday import shown_properties
from clew.text.guarded_names import word_set

_SERVICES = "Asks the service manager of this machine and changes nothing; flags that ask another one are left out."
_SOCKETS = "Reads the kernel's tables. Flags that look up names of other machines or end connections are left out."
_DOCKER = (
    "Asks the daemon that the user's settings name. Where DOCKER_HOST or the context names another machine, it asks; "
    "verbs that show environments (inspect) or start plug-ins for project files (compose) are left out."
)
_CONTEXT = re.compile(r'"currentContext"\s*:\s*"([^"]*)"')
_UNIT = re.compile(r"[\w@:.\\*-]+")
_PAGE = re.compile(r"[A-Za-z0-9_+:][A-Za-z0-9_.+:-]*")
_REPORT = re.compile(r"\d{1,3}|[a-z]{2,4}[a-z0-9]*")
_SS_WORDS = word_set(
    """state connected synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed
    close-wait last-ack listening closing sport dport src dst or and not eq neq lt gt ge le ( ) = == != < > <= >="""
)
# Digits alone or with a colon: `cafe.be` is made of hexadecimal digits as well, and is a name that would be looked up.
_ADDRESS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){0,3}|\[?[0-9a-fA-F]*:[0-9a-fA-F:]*\]?)(?:/\d{1,3})?(?::\d{1,5})?")
_INTERNET = re.compile(r"[46]?(?:tcp|udp|TCP|UDP)?(?::[0-9,-]+|:[a-z][a-z-]*)?")
_FAMILIES = word_set("inet inet6 bridge mpls link")
_IP_OBJECTS = word_set(
    """a ad addr address l li link r ro route n ne neigh neighbor neighbour ru rule m ma maddr maddress netc netconf st
    stats tunt tuntap tunnel ntable"""
)
# Not `s`: for a link that is `set`.
_IP_SHOWS = word_set("sh sho show l li lis list ls lst")


def _matches(parsed: Parsed) -> str:
    fine = all(re.fullmatch(r"[\w@:.=/+-]+", word.text) for word in parsed.operands)
    return "" if fine else "this is not a plain match"


def _first_in(*verbs: str, bare: bool = True):
    def check(parsed: Parsed) -> str:
        words = [word.text for word in parsed.operands]
        if not words:
            return "" if bare else "this form is not known to only read"
        return "" if words[0] in verbs and all(map(_UNIT.fullmatch, words[1:])) else f"{words[0]} may change something"

    return check


def _man_pages(parsed: Parsed) -> str:
    told = parsed.operands or parsed.flags.keys() & {"-w", "--where", "--path"}
    fine = told and all(_PAGE.fullmatch(word.text) for word in parsed.operands)
    return "" if fine else "only pages by their name are shown unasked"


def _counted(parsed: Parsed) -> str:
    """A delay without a count goes on without end."""
    words = [word.text for word in parsed.operands]
    fine = all(map(_REPORT.fullmatch, words)) and sum(word.isdigit() for word in words) != 1
    return "" if fine else "only a bounded number of reports is shown unasked"


def _top(parsed: Parsed) -> str:
    counts = [*parsed.flags.get("-n", ()), *parsed.flags.get("--iterations", ())]
    fine = parsed.flags.keys() & {"-b", "--batch"} and counts and all(re.fullmatch(r"[1-5]", text) for text in counts)
    return "" if fine else "only top -b -n 1 ends by itself"


def _lsof(parsed: Parsed) -> str:
    if not all(map(_INTERNET.fullmatch, parsed.flags.get("-i", ()))):
        return "this address may be the name of another machine, which would be looked up"
    addresses = "-i" in parsed.flags
    if any(word.text.startswith("+") or (addresses and "@" in word.text) for word in parsed.operands):
        return "this word is an option, or an address that may be looked up"
    selects = parsed.flags.keys() - {"-t", "-l", "-w", "-Q"}
    if "-n" in parsed.flags or (parsed.operands and not selects):
        return ""
    return "without -n it looks up the names of other machines"


def _netstat(parsed: Parsed) -> str:
    return "" if parsed.flags.keys() & {"-n", "--numeric"} else "without -n it looks up the names of other machines"


def _ss(parsed: Parsed) -> str:
    words = [text for word in parsed.operands for text in word.text.split()]
    fine = all(
        text in _SS_WORDS or re.fullmatch(r":?\d{1,5}|:[a-z-]+", text) or _ADDRESS.fullmatch(text) for text in words
    )
    return "" if fine else "this filter may look up the name of another machine"


def _ip(parsed: Parsed) -> str:
    """An object alone or with a verb that shows; what follows such a verb only narrows what is shown."""
    words = [word.text for word in parsed.operands]
    # `-fa` is short for -family: what looks like its value here is not, and the next word is none of the command.
    if not {*parsed.flags.get("-f", ()), *parsed.flags.get("-family", ())} <= _FAMILIES:
        return "this is not a family of addresses"
    if not words or words[0] not in _IP_OBJECTS:
        return "only addresses, links, routes, neighbours and rules are shown unasked"
    gets = len(words) > 2 and words[1] in ("g", "get") and _ADDRESS.fullmatch(words[2])
    if len(words) > 1 and words[1] not in _IP_SHOWS and not gets:
        return "this form of ip may change something"
    rest = words[3 if gets else 2 :]
    fine = all(_UNIT.fullmatch(word) or _ADDRESS.fullmatch(word) for word in rest)
    return "" if fine else "this is not the name of a device"


def _interface(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    return "" if len(words) <= 1 and all(map(_UNIT.fullmatch, words)) else "this changes an interface"


def _local_daemon(parsed: Parsed) -> str:
    host = os.environ.get("DOCKER_HOST", "")
    if (host and not host.startswith("unix://")) or os.environ.get("DOCKER_CONTEXT", "default") != "default":
        return "docker is set to another machine"
    try:
        with open(os.path.expanduser("~/.docker/config.json"), encoding="utf-8") as file:
            context = _CONTEXT.search(file.read(1_000_000))
    except (OSError, ValueError):
        return ""
    local = context is None or context[1] in ("", "default", "rootless", "desktop-linux")
    return "" if local else "docker is set to another context"


def _one_container(parsed: Parsed) -> str:
    """What follows the name goes to ps, which can be told to show environments."""
    return _local_daemon(parsed) if len(parsed.operands) == 1 else "only one container by its name is shown unasked"


def _one_report(parsed: Parsed) -> str:
    return _local_daemon(parsed) if "--no-stream" in parsed.flags else "without --no-stream it goes on without end"


def _docker_group(*verbs: str):
    def check(parsed: Parsed) -> str:
        words = [word.text for word in parsed.operands]
        if not words or words[0] not in verbs or (words[0] == "top" and len(words) != 2):
            return "this form is not known to only list"
        return _local_daemon(parsed)

    return check


def _compose_version(parsed: Parsed) -> str:
    """Its own version; every other verb reads files of the project."""
    return "" if [word.text for word in parsed.operands] == ["version"] else "this reads files of the project"


def _client_only(parsed: Parsed) -> str:
    return "" if "--client" in parsed.flags else "without --client it asks the cluster"


_DOCKER_LIST = "-a -q -s -l -n: -f: --all --quiet --size --last= --latest --filter= --format= --no-trunc --digests"
_UNITS = (
    "-a -l -q -r -t: -n: -o: --all --failed --full --plain --no-legend --no-pager --quiet --type= --state= --user "
    "--system --lines= --output= --reverse --after --before --recursive --with-dependencies --show-types "
    "-p: --property= --value"
)
_SYSTEMCTL = sorted(
    word_set(
        """status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-jobs
        list-dependencies list-machines list-automounts list-paths get-default is-system-running"""
    )
)

_lists_units = _first_in(*_SYSTEMCTL)


def _systemctl(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    if words[:1] == ["show"]:
        return "" if all(map(_UNIT.fullmatch, words[1:])) and not shown_properties(parsed) else "this may show secrets"
    return _lists_units(parsed)


PROGRAMS: dict[str, Program] = {
    "systemctl": reader(_UNITS, "text", _systemctl, audit=_SERVICES, shows="words", version=("--version", "--help")),
    "journalctl": reader(
        "-# -a -b=? -e -g: -k -l -n=? -o: -p: -q -r -t: -u: -x -S: -U: --all --boot=? --case-sensitive=? --catalog "
        "--disk-usage --dmesg --facility= --fields --full --grep= --header --identifier= --lines=? --list-boots "
        "--no-full --no-hostname --no-pager --no-tail --output= --output-fields= --pager-end --priority= --quiet "
        "--reverse --since= --system --unit= --until= --user --user-unit= --utc --truncate-newline -N -F: --field= "
        "--list-catalog",
        "text",
        _matches,
        audit="Reads the journal of this machine. Flags that follow it, move it or read another one are left out.",
        shows="words",
    ),
    "man": Program(
        audit="Formats pages of the system and shows them with the pager of the environment, which is cat here. Flags "
        "that name a pager, a browser, a file or other settings are left out, and so are pages by path.",
        reads=Spec(
            "-a -f -k -w -W -s: -S: -e: -i -I --all --apropos --whatis --where --path --sections=", "text", _man_pages
        ),
        tail=Spec("", "text"),
        shows="words",
    ),
    **{
        name: reader(
            "-a -e -l -r -w -s: --and --exact --long --regex --wildcard --section=", "text", _man_pages, shows="words"
        )
        for name in ("apropos", "whatis")
    },
    "lsof": reader(
        "-a -b -c: -d: -g=? -i=? -l -n -N -O -P -p: -Q -R -s=? -t -U -u: -w -V",
        "paths",
        _lsof,
        audit=_SOCKETS,
        shows="names",
    ),
    "ss": reader(
        "-a -e -H -i -l -m -n -o -O -p -s -S -t -T -u -w -x -Z -z -0 -4 -6 -f: --all --extended --info --ipv4 --ipv6 "
        "--listening --memory --no-header --numeric --oneline --options --packet --processes --raw --sctp --summary "
        "--tcp --tipc --udp --unix --vsock --family=",
        "text",
        _ss,
        audit=_SOCKETS,
        shows="words",
    ),
    "netstat": reader(
        "-a -A: -e -g -i -l -n -N -o -p -r -s -t -u -v -W -w -x -4 -6 --all --extend --groups --inet --inet6 "
        "--interfaces --listening --numeric --numeric-ports --program --programs --raw --route --statistics --tcp "
        "--timers --udp --unix --wide",
        "none",
        _netstat,
        audit=_SOCKETS,
        shows="words",
    ),
    "ip": reader(
        "-4 -6 -0 -a -br -brief -c -color -d -details -f: -family= -h -human -j -json -o -oneline -p -pretty -s -stats "
        "-statistics -t -timestamp -V --brief --color --json --oneline --stats --details",
        "text",
        _ip,
        audit=_SOCKETS,
        shows="words",
        flags_first=True,
    ),
    "ifconfig": reader("-a -s -v", "text", _interface, audit=_SOCKETS, shows="words"),
    "dmesg": reader(
        "-d -e -f: -J -k -l: -L=? -P -r -S -t -T -u -x --color=? --ctime --decode --facility= --json --kernel --level= "
        "--nopager --notime --raw --reltime --show-delta --syslog --time-format= --userspace --since= --until=",
        "none",
        audit="Reads the kernel's log. Flags that clear it, follow it or change what it keeps are left out.",
        shows="words",
    ),
    "last": reader(
        "-# -a -F -i -n: -p: -R -s: -t: -w -x --fullnames --fulltimes --hostlast --ip --limit= --system --since= "
        "--until= --present= --nohostname --time-format=",
        "text",
        shows="words",
    ),
    "lastlog": reader("-b: -t: -u: --before= --time= --user=", "none", shows="words"),
    "findmnt": reader(
        "-A -a -b -C -D -e -f -i -J -k -l -n -N: -O: -o: -P -R -r -s -S: -t: -T: -u -v -x --all --ascii --bytes --df "
        "--evaluate --first-only --fstab --invert --json --kernel --list --noheadings --nofsroot --options= --output= "
        "--output-all --pairs --raw --real --pseudo --source= --submounts --target= --tree --types= --uniq --verify "
        "--verbose",
        "text",
        shows="words",
    ),
    **{
        name: reader(
            "-a -b -i -J -l -n -o: -p: -r -t: -T=? -u --bytes --json --list --noheadings --output= --output-all --pid= "
            "--raw --task= --type=",
            "none",
            shows="words",
        )
        for name in ("lsns", "lslocks")
    },
    **{
        name: reader(
            "-A -c -C: -d -h -I: -k -m -N -o: -p: -P: -r -s -t -u -w -x -y -z --compact --human --dec=",
            "text",
            _counted,
            shows="words",
        )
        for name in ("iostat", "mpstat", "pidstat")
    },
    "top": reader(
        "-b -c -d: -e: -E: -H -i -n: -o: -p: -u: -U: -w=? -1 --batch --iterations= --pid= --sort-override= "
        "--threads-show --filter-only-euser= --filter-any-user= --width=?",
        "none",
        _top,
        audit="Reads the process table; its own settings of the user only shape what is shown.",
        shows="words",
    ),
    "docker": Program(
        audit=_DOCKER,
        version=("--version", "--help", "-v"),
        subcommands={
            **dict.fromkeys(("ps", "images"), Spec(_DOCKER_LIST, "text", _local_daemon)),
            **dict.fromkeys(("version", "info"), Spec("-f: --format=", "none", _local_daemon)),
            "stats": Spec("-a --all --no-stream --no-trunc --format=", "text", _one_report),
            **dict.fromkeys(("top", "port", "diff"), Spec("", "text", _one_container)),
            "history": Spec("-H -q --human=? --no-trunc --quiet --format=", "text", _local_daemon),
            "container": Spec(_DOCKER_LIST, "text", _docker_group("ls", "list", "ps", "top", "port", "diff")),
            "image": Spec(_DOCKER_LIST, "text", _docker_group("ls", "list", "history")),
            **dict.fromkeys(
                ("network", "volume", "context", "plugin", "node", "service", "stack"),
                Spec(_DOCKER_LIST, "text", _docker_group("ls", "list")),
            ),
            "compose": Spec("-f: --format= --short", "text", _compose_version),
            "help": Spec("", "text"),
            "system": Spec("-v --verbose --format=", "text", _docker_group("df", "info")),
        },
    ),
    "kubectl": Program(
        audit="Only what it tells of its own settings: names of contexts and clusters, and its own version. Everything "
        "else asks the cluster.",
        version=("--help", "-h", "help"),
        subcommands={
            "config": Spec(
                "-o: --output= --no-headers --minify",
                "text",
                _first_in("current-context", "get-contexts", "get-clusters", "get-users", "view", bare=False),
            ),
            "version": Spec("--client -o: --output= --short", "none", _client_only),
            "options": Spec("", "none"),
        },
    ),
}
