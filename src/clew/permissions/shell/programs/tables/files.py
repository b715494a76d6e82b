"""Programs that list, measure and describe files."""

from clew.permissions.shell.programs.program import Program, reach, reader
from clew.permissions.shell.programs.spec import Parsed


def _tar_lists(parsed: Parsed) -> str:
    extracts = parsed.flags.keys() & {"-x", "--extract", "--get"}
    if extracts and not parsed.flags.keys() & {"-O", "--to-stdout"}:
        return "without -O it writes files"
    if not extracts and not parsed.flags.keys() & {"-t", "--list"}:
        return "only listing an archive is proven harmless"
    if any(":" in path.text for path in parsed.paths):
        return "a colon makes tar reach for another machine"
    return ""


def _lists_only(parsed: Parsed) -> str:
    return (
        ""
        if parsed.flags.keys() & {"-l", "-v", "-Z", "-Z1", "-t", "-p", "-c"}
        else "only listing an archive is proven harmless"
    )


def _to_stdout(parsed: Parsed) -> str:
    """Without one of these the file is replaced by its packed or unpacked form."""
    safe = {"-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"}
    return "" if parsed.flags.keys() & safe else "this replaces the file"


_SUMS = "-b -t -z -c -w --tag --binary --text --zero --check --ignore-missing --quiet --status --strict --warn"

PROGRAMS: dict[str, Program] = {
    "ls": reader(
        "-a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v "
        "-w: -x -X -Z -1 -I: "
        "--all --almost-all --author --block-size= --color=? --directory --escape --file-type --classify=? "
        "--format= --full-time "
        "--group-directories-first --hide= --human-readable --hyperlink=? --ignore= --ignore-backups "
        "--indicator-style= --inode "
        "--kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style= --recursive "
        "--reverse --show-control-chars "
        "--si --size --sort= --time= --time-style= --width= --zero --dereference "
        "--dereference-command-line -H",
        shows="names",
        any_file=True,
        walks="-R --recursive",
        follows="-L --dereference",
    ),
    "dir": reader("-a -A -l -h -1 -R --all --color=?", shows="names"),
    "vdir": reader("-a -A -h -1 --all --color=?", shows="names"),
    "exa": reader(
        "--header --oneline --git --accessed --created --modified --group --inode --only-dirs --recurse --grid "
        "-a -l -h -T -R -r -s: -L: -1 --long --all --tree --level= --sort= --reverse --icons --git-ignore --color=",
        shows="names",
    ),
    "eza": reader(
        "--header --oneline --git --accessed --created --modified --group --inode --only-dirs --recurse --grid "
        "-a -l -h -T -R -r -s: -L: -1 --long --all --tree --level= --sort= --reverse --icons --git-ignore --color=",
        shows="names",
    ),
    "tree": reader(
        "-a -d -f -i -s -h -D -F -C -n -p -u -g -L: -P: -I: -v -t -c -U -r -x -N -Q -J -X --dirsfirst "
        "--filesfirst --noreport "
        "--prune --gitignore --du --si --charset= --filelimit= --matchdirs --ignore-case --sort= --timefmt= "
        "--inodes -S -A -q",
        shows="names",
        walks="*",
        follows="-l",
    ),
    "du": reader(
        "-a -b -c -d: -h -H -k -m -s -S -t: -x -0 -B: --all --apparent-size --block-size= --bytes --total "
        "--max-depth= "
        "--human-readable --si --summarize --separate-dirs --threshold= --time=? --one-file-system "
        "--exclude= --inodes --null -D -P -l --dereference-args --no-dereference --count-links "
        "--time-style=",
        shows="names",
        any_file=True,
        walks="*",
        follows="-L --dereference",
    ),
    "df": reader(
        "-a -B: -h -H -i -k -l -P -t: -T -x: --all --block-size= --total --human-readable --si --inodes "
        "--local --output=? "
        "--portability --type= --print-type --exclude-type=",
        "text",
        shows="names",
    ),
    "stat": reader(
        "-L --dereference --cached= -c: -f -t -x -r -s -n -F --format= --printf= --file-system --terse",
        shows="names",
        any_file=True,
    ),
    "file": reader(
        "-b -i -L -h -k -N -n -r -0 --brief --mime --mime-type --mime-encoding --extension --no-dereference",
        needs_operand=True,
        shows="names",
        any_file=True,
    ),
    "readlink": reader(
        "--quiet --silent --verbose "
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
        shows="names",
    ),
    "realpath": reader(
        "--logical --physical --quiet --no-symlinks "
        "-e -m -L -P -q -s -z --relative-to=@ --relative-base=@ --canonicalize-existing "
        "--canonicalize-missing --strip --zero",
        shows="names",
    ),
    "basename": reader("-a -s: -z --multiple --suffix= --zero", "text", shows="words", any_file=True),
    "dirname": reader("-z --zero", "text", shows="words", any_file=True),
    "pathchk": reader("-p -P --portability", "text", shows="words"),
    "md5sum": reader(_SUMS, any_file=True),
    "sha1sum": reader(_SUMS, any_file=True),
    "sha224sum": reader(_SUMS),
    "sha256sum": reader(_SUMS, any_file=True),
    "sha384sum": reader(_SUMS),
    "sha512sum": reader(_SUMS),
    "b2sum": reader(f"{_SUMS} -l: --length="),
    "shasum": reader("-a: -b -t --algorithm="),
    "md5": reader("-q -r -s:"),
    "cksum": reader("-a: --algorithm= --untagged --tag"),
    "sum": reader("-r -s --sysv"),
    "cmp": reader("-b -i: -l -n: -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent"),
    "diff": reader(
        "-a -b -B -c -C: -d -e -E -H -i -I: -n -N -p -q -r -s -S: -t -T -u -U: -v -w -W: -x: -y -Z "
        "--brief --color=? "
        "--context=? --exclude= --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case "
        "--ignore-matching-lines= "
        "--ignore-space-change --ignore-tab-expansion --ignore-trailing-space --label= --left-column "
        "--minimal --new-file "
        "--no-dereference --normal --recursive --report-identical-files --show-c-function --side-by-side "
        "--speed-large-files "
        "--starting-file= --strip-trailing-cr --suppress-common-lines --tabsize= --text "
        "--unchanged-group-format= --unified=? "
        "--unidirectional-new-file --width= -#",
        walks="-r --recursive",
        follows="*",
        stays="--no-dereference",
    ),
    "diff3": reader(
        "--show-all --merge --easy-only --ed --overlap-only --initial-tab --label= -A -e -E -m -T -x -X -3 -a -i --text"
    ),
    "diffstat": reader("-p: -w: -l -f: -s -t"),
    "tar": reader(
        "-t -x -O -f@ -v -z -j -J --list --extract --get --to-stdout"
        " --file=@ --verbose --gzip --bzip2 --xz --zstd --exclude= --wildcards "
        "--no-wildcards "
        "--strip-components= --full-time --numeric-owner -a --auto-compress",
        "text",
        _tar_lists,
    )._replace(
        reaches=(
            reach("deletes", needs="--remove-files", deep="*"),
            reach("deletes", "values", needs="--recursive-unlink", values="-C --directory --cd", deep="*"),
        ),
        folder_flags=("-C", "--directory", "--cd"),
    ),
    "unzip": reader("-l -v -Z -Z1 -q -t", "paths", _lists_only),
    "gzip": reader("-c -d -k -l -t -v -q --stdout --to-stdout --decompress --list --test", "paths", _to_stdout),
    "gunzip": reader("-c -k -l -t -v -q --stdout --to-stdout --list --test", "paths", _to_stdout),
    "zipinfo": reader("-1 -2 -s -m -l -v -h -t -z -T"),
    "zcat": reader("-f"),
    "bzcat": reader("-s"),
    "xzcat": reader(""),
    "zstdcat": reader(""),
    "lsattr": reader("-R -a -d -l", shows="names"),
    "getfacl": reader(
        "--numeric --access --default --omit-header --all-effective --absolute-names --tabular -t -a -d -c -e -n -p",
        shows="names",
    ),
    "namei": reader("--long --modes --owners --vertical --mountpoints --nosymlinks -l -m -o -v -x -n", shows="names"),
}
