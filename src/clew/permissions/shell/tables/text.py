"""Programs that print and transform text on its way to standard output."""

import re

from clew.permissions.shell.awk import check_awk
from clew.permissions.shell.filters import check_jq, check_yq
from clew.permissions.shell.sed import check_sed
from clew.permissions.shell.spec import Parsed, Spec

# Bash stores the number of characters so far in the variable that %n names, PATH for one.
_COUNTS = re.compile(r"%[^A-Za-z]*[hlLjzt]*n")


def _printf(parsed: Parsed) -> str:
    if not parsed.operands:
        return "would print nothing"
    first = parsed.operands[0].text
    template = parsed.operands[1].text if first == "--" and len(parsed.operands) > 1 else first
    return "would set a variable" if first.startswith("-v") or _COUNTS.search(template.replace("%%", "")) else ""


ROWS: dict[str, Spec] = {
    "echo": Spec("", "anything"),
    "printf": Spec("", "anything", _printf),
    "cat": Spec(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank "
        "--show-tabs --show-nonprinting"
    ),
    "tac": Spec("-b -r -s: --before --regex --separator="),
    "rev": Spec("-0 --zero"),
    "nl": Spec(
        "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering= --number-format= --number-width= "
        "--number-separator="
    ),
    "head": Spec("-c: -n: -q -v -z -# --bytes= --lines= --quiet --silent --verbose --zero-terminated"),
    "tail": Spec("-c: -n: -q -v -z -r -# --bytes= --lines= --quiet --silent --verbose --zero-terminated"),
    "wc": Spec("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total="),
    "sort": Spec(
        "-b -c -C -d -f -g -h -i -k: -m -M -n -r -R -s -S: -t: -u -V -z --ignore-leading-blanks "
        "--dictionary-order --ignore-case "
        "--general-numeric-sort --human-numeric-sort --ignore-nonprinting --key= --merge --month-sort "
        "--numeric-sort --reverse "
        "--random-sort --sort= --stable --field-separator= --unique --version-sort --zero-terminated "
        "--check=? --parallel= --buffer-size="
    ),
    "uniq": Spec(
        "-c -d -D -f: -i -s: -u -w: -z --count --repeated --all-repeated=? --skip-fields= --ignore-case "
        "--skip-chars= --unique "
        "--check-chars= --zero-terminated --group=?",
        "path",
    ),
    "cut": Spec(
        "-b: -c: -d: -f: -n -s -z --bytes= --characters= --delimiter= --fields= --complement "
        "--only-delimited --output-delimiter="
    ),
    "tr": Spec("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text"),
    "paste": Spec("-d: -s -z --delimiters= --serial"),
    "join": Spec("-a: -e: -i -j: -o: -t: -v: -1: -2: -z --check-order --nocheck-order --header --ignore-case"),
    "comm": Spec("-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total"),
    "fold": Spec("-b -s -w: --bytes --spaces --width= -#"),
    "fmt": Spec("-c -s -t -u -w: -p: --width= --split-only -#"),
    "column": Spec(
        "-c: -s: -t -x -N: -o: -n: -e -J -R: -H: --table --separator= --output-separator= --table-columns= --json"
    ),
    "expand": Spec("-i -t: --initial --tabs= -#"),
    "unexpand": Spec("-a -t: --all --first-only --tabs="),
    "pr": Spec("-# -d -h: -l: -n -t -w: -m -W: --columns= --header= --length="),
    "od": Spec(
        "-A: -j: -N: -S: -t: -v -w: -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= "
        "--read-bytes= --format= --width=?"
    ),
    "hexdump": Spec("-b -c -C -d -e: -n: -o -s: -v -x --canonical --length= --skip="),
    "hd": Spec("-n: -s: -v"),
    "xxd": Spec("-a -b -c: -C -d -e -g: -i -l: -n: -o: -p -ps -plain -s: -u -E", "path"),
    "strings": Spec("-a -e: -n: -o -t: -f -w -# --all --bytes= --radix= --encoding= --print-file-name"),
    "base64": Spec("-d -D -i -w: --decode --ignore-garbage --wrap=", "path"),
    "base32": Spec("-d -i -w: --decode --ignore-garbage --wrap=", "path"),
    "basenc": Spec("-d -i -w: --base64 --base64url --base32 --base16 --decode --wrap=", "path"),
    "iconv": Spec("-f: -t: -c -l -s --from-code= --to-code= --list --silent"),
    "seq": Spec("-f: -s: -w --format= --separator= --equal-width -# -1", "text"),
    "expr": Spec("", "anything"),
    "factor": Spec("", "text"),
    "bc": Spec("-l -q -s --mathlib --quiet --standard"),
    "numfmt": Spec(
        "--from= --to= --field= --format= --suffix= --padding= --header=? --round= --grouping -d: --delimiter=", "text"
    ),
    "tsort": Spec(""),
    "ptx": Spec("-w: -f -A", "path"),
    "look": Spec("-a -d -f -t:", "pattern paths"),
    "sed": Spec(
        "-n -E -r -s -u -z -e: --quiet --silent --regexp-extended --separate --null-data --expression= --posix --debug",
        "text",
        check_sed,
    ),
    "awk": Spec("-F: -v: -e: --field-separator= --assign= --posix --traditional --re-interval", "text", check_awk),
    "gawk": Spec("-F: -v: -e: --field-separator= --assign= --posix --traditional --re-interval", "text", check_awk),
    "mawk": Spec("-F: -v:", "text", check_awk),
    "nawk": Spec("-F: -v:", "text", check_awk),
    "jq": Spec(
        "-r -c -s -n -e -S -a -j -C -M -R --raw-output --compact-output --slurp --null-input --exit-status "
        "--sort-keys --ascii-output "
        "--join-output --raw-output0 --color-output --monochrome-output --raw-input --tab --indent= --seq "
        "--stream --arg== --argjson== "
        "--unbuffered",
        "text",
        check_jq,
    ),
    "yq": Spec("-r -P -C -M -N --prettyPrint --colors --no-colors --no-doc --unwrapScalar=? -j -y", "text", check_yq),
}
