"""Programs that search: grep, ripgrep, fd. find has its own language (find.py)."""

from clew.permissions.shell.programs.program import Program, loss, reader

_GREP = (
    "-a -A: -b -B: -c -C: -d: -D: -e: -E -f@ -F -G -h -H -i -I -l -L -m: -n -o -P -q -r -R -s -T -u -U -v "
    "-w -x -y -z -Z -# "
    "--after-context= --before-context= --binary-files= --byte-offset --color=? --colour=? --context= "
    "--count "
    "--exclude= --exclude-dir= --exclude-from=@ --extended-regexp --file=@ --files-with-matches "
    "--files-without-match "
    "--fixed-strings --ignore-case --include= --initial-tab --invert-match --label= --line-buffered "
    "--line-number --line-regexp "
    "--max-count= --no-filename --no-messages --null --null-data --only-matching --perl-regexp "
    "--basic-regexp --quiet --silent "
    "--recursive --regexp= --text --with-filename --word-regexp --no-ignore-case --dereference-recursive "
    "--directories= --devices= --unix-byte-offsets --binary"
)
_GREP_ROW = reader(
    _GREP,
    "pattern paths",
    any_file=True,
    walks="-r -R --recursive --dereference-recursive",
    follows="-R --dereference-recursive",
)
PROGRAMS: dict[str, Program] = {
    "grep": _GREP_ROW,
    "egrep": _GREP_ROW,
    "fgrep": _GREP_ROW,
    "rg": reader(
        "--passthrough --no-ignore-messages --ignore-file-case-insensitive "
        "-A: -B: -C: -c -e: -E: -f@ -F -g: -h -H -i -I -j: -l -m: -M: -n -N -o -p -P -q -r: -s -S -t: -T: -u "
        "-U -v -V -w -x -0 -. -# "
        "--after-context= --before-context= --binary --block-buffered --byte-offset --case-sensitive "
        "--color= --colors= --column "
        "--context= --context-separator= --count --count-matches --crlf --debug --dfa-size-limit= "
        "--encoding= --engine= "
        "--field-context-separator= --field-match-separator= --file=@ --files --files-with-matches "
        "--files-without-match "
        "--fixed-strings --glob= --glob-case-insensitive --heading --hidden --iglob= --ignore-case "
        "--ignore-file=@ --invert-match "
        "--json --line-buffered --line-number --line-regexp --max-columns= --max-columns-preview "
        "--max-count= --max-depth= "
        "--max-filesize= --mmap --multiline --multiline-dotall --no-binary --no-column --no-config "
        "--no-context-separator "
        "--no-filename --no-heading --no-hidden --no-ignore --no-ignore-dot --no-ignore-exclude "
        "--no-ignore-files "
        "--no-ignore-global --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap "
        "--no-pcre2-unicode "
        "--no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru "
        "--path-separator= --pcre2 "
        "--pcre2-version --pretty --quiet --regex-size-limit= --regexp= --replace= --smart-case --sort= "
        "--sortr= --stats "
        "--stop-on-nonmatch --text --threads= --trim --type= --type-add= --type-list --type-not= "
        "--unrestricted --vimgrep "
        "--with-filename --word-regexp --no-follow -a -b -d:",
        "pattern paths",
        walks="*",
        follows="-L --follow",
        audit="Reads ignore files as patterns. Its settings file is named by RIPGREP_CONFIG_PATH only, which is "
        "removed from the environment; --pre and -z are not on the list.",
    ),
    "fd": reader(
        "-H -I -u -s -i -g -F -a -l -p -0 -d: -t: -e: -S: -E: -1 -q -c: -j: --hidden --no-ignore "
        "--no-ignore-vcs --unrestricted "
        "--case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details "
        "--full-path --print0 "
        "--max-depth= --min-depth= --exact-depth= --prune --type= --extension= --size= --changed-within= "
        "--changed-before= "
        "--owner= --exclude= --ignore-file=@ --color= --threads= --max-results= --quiet --show-errors --and= "
        "--strip-cwd-prefix=?",
        "pattern paths",
        shows="names",
        walks="*",
        follows="-L --follow",
    )._replace(feeds=True),
    "fdfind": reader(
        "-H -I -i -g -a -l -p -0 -d: -t: -e: -E: --hidden --no-ignore --glob --type= --extension= --max-depth=",
        "pattern paths",
        shows="names",
        walks="*",
        follows="-L --follow",
    )._replace(feeds=True),
    "find": Program(
        audit="Walks the tree and prints names; its expression is read by find.py. No settings file.",
        shows="names",
        version=("--version", "--help", "-version"),
        loses=(loss("trees", "this deletes whatever it finds", "-delete"),),
        feeds=True,
    ),
}
