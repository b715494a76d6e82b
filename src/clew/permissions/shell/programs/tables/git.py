"""git: subcommands that only read, and what may follow a rule's words. Its repositories: repository.py (G1)."""

import re

from clew.permissions.shell.programs.pathspec import pathspec, refuse_pathspec
from clew.permissions.shell.programs.program import Loss, Program, Reach, loss, reach
from clew.permissions.shell.programs.spec import Parsed, Spec
from clew.permissions.shell.programs.tables.git_rare import RARE_READS
from clew.permissions.shell.reading.words import literal
from clew.text.guarded_names import secret_name, word_set

_SIGNATURE = re.compile(r"%G|(?<!contents:)signature")
_VERSION = ("--version", "version")
_DIFF_MERGES = frozenset({"", "off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "cc"})
_MAGIC = re.compile(r"^(?:\([^)]*\)|[/!^]+)")

_PRETTY = (
    "--oneline --format= --pretty=? --abbrev=? --abbrev-commit --no-abbrev-commit --decorate=? "
    "--no-decorate --date= --relative-date "
    "--encoding= --expand-tabs=? --no-expand-tabs --color=? --no-color --notes=? --no-notes "
    "--clear-decorations --decorate-refs= "
)
_DIFF = (
    "-p -u -s -U: -M=? -C=? -D -B=? -R -a -b -w -W -z -S: -G: -l: -X=? --patch --no-patch --unified= "
    "--raw --patch-with-raw --minimal "
    "--patience --histogram --diff-algorithm= --anchored= --stat=? --compact-summary --numstat "
    "--shortstat --dirstat=? --summary "
    "--name-only --name-status --submodule=? --color-moved=? --color-moved-ws= --word-diff=? "
    "--word-diff-regex= --color-words=? "
    "--no-renames --find-renames=? --find-copies=? --find-copies-harder --rename-empty --no-rename-empty "
    "--check --full-index --binary "
    "--diff-filter= --pickaxe-all --pickaxe-regex --relative=? --no-relative --text "
    "--ignore-space-at-eol --ignore-cr-at-eol "
    "--ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context= "
    "--function-context --no-ext-diff "
    "--no-textconv --exit-code --quiet --src-prefix= --dst-prefix= --no-prefix --default-prefix "
    "--line-prefix= --ignore-submodules=? "
    "--ita-invisible-in-index --merge-base --cached --staged --base --ours --theirs -0 -1 -2 -3 --cc -c "
    "--combined-all-paths --indent-heuristic"
)
_WALK = (
    "-# -n: -i -E -F -P -q --max-count= --skip= --since= --after= --until= --before= --author= "
    "--committer= --grep= --all-match --invert-grep "
    "--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges "
    "--min-parents= --max-parents= "
    "--first-parent --exclude-first-parent-only --not --all --branches=? --tags=? --remotes=? --glob= "
    "--exclude= --reflog --no-walk=? "
    "--cherry-mark --cherry-pick --cherry --left-right --left-only --right-only "
    "--walk-reflogs -g --boundary --simplify-by-decoration --full-history "
    "--dense --sparse --simplify-merges --ancestry-path=? --date-order --author-date-order --topo-order "
    "--reverse --graph "
    "--no-graph --show-linear-break=? --parents --children --left-right --follow --source --use-mailmap "
    "--no-mailmap --mailmap "
    "--log-size -L: --count --full-diff -t -m --diff-merges= --no-diff-merges --root "
    "--name-rev"
)


def _revisions(parsed: Parsed) -> str:
    """Operands are revisions or paths; a path part after a colon is a file as well."""
    for word in parsed.operands:
        if not pathspec(word.text):
            parsed.paths[:] = [path for path in parsed.paths if path is not word]
            continue  # it only leaves files out
        for path in word.text.split(":")[1:]:
            if secret := secret_name(_MAGIC.sub("", path)):
                return f"{secret} may hold secrets"
        if why := refuse_pathspec(word.text):
            return why
    # `-L 1,5:file` and `-L :function:file` name a file.
    for value in parsed.flags.get("-L", ()):
        path = value.rpartition(":")[2] if ":" in value else ""
        if path:
            parsed.paths.append(literal(path))
    if any(value not in ("", "short", "log") for value in parsed.flags.get("--submodule", ())):
        return "git would run in the submodules of the past"
    if not {*parsed.flags.get("--diff-merges", ())} <= _DIFF_MERGES:
        return "merging anew runs merge drivers"
    for flag in ("--format", "--pretty", "--sort"):
        if any(_SIGNATURE.search(value) for value in parsed.flags.get(flag, ())):
            return "checking signatures runs another program"
    return ""


def _lists(*flags: str):
    def check(parsed: Parsed) -> str:
        if parsed.operands and not parsed.flags.keys() & set(flags):
            return "with a name this creates or changes something"
        return _revisions(parsed)

    return check


def _config_reads(parsed: Parsed) -> str:
    keys = [word.text for word in parsed.operands]
    if keys and keys[0] == "get":
        keys = keys[1:]
    if len(keys) != 1 or not re.fullmatch(r"[A-Za-z][\w-]*(\.[\w./@:-]+)*\.[A-Za-z][\w-]*", keys[0]):
        return "only reading one setting is proven harmless"
    if re.search(r"(?i)token|pass|secret|credential|extraheader|auth|key\b|\.pat$|cookie|helper|proxy", keys[0]):
        return "this setting may hold a secret"
    return ""


def _first_is(*allowed: str, empty: bool = False):
    def check(parsed: Parsed) -> str:
        first = parsed.operands[0].text if parsed.operands else ""
        if first in allowed or (empty and not first):
            return _revisions(parsed)
        return "this form is not proven to only read"

    return check


def _one_operand(parsed: Parsed) -> str:
    return "" if len(parsed.operands) == 1 else "with a value this changes something"


def _remote(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    return (
        ""
        if words in ([], ["show"]) or (words[0] == "get-url" and len(words) == 2)
        else "this form of git remote is not proven to only read"
    )


def _shortlog(parsed: Parsed) -> str:
    """Without a revision it summarises standard input, which is empty here."""
    if any(_SIGNATURE.search(value) for value in parsed.flags.get("--group", ())):
        return "checking signatures runs another program"
    return _revisions(parsed)


def _stash(parsed: Parsed) -> str:
    """`git stash -p list` and `git stash -- list` put away the changes of a file with that name."""
    return _first_is("list", "show")(parsed) if parsed.first in ("list", "show") else "this puts changes away"


def _reflog(parsed: Parsed) -> str:
    first = parsed.operands[0].text if parsed.operands else "show"
    return "this changes the reflog" if first in ("expire", "delete", "drop", "write") else _revisions(parsed)


def _cat_file(parsed: Parsed) -> str:
    return _revisions(parsed) if parsed.operands else "would wait for input"


_LOG = Spec(_PRETTY + _DIFF + " " + _WALK, "paths", _revisions)
_BRANCH = (
    "-a -r -l -v -vv -q -i --all --remotes --list --verbose --show-current --contains=? --no-contains=? "
    "--merged=? --no-merged=? --points-at= "
    "--sort= --format= --color=? --no-color --column=? --no-column --abbrev=? --ignore-case"
)
_READS: dict[str, Spec] = {
    "status": Spec(
        "-s -b -v -u=? -z --short --branch --show-stash --porcelain=? --long --verbose --untracked-files=? "
        "--ignore-submodules=? "
        "--ignored=? --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames "
        "--find-renames=?"
    ),
    "log": _LOG,
    "show": _LOG,
    "whatchanged": _LOG,
    "rev-list": Spec(_PRETTY + _WALK + " --objects --quiet --disk-usage=? --header --timestamp", "paths", _revisions),
    "diff": Spec(_PRETTY + _DIFF, "paths", _revisions),
    "diff-tree": Spec(_PRETTY + _DIFF + " -r -t -m --root --no-commit-id -v", "paths", _revisions),
    "diff-index": Spec(_PRETTY + _DIFF + " -m", "paths", _revisions),
    "diff-files": Spec(_PRETTY + _DIFF, "paths", _revisions),
    "range-diff": Spec(_PRETTY + _DIFF + " --creation-factor= --no-dual-color", "paths", _revisions),
    "shortlog": Spec(
        "-n -s -e -w=? -c --numbered --summary --email --format= --group= --committer " + _WALK, "paths", _shortlog
    ),
    "reflog": Spec(_PRETTY + _WALK + " -p --stat=?", "text", _reflog),
    "blame": Spec(
        "-b -c -e -f -l -L: -M=? -C=? -n -p -s -t -w --root --show-stats --reverse --first-parent "
        "--porcelain --line-porcelain --incremental "
        "--date= --score-debug --show-name --show-number --show-email --since= --abbrev= --color-lines "
        "--color-by-age --ignore-rev=",
        "paths",
        _revisions,
    ),
    "annotate": Spec("-b -l -L: -t -e -w -s --show-email", "paths", _revisions),
    "grep": Spec(
        "-a -A: -b -B: -c -C: -e: -E -f@ -F -G -h -H -i -I -l -L -m: -n -o -p -P -q -r -v -w -W -z -# "
        "--after-context= --and --or --not "
        "--all-match --before-context= --basic-regexp --break --cached --color=? --column --context= --count "
        "--extended-regexp "
        "--files-with-matches --files-without-match --fixed-strings --full-name --function-context --heading "
        "--ignore-case "
        "--invert-match --line-number --max-count= --max-depth= --name-only --no-color "
        "--null --only-matching "
        "--perl-regexp --quiet --recursive --show-function --text --threads= --untracked --exclude-standard "
        "--word-regexp",
        "pattern paths",
    ),
    "branch": Spec(_BRANCH, "text", _lists("--list", "--contains", "--no-contains", "--merged", "--no-merged")),
    "tag": Spec(
        "-l -n=? -i --list --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= "
        "--format= --color=? --column=? --no-column",
        "text",
        _lists("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "-n"),
    ),
    "remote": Spec("-v --verbose --push --all", "text", _remote),
    "stash": Spec(
        "-p -u --stat --patch --oneline --name-only --name-status --format= --include-untracked -#",
        "text",
        _stash,
    ),
    "submodule": Spec(
        "--cached --quiet -q --recursive --files -n: --summary-limit=",
        "text",
        _first_is("status", "summary", empty=True),
    ),
    "worktree": Spec("-v -z --porcelain --verbose", "text", _first_is("list")),
    "notes": Spec("--ref=", "text", _first_is("list", "show")),
    "bisect": Spec("", "text", _first_is("log")),
    "config": Spec(
        "--get --get-all --global --local --system --worktree --show-origin --show-scope --type= --bool "
        "--int --path --bool-or-int --name-only --default= -z --null",
        "text",
        _config_reads,
        flags_first=True,
    ),
    "rev-parse": Spec(
        "-q --abbrev-ref=? --short=? --verify --quiet --symbolic --symbolic-full-name --show-toplevel "
        "--show-prefix --show-cdup --git-dir "
        "--git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
        "--is-shallow-repository "
        "--show-superproject-working-tree --all --branches=? --tags=? --remotes=? --glob= --revs-only "
        "--no-revs --flags --no-flags "
        "--default= --not --since= --until= --git-path= --show-object-format=? --disambiguate= --sq "
        "--local-env-vars",
        "paths",
        _revisions,
    ),
    "ls-files": Spec(
        "-c -d -m -o -i -s -u -k -t -v -f -z -x: -X@ --cached --deleted --modified --others --ignored "
        "--stage --unmerged --killed --directory "
        "--no-empty-directory --exclude= --exclude-from=@ --exclude-per-directory= --exclude-standard "
        "--error-unmatch --full-name "
        "--abbrev=? --debug --eol --deduplicate --sparse --format= --resolve-undo"
    ),
    "ls-tree": Spec(
        "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev=? --format=",
        "paths",
        _revisions,
    ),
    "cat-file": Spec("-t -s -e -p --allow-unknown-type", "text", _cat_file),
    "describe": Spec(
        "--all --tags --contains --abbrev=? --candidates= --exact-match --debug --long --match= --exclude= "
        "--always --first-parent --dirty=? --broken=?",
        "text",
    ),
    "for-each-ref": Spec(
        "--count= --sort= --format= --points-at= --merged=? --no-merged=? --contains=? --no-contains=? "
        "--ignore-case --color=? --exclude=",
        "text",
        _revisions,
    ),
    "show-ref": Spec(
        "-h -d -s -q --head --heads --branches --tags --dereference --hash=? --verify --quiet --abbrev=?", "text"
    ),
    "symbolic-ref": Spec("-q --quiet --short", "text", _one_operand),
    "check-ignore": Spec("-q -v -n -z --quiet --verbose --non-matching --no-index", "paths", needs_operand=True),
    "version": Spec("--build-options", "none"),
    **RARE_READS,
}


def _plain_remote(parsed: Parsed) -> str:
    """`ext::command` is an address that runs a program."""
    return "this address could run a program" if any("::" in word.text for word in parsed.operands) else ""


_TAILS: dict[str, Spec] = {
    "add": Spec("-A -u -p -N -f -n -v --all --update --intent-to-add --force --dry-run --verbose"),
    "commit": Spec(
        "-a -m: -q -v -s --amend --no-edit --all --message= --quiet --verbose --signoff --allow-empty --author= "
        "--date= --fixup= --dry-run"
    ),
    "push": Spec(
        "-u -f -q -v -n --set-upstream --force --force-with-lease=? --tags --follow-tags --dry-run --quiet --delete -d",
        "text",
        _plain_remote,
    ),
    **dict.fromkeys(
        ("fetch", "pull"),
        Spec(
            "-p -q -v -t -n --all --prune --tags --no-tags --depth= --rebase=? --no-rebase --ff-only --autostash "
            "--quiet",
            "text",
            _plain_remote,
        ),
    ),
    **dict.fromkeys(
        ("switch", "checkout"),
        Spec("-b: -B: -c: -C: -q -t -d -f --detach --track=? --orphan= --quiet --create= --force --guess", "text"),
    ),
    "restore": Spec("-S -W -s: -q --staged --worktree --source= --quiet"),
    "stash": Spec("-u -k -q -m: --include-untracked --keep-index --message= --quiet --index", "text"),
    "merge": Spec("-m: -q --ff-only --no-ff --ff --abort --continue --squash --no-edit --no-commit", "text"),
    "rebase": Spec("-q --abort --continue --skip --autostash --onto= --quiet", "text"),
    "cherry-pick": Spec("-n --no-commit --abort --continue --skip --no-edit", "text"),
    "revert": Spec("-n --no-commit --abort --continue --skip --no-edit", "text"),
    "reset": Spec("-q --hard --soft --mixed --keep --quiet", "text"),
    "mv": Spec("-f -k -n -v --force --dry-run --verbose"),
    "rm": Spec("-f -n -r -q --cached --force --dry-run --quiet"),
    "clean": Spec("-d -f -n -q -x -X -e: --force --dry-run --quiet --exclude="),
    "branch": Spec(
        _BRANCH + " -d -D -m -M -c -f -u: --delete --move --force --set-upstream-to= --unset-upstream", "text"
    ),
    "tag": Spec("-a -d -f -l -m: --annotate --delete --force --list --message= --sort=", "text"),
    "worktree": Spec("-b: -f --detach --force", "text"),
    "show": _LOG,
}


def _history(words: str = "", *, unless: str = "", starts: tuple[str, ...] = ()) -> Loss:
    return loss("history", "would drop what git keeps nowhere else", words, unless=unless, starts=starts)


_FILES = loss("files", "overwrites changes that are not committed")
_LOSES: dict[str, tuple[Loss, ...]] = {
    "reset": (_history("--hard --merge --keep"),),
    "checkout": (_history("-f --force -B"), _FILES),
    "switch": (_history("-f --force --discard-changes -C --force-create"),),
    "restore": (_FILES._replace(unless=frozenset({"-S", "--staged"})),),
    "branch": (_history("-D -f --force -M -C"),),
    "tag": (_history("-d --delete -f --force"),),
    "stash": (_history("drop clear"),),
    "reflog": (_history("expire delete drop"),),
    "worktree": (_history("-f --force prune"),),
    "update-ref": (_history("-d --stdin"),),
    "symbolic-ref": (_history("-d --delete"),),
    "replace": (_history("-d --delete -f --force"),),
    "notes": (_history("remove prune -f --force"),),
    "remote": (_history("remove rm prune"),),
    "gc": (_history("--prune"),),
    "submodule": (_history("deinit"),),
    "push": (
        loss(
            "history",
            "would replace or delete what others keep",
            "-f --force --force-with-lease --force-if-includes -d --delete --mirror --prune",
            starts=("+", ":"),
        ),
    ),
    **dict.fromkeys(("filter-branch", "filter-repo", "prune", "prune-packed", "fast-import"), (_history(),)),
    "clean": (
        loss("trees", "this deletes files that git does not keep", unless="-n --dry-run"),
        _FILES._replace(unless=frozenset({"-n", "--dry-run"})),
    ),
    "rm": (
        loss("trees", "this deletes whole directories", "-r", unless="--cached -n --dry-run"),
        _FILES._replace(unless=frozenset({"--cached", "-n", "--dry-run"})),
    ),
    "mv": (_FILES,),
}
_REACHES: dict[str, tuple[Reach, ...]] = {
    "clean": (reach("deletes", "here", unless="-n --dry-run", deep="*"),),
    "rm": (reach("deletes", needs="-r", unless="--cached -n --dry-run", deep="*"),),
}
PROGRAMS: dict[str, Program] = {
    "git": Program(
        audit="Reads .git/config, config.worktree, commondir, hooks, attributes and those of gitlinks, all of which "
        "can name programs. Each setting must be on the list of harmless ones (system/git/settings.py); repository.py "
        "finds the files; fsmonitor, pagers, signatures and optional index writes are switched off in the "
        "environment.",
        version=_VERSION,
        subcommands=_READS,
        tails=_TAILS,
        shell_texts=("-x", "--exec"),
        offers=("add *", "commit *", "fetch *", "switch *", "checkout *", "stash *"),
        sub_loses=_LOSES,
        sub_reaches=_REACHES,
        folder_flags=("-C", "--work-tree"),
    )
}
# Options before the subcommand: those with a value, and those that change nothing that matters here.
GLOBAL_VALUED = word_set(
    "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source --list-cmds"
)
GLOBAL_HARMLESS = word_set(
    "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --icase-pathspecs"
)
# More words than were written only mean more names to look for.
LISTS_BY_PATTERN = frozenset({"branch", "tag", "for-each-ref", "describe"})
# These compare the index with the work tree: they look into gitlinks, and may refresh the index and call its hook.
LOOKS_AT_WORK_TREE = frozenset(
    {"status", "diff", "diff-index", "diff-files", "submodule", "describe", "stash", "apply", "hash-object"}
)
