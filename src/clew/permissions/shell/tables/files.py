"""Programs that list, measure and describe files."""

from clew.permissions.shell.spec import Parsed, Spec


def _tar_lists(parsed: Parsed) -> str:
    if "-t" not in parsed.flags and "--list" not in parsed.flags:
        return "only listing an archive is proven harmless"
    if any(":" in path.text for path in parsed.paths):
        return "a colon makes tar reach for another machine"
    return ""


def _lists_only(parsed: Parsed) -> str:
    return (
        ""
        if parsed.flags.keys() & {"-l", "-v", "-Z", "-t", "-p", "-c"}
        else "only listing an archive is proven harmless"
    )


def _to_stdout(parsed: Parsed) -> str:
    """Without one of these the file is replaced by its packed or unpacked form."""
    safe = {"-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"}
    return "" if parsed.flags.keys() & safe else "this replaces the file"


ROWS: dict[str, Spec] = {
    "ls": Spec(
        "-a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v "
        "-w: -x -X -Z -1 -I: "
        "--all --almost-all --author --block-size= --color=? --directory --escape --file-type --classify=? "
        "--format= --full-time "
        "--group-directories-first --hide= --human-readable --hyperlink=? --ignore= --ignore-backups "
        "--indicator-style= --inode "
        "--kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style= --recursive "
        "--reverse --show-control-chars "
        "--si --size --sort= --time= --time-style= --width= --zero"
    ),
    "dir": Spec("-a -A -l -h -1 -R --all --color=?"),
    "vdir": Spec("-a -A -h -1 --all --color=?"),
    "exa": Spec(
        "-a -l -h -T -R -r -s: -L: -1 --long --all --tree --level= --sort= --reverse --icons --git-ignore --color="
    ),
    "eza": Spec(
        "-a -l -h -T -R -r -s: -L: -1 --long --all --tree --level= --sort= --reverse --icons --git-ignore --color="
    ),
    "tree": Spec(
        "-a -d -f -i -s -h -D -F -C -n -p -u -g -L: -P: -I: -v -t -c -U -r -x -N -Q -J -X --dirsfirst "
        "--filesfirst --noreport "
        "--prune --gitignore --du --si --charset= --filelimit= --matchdirs --ignore-case --sort= --timefmt= "
        "--inodes"
    ),
    "du": Spec(
        "-a -b -c -d: -h -H -k -m -s -S -t: -x -0 -B: --all --apparent-size --block-size= --bytes --total "
        "--max-depth= "
        "--human-readable --si --summarize --separate-dirs --threshold= --time=? --one-file-system "
        "--exclude= --inodes --null"
    ),
    "df": Spec(
        "-a -B: -h -H -i -k -l -P -t: -T -x: --all --block-size= --total --human-readable --si --inodes "
        "--local --output=? "
        "--portability --type= --print-type --exclude-type=",
        "text",
    ),
    "stat": Spec("-c: -f -t -x -r -s -n -F --format= --printf= --file-system --terse"),
    "file": Spec(
        "-b -i -L -h -k -N -n -r -0 --brief --mime --mime-type --mime-encoding --extension --no-dereference",
        needs_operand=True,
    ),
    "readlink": Spec(
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero"
    ),
    "realpath": Spec(
        "-e -m -L -P -q -s -z --relative-to=@ --relative-base=@ --canonicalize-existing "
        "--canonicalize-missing --strip --zero"
    ),
    "basename": Spec("-a -s: -z --multiple --suffix= --zero", "text"),
    "dirname": Spec("-z --zero", "text"),
    "pathchk": Spec("-p -P --portability", "text"),
    "md5sum": Spec("-b -t -z --tag --binary --text --zero"),
    "sha1sum": Spec("-b -t -z --tag --binary --text --zero"),
    "sha224sum": Spec("-b -t -z --tag --binary --text --zero"),
    "sha256sum": Spec("-b -t -z --tag --binary --text --zero"),
    "sha384sum": Spec("-b -t -z --tag --binary --text --zero"),
    "sha512sum": Spec("-b -t -z --tag --binary --text --zero"),
    "b2sum": Spec("-b -t -z -l: --tag --binary --text --zero --length="),
    "shasum": Spec("-a: -b -t --algorithm="),
    "md5": Spec("-q -r -s:"),
    "cksum": Spec("-a: --algorithm= --untagged --tag"),
    "sum": Spec("-r -s --sysv"),
    "cmp": Spec("-b -i: -l -n: -s --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent"),
    "diff": Spec(
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
        "--unidirectional-new-file --width= -#"
    ),
    "diff3": Spec("-A -e -E -m -T -x -X -3 -a -i --text"),
    "diffstat": Spec("-p: -w: -l -f: -s -t"),
    "tar": Spec(
        "-t -f@ -v -z -j -J --list --file=@ --verbose --gzip --bzip2 --xz --zstd --exclude= --wildcards "
        "--no-wildcards "
        "--strip-components= --full-time --numeric-owner -a --auto-compress",
        "text",
        _tar_lists,
    ),
    "unzip": Spec("-l -v -Z -q", "paths", _lists_only),
    "gzip": Spec("-c -d -k -l -t -v -q --stdout --to-stdout --decompress --list --test", "paths", _to_stdout),
    "gunzip": Spec("-c -k -l -t -v -q --stdout --to-stdout --list --test", "paths", _to_stdout),
    "zipinfo": Spec("-1 -2 -s -m -l -v -h -t -z -T"),
    "zcat": Spec("-f"),
    "bzcat": Spec("-s"),
    "xzcat": Spec(""),
    "zstdcat": Spec(""),
    "lsattr": Spec("-R -a -d -l"),
    "getfacl": Spec("-a -d -c -e -n -p"),
    "namei": Spec("-l -m -o -v -x -n"),
}
