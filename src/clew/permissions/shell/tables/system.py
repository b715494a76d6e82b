"""Programs that tell about the machine, the user and the time. None prints the environment, none asks the network."""

import re

from clew.permissions.shell.spec import Parsed, Spec
from clew.permissions.word_set import word_set

_PS_COLUMNS = word_set(
    """pid ppid pgid sid user uid ruser ruid euser euid group gid comm cmd args command ucmd %cpu %mem pcpu pmem
    rss vsz sz time etime etimes cputime stat state s tty tt tname start stime start_time lstart ni nice pri
    psr nlwp lwp tid wchan size f c"""
)


def _date_only_shows(parsed: Parsed) -> str:
    return "" if all(word.text.startswith("+") for word in parsed.operands) else "would set the clock"


def _ps(parsed: Parsed) -> str:
    """ps reads an option cluster it does not understand again in BSD style, where `e` prints environments."""
    for word in parsed.operands:
        if not word.text.isdigit() and set(word.text) - set("auxwflrsjTH"):
            return "this form of ps may print environments"
    for flag in ("-o", "--format", "--sort"):
        for value in parsed.flags.get(flag, ()):
            columns = {column.lstrip("+-").partition("=")[0].partition(":")[0] for column in value.split(",")}
            if not columns <= _PS_COLUMNS:
                return "these columns of ps are not proven harmless"
    for flag in ("-p", "--pid", "--ppid"):
        if not all(re.fullmatch(r"\d+(,\d+)*", value) for value in parsed.flags.get(flag, ())):
            return "these process numbers could be read as options"
    return ""


def _short_sleep(parsed: Parsed) -> str:
    fine = all(re.fullmatch(r"\d{1,3}(\.\d+)?s?", word.text) for word in parsed.operands)
    return "" if fine and parsed.operands else "only short waits are allowed unasked"


def _no_slash(parsed: Parsed) -> str:
    return "" if all(word.text for word in parsed.operands) else "an empty name"


def _tput(parsed: Parsed) -> str:
    shown = {"cols", "lines", "colors", "longname"}
    return "" if {word.text for word in parsed.operands} <= shown else "this changes the terminal"


def _shows_limits(parsed: Parsed) -> str:
    return "" if "-a" in parsed.flags else "only the list of limits is shown unasked"


ROWS: dict[str, Spec] = {
    "pwd": Spec("-L -P --logical --physical", "none"),
    "true": Spec("", "anything"),
    "false": Spec("", "anything"),
    ":": Spec("", "anything"),
    "whoami": Spec("", "none"),
    "logname": Spec("", "none"),
    "id": Spec("-a -g -G -n -r -u -z --group --groups --name --real --user --zero", "text"),
    "groups": Spec("", "text"),
    "users": Spec("", "none"),
    "who": Spec("-a -b -d -H -l -m -q -r -s -t -T -u --all --boot --count --heading", "none"),
    "w": Spec("-h -s -f -i -u --no-header --short", "text"),
    "uname": Spec(
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system",
        "none",
    ),
    "arch": Spec("", "none"),
    "hostname": Spec("-s --short", "none"),
    "hostid": Spec("", "none"),
    "uptime": Spec("-p -s --pretty --since", "none"),
    "nproc": Spec("--all --ignore=", "none"),
    "date": Spec(
        "-u -I -R -d: -j --utc --universal --iso-8601=? --rfc-3339= --rfc-email --date= -Iseconds -Idate "
        "-Iminutes -Ihours",
        "text",
        _date_only_shows,
    ),
    "cal": Spec("-1 -3 -y -m -j -w -n: -A: -B: --three --year", "text"),
    "ncal": Spec("-1 -3 -y -m: -j -w -b -h", "text"),
    "free": Spec("-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide", "none"),
    "vmstat": Spec("-a -d -D -m -s -S: -t -w", "none"),
    "lscpu": Spec("-a -b -c -e=? -J -p=? -x --all --extended=? --json --parse=? --hex", "none"),
    "lsblk": Spec(
        "-a -b -d -f -i -J -l -m -n -o: -p -P -r -S -t -T --all --bytes --fs --json --list --output= --paths", "none"
    ),
    "lsusb": Spec("-t", "none"),
    "lspci": Spec("-v -vv -k -n -nn -t -m", "none"),
    "lsmem": Spec("-a -b -J -n -r", "none"),
    "locale": Spec("-a -m -c -k --all-locales", "text"),
    "getconf": Spec("-a", "text"),
    "tput": Spec("", "text", _tput),
    "ulimit": Spec("-a", "none", _shows_limits),
    "umask": Spec("-S -p", "none"),
    "tty": Spec("-s --silent --quiet", "none"),
    "sleep": Spec("", "text", _short_sleep),
    "ps": Spec(
        "-A -a -e -f -F -l -j -L -T -p: -o: -H -w -y --forest --format= --headers --no-headers --pid= --ppid= --sort= "
        "--user= --width= --cols= -aux -ww",
        "text",
        _ps,
    ),
    "pgrep": Spec(
        "-a -c -d: -f -g: -G: -i -l -n -o -P: -t: -u: -U: -v -w -x --count --full --list-name --list-full --exact",
        "text",
    ),
    "pidof": Spec("-s -x -o:", "text"),
    "pstree": Spec("-a -A -c -g -h -l -n -p -s -t -T -u", "text"),
    "which": Spec("-a -s --all", "text", _no_slash),
    "type": Spec("-a -t -p -P -f", "text"),
    "whereis": Spec("-b -m -s", "text"),
    "sw_vers": Spec("-productName -productVersion -buildVersion", "none"),
    "lsb_release": Spec("-a -i -d -r -c -s --all --id --description --release --codename --short", "none"),
    "test": Spec("", "text"),
    "[": Spec("", "text"),
}
