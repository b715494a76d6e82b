"""Programs that tell about the machine, the user and the time. None prints the environment, none asks the network."""

import re

from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.spec import Parsed
from clew.text.guarded_names import word_set

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


def _bounded(parsed: Parsed) -> str:
    """A delay without a count goes on without end."""
    numbers = [word.text for word in parsed.operands]
    fine = len(numbers) in (0, 2) and all(re.fullmatch(r"\d{1,3}", text) for text in numbers)
    return "" if fine else "only a bounded number of reports is shown unasked"


def _short_sleep(parsed: Parsed) -> str:
    fine = all(re.fullmatch(r"\d{1,3}(\.\d+)?s?", word.text) for word in parsed.operands)
    return "" if fine and parsed.operands else "only short waits are allowed unasked"


def _no_slash(parsed: Parsed) -> str:
    return "" if all(word.text for word in parsed.operands) else "an empty name"


def _tput(parsed: Parsed) -> str:
    shown = {"cols", "lines", "colors", "longname"}
    return "" if {word.text for word in parsed.operands} <= shown else "this changes the terminal"


def _shows_limits(parsed: Parsed) -> str:
    return "" if parsed.flags.keys() - {"-S", "-H"} else "only limits by their letter are shown unasked"


PROGRAMS: dict[str, Program] = {
    "pwd": reader("-L -P --logical --physical", "none", shows="words"),
    "true": reader("", "anything", shows="words"),
    "false": reader("", "anything", shows="words"),
    ":": reader("", "anything", shows="words"),
    "whoami": reader("", "none", shows="words"),
    "logname": reader("", "none", shows="words"),
    "id": reader("-a -g -G -n -r -u -z --group --groups --name --real --user --zero", "text", shows="words"),
    "groups": reader("", "text", shows="words"),
    "users": reader("", "none", shows="words"),
    "who": reader(
        "--login --mesg --process --runlevel --short --time --users --dead -p "
        "-a -b -d -H -l -m -q -r -s -t -T -u --all --boot --count --heading",
        "none",
        shows="words",
    ),
    "w": reader("-h -s -f -i -u --no-header --short", "text", shows="words"),
    "uname": reader(
        "--kernel-version --processor --hardware-platform "
        "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system",
        "none",
        shows="words",
    ),
    "arch": reader("", "none", shows="words"),
    "hostname": reader("-s --short", "none", shows="words"),
    "hostid": reader("", "none", shows="words"),
    "uptime": reader("--raw -r -V -h -p -s --pretty --since", "none", shows="words"),
    "nproc": reader("--all --ignore=", "none", shows="words"),
    "date": reader(
        "-u -I -R -d: -j --utc --universal --iso-8601=? --rfc-3339= --rfc-email --date= -Iseconds -Idate "
        "-Iminutes -Ihours",
        "text",
        _date_only_shows,
        shows="words",
    ),
    "cal": reader(
        "--twelve -Y --monday --sunday --julian --week=? --one -1 -3 -y -m -j -w -n: -A: -B: --three --year",
        "text",
        shows="words",
    ),
    "ncal": reader("-1 -3 -y -m: -j -w -b -h", "text", shows="words"),
    "free": reader(
        "--giga --kilo --mega --tebi --tera --si --line -L -v "
        "-b -k -m -g -h -l -t -w --bytes --kibi --mebi --gibi --human --lohi --total --wide",
        "none",
        shows="words",
    ),
    "vmstat": reader(
        "-a -d -D -f -m -n -s -S: -t -w -y --active --disk --disk-sum --forks --one-header --slabs --stats --timestamp "
        "--unit= --wide",
        "text",
        _bounded,
        shows="words",
    ),
    "lscpu": reader(
        "-B -C=? --bytes --caches=? --offline --online --output-all --physical "
        "-a -b -c -e=? -J -p=? -x --all --extended=? --json --parse=? --hex",
        "none",
        shows="words",
    ),
    "lsblk": reader(
        "--output-all --pairs --perms --raw --scsi --sort= --topology --tree=? --zoned "
        "-A -D -I: -e: -s -x: -z --ascii --discard --exclude= --include= --inverse --merge --nodeps --noheadings "
        "-a -b -d -f -i -J -l -m -n -o: -p -P -r -S -t -T --all --bytes --fs --json --list --output= --paths",
        "none",
        shows="words",
    ),
    "lsusb": reader("-t", "none", shows="words"),
    "lspci": reader("-v -vv -k -n -nn -t -m", "none", shows="words"),
    "lsmem": reader(
        "--all --bytes --json --noheadings --output= --output-all --pairs --raw --split= --summary=? -a -b -J -n -r",
        "none",
        shows="words",
    ),
    "locale": reader("-a -m -c -k --all-locales", "text", shows="words"),
    "getconf": reader("-a", "text", shows="words"),
    "tput": reader("", "text", _tput, shows="words"),
    "ulimit": reader(
        "-a -S -H -b -c -d -e -f -i -k -l -m -n -p -q -r -s -t -u -v -x", "none", _shows_limits, shows="words"
    ),
    "umask": reader("-S -p", "none", shows="words"),
    "tty": reader("-s --silent --quiet", "none", shows="words"),
    "sleep": reader("", "text", _short_sleep, shows="words"),
    "ps": reader(
        "-A -a -e -f -F -l -j -L -T -p: -o: -H -w -y --forest --format= --headers --no-headers --pid= --ppid= --sort= "
        "--user= --width= --cols= -aux -ww",
        "text",
        _ps,
        shows="words",
    ),
    "pgrep": reader(
        "--oldest --newest --parent= --uid= --euid= --delimiter= --ignore-case --inverse "
        "-a -c -d: -f -g: -G: -i -l -n -o -P: -t: -u: -U: -v -w -x --count --full --list-name --list-full --exact",
        "text",
        shows="words",
    ),
    "pidof": reader("-s -x -o:", "text", shows="words"),
    "pstree": reader(
        "--show-pgids --show-pids --thread-names --uid-changes --unicode "
        "--arguments --ascii --compact-not --hide-threads --highlight-all --long --numeric-sort --show-parents "
        "-a -A -c -g -h -l -n -p -s -t -T -u",
        "text",
        shows="words",
    ),
    "which": reader("-a -s --all", "text", _no_slash, shows="words"),
    "type": reader("-a -t -p -P -f", "text", shows="words"),
    "whereis": reader("-b -m -s", "text", shows="words"),
    "sw_vers": reader("-productName -productVersion -buildVersion", "none", shows="words"),
    "lsb_release": reader(
        "-a -i -d -r -c -s --all --id --description --release --codename --short", "none", shows="words"
    )._replace(hosted=True),
    "test": reader("", "text"),
    "[": reader("", "text"),
}
