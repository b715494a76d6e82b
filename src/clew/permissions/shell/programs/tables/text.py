"""Programs that print and transform text on its way to standard output."""

import re

from clew.permissions.shell.programs.awk import check_awk
from clew.permissions.shell.programs.filters import check_jq, check_yq
from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.sed import check_sed
from clew.permissions.shell.programs.spec import Parsed, Spec
from clew.permissions.shell.programs.tables.objects import no_response_files

# Bash stores the number of characters so far in the variable that %n names, PATH for one.
_COUNTS = re.compile(r"%[^A-Za-z]*[hlLjzt]*n")


def _printf(parsed: Parsed) -> str:
    if not parsed.operands:
        return "would print nothing"
    first = parsed.operands[0].text
    template = parsed.operands[1].text if first == "--" and len(parsed.operands) > 1 else first
    return "would set a variable" if first.startswith("-v") or _COUNTS.search(template.replace("%%", "")) else ""


PROGRAMS: dict[str, Program] = {
    "echo": reader("", "anything", shows="words"),
    "printf": reader("", "anything", _printf, shows="words"),
    "cat": reader(
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank "
        "--show-tabs --show-nonprinting"
    ),
    "tac": reader("-b -r -s: --before --regex --separator="),
    "rev": reader("-V -h -0 --zero"),
    "nl": reader(
        "--no-renumber --starting-line-number= "
        "--header-numbering= --footer-numbering= --line-increment= --join-blank-lines= --section-delimiter= "
        "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering= --number-format= --number-width= "
        "--number-separator="
    ),
    "head": reader("-c: -n: -q -v -z -# --bytes= --lines= --quiet --silent --verbose --zero-terminated"),
    "tail": reader("-c: -n: -q -v -z -r -# --bytes= --lines= --quiet --silent --verbose --zero-terminated"),
    "wc": reader("-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=", any_file=True),
    "sort": reader(
        "-b -c -C -d -f -g -h -i -k: -m -M -n -r -R -s -S: -t: -u -V -z --ignore-leading-blanks "
        "--dictionary-order --ignore-case "
        "--general-numeric-sort --human-numeric-sort --ignore-nonprinting --key= --merge --month-sort "
        "--numeric-sort --reverse "
        "--random-sort --sort= --stable --field-separator= --unique --version-sort --zero-terminated "
        "--check=? --parallel= --buffer-size="
    ),
    "uniq": reader(
        "-c -d -D -f: -i -s: -u -w: -z --count --repeated --all-repeated=? --skip-fields= --ignore-case "
        "--skip-chars= --unique "
        "--check-chars= --zero-terminated --group=?",
        "path",
    ),
    "cut": reader(
        "--zero-terminated "
        "-b: -c: -d: -f: -n -s -z --bytes= --characters= --delimiter= --fields= --complement "
        "--only-delimited --output-delimiter="
    ),
    "tr": reader("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text"),
    "paste": reader("--zero-terminated -d: -s -z --delimiters= --serial"),
    "join": reader("-a: -e: -i -j: -o: -t: -v: -1: -2: -z --check-order --nocheck-order --header --ignore-case"),
    "comm": reader("-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total"),
    "fold": reader("-b -s -w: --bytes --spaces --width= -#"),
    "fmt": reader(
        "--crown-margin --tagged-paragraph --uniform-spacing --prefix= --goal= -g: "
        "-c -s -t -u -w: -p: --width= --split-only -#"
    ),
    "column": reader(
        "--output-width= --table-right= --table-hide= --tree= --fillrows --columns= "
        "-c: -s: -t -x -N: -o: -n: -e -J -R: -H: --table --separator= --output-separator= --table-columns= --json"
    ),
    "expand": reader("-i -t: --initial --tabs= -#"),
    "unexpand": reader("-a -t: --all --first-only --tabs="),
    "pr": reader(
        "--indent= --join-lines --merge --number-lines=? --omit-header --omit-pagination --page-width= --page_width= "
        "-a -D: -e -F -i -J -o: -T -v -S: --across --date-format= --double-space --first-line-number= --form-feed "
        "-# -d -h: -l: -n -t -w: -m -W: --columns= --header= --length="
    ),
    "od": reader(
        "--output-duplicates --endian= --strings=? --traditional "
        "-A: -j: -N: -S: -t: -v -w: -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= "
        "--read-bytes= --format= --width=?"
    ),
    "hexdump": reader(
        "--one-byte-octal --one-byte-char --two-bytes-decimal --two-bytes-octal --two-bytes-hex --no-squeezing "
        "-b -c -C -d -e: -n: -o -s: -v -x --canonical --length= --skip="
    ),
    "hd": reader("-n: -s: -v"),
    "xxd": reader("-a -b -c: -C -d -e -g: -i -l: -n: -o: -p -ps -plain -s: -u -E", "path"),
    "strings": reader(
        "-a -d -e: -n: -o -s: -t: -f -w -# --all --bytes= --data --encoding= --include-all-whitespace "
        "--output-separator= --print-file-name --radix=",
        "paths",
        no_response_files,
    ),
    "shuf": reader("-e -i: -n: -r -z --echo --head-count= --input-range= --repeat --zero-terminated"),
    "base64": reader("-d -D -i -w: --decode --ignore-garbage --wrap=", "path"),
    "base32": reader("-d -i -w: --decode --ignore-garbage --wrap=", "path"),
    "basenc": reader("-d -i -w: --base64 --base64url --base32 --base16 --decode --wrap=", "path"),
    "iconv": reader("--unicode-subst= --verbose -f: -t: -c -l -s --from-code= --to-code= --list --silent"),
    "seq": reader("-f: -s: -w --format= --separator= --equal-width -# -1", "text", shows="words"),
    "expr": reader("", "anything", shows="words"),
    "factor": reader("", "text", shows="words"),
    "bc": reader("-l -q -s --mathlib --quiet --standard"),
    "numfmt": reader(
        "--from= --to= --field= --format= --suffix= --padding= --header=? --round= --grouping -d: --delimiter=",
        "text",
        shows="words",
    ),
    "tsort": reader(""),
    "ptx": reader("-w: -f -A", "path"),
    "look": reader("-a -d -f -t:", "pattern paths"),
    "sed": reader(
        "-n -E -r -s -u -z -e: --quiet --silent --regexp-extended --separate --null-data --expression= --posix --debug",
        "text",
        check_sed,
    )._replace(
        changes=Spec("-i=? -n -E -r -s -z -e: --in-place=? --quiet --regexp-extended --expression=", "text"),
        writes="script files",
        plain_edit=True,
    ),
    "awk": reader("-F: -v: -e: --field-separator= --assign= --posix --traditional --re-interval", "text", check_awk),
    "gawk": reader("-F: -v: -e: --field-separator= --assign= --posix --traditional --re-interval", "text", check_awk),
    "mawk": reader("-F: -v:", "text", check_awk),
    "nawk": reader("-F: -v:", "text", check_awk),
    "jq": reader(
        "-r -c -s -n -e -S -a -j -C -M -R --raw-output --compact-output --slurp --null-input --exit-status "
        "--sort-keys --ascii-output "
        "--join-output --raw-output0 --color-output --monochrome-output --raw-input --tab --indent= --seq "
        "--stream --arg== --argjson== "
        "--unbuffered",
        "text",
        check_jq,
        audit="Reads ~/.jq of the user and no file of the project beside its operands; filters.py reads the filter.",
    ),
    "yq": reader(
        "-r -P -C -M -N --prettyPrint --colors --no-colors --no-doc --unwrapScalar=? -j -y", "text", check_yq
    )._replace(hosted=True),
}
