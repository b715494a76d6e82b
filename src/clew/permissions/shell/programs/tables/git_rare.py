"""Subcommands of git that only read and that few people know; git.py has the daily ones."""

from clew.permissions.shell.programs.spec import Parsed, Spec

_ONLY_TELLS = frozenset({"--stat", "--numstat", "--summary", "--check"})


def _tells_only(parsed: Parsed) -> str:
    """A patch is applied unless one of these is given; `--apply` would apply it all the same."""
    return "" if parsed.flags.keys() & _ONLY_TELLS else "this applies the patch"


def _first_is(*allowed: str):
    def check(parsed: Parsed) -> str:
        first = parsed.operands[0].text if parsed.operands else ""
        return "" if first in allowed else "this form is not proven to only read"

    return check


def _reads_only(parsed: Parsed) -> str:
    """Otherwise it runs the commands that settings give for trailers."""
    fine = parsed.flags.keys() & {"--parse", "--only-input"}
    return "" if fine else "settings may name commands for trailers"


RARE_READS: dict[str, Spec] = {
    "name-rev": Spec("--tags --refs= --exclude= --all --name-only --no-undefined --always", "text"),
    "count-objects": Spec("-v -H --verbose --human-readable", "none"),
    "show-branch": Spec(
        "-r -a --remotes --all --current --topo-order --date-order --sparse --more= --list --merge-base "
        "--sha1-name --color=? --no-color",
        "text",
    ),
    "cherry": Spec("-v --verbose --abbrev=?", "text"),
    "check-attr": Spec("-a -z --all --cached", "text"),
    "check-mailmap": Spec("", "text"),
    "check-ref-format": Spec("--branch --normalize --allow-onelevel", "text"),
    "merge-base": Spec("-a --all --octopus --independent --is-ancestor --fork-point", "text"),
    "apply": Spec(
        "-v -q -p: -C: -z -R -3 --stat --numstat --summary --check --verbose --quiet --recount --reverse --cached "
        "--index --3way --include= --exclude= --whitespace= --ignore-whitespace --ignore-space-change --inaccurate-eof",
        "paths",
        _tells_only,
        needs_operand=True,
    ),
    "archive": Spec("-l --list", "none"),
    "bundle": Spec("-q --quiet", "paths", _first_is("verify", "list-heads")),
    "column": Spec("--mode= --raw-mode= --width= --indent= --nl= --padding=", "none"),
    "fsck": Spec(
        "-v --verbose --full --no-full --strict --unreachable --dangling --no-dangling --connectivity-only --root "
        "--tags --cache --reflogs --no-reflogs --name-objects --progress --no-progress",
        "text",
    ),
    "hash-object": Spec("-t: --no-filters", "paths", needs_operand=True),
    "rerere": Spec("", "text", _first_is("status", "diff", "remaining")),
    "sparse-checkout": Spec("", "text", _first_is("list")),
    "interpret-trailers": Spec("--parse --only-trailers --only-input --unfold", "paths", _reads_only),
    "stripspace": Spec("-s -c --strip-comments --comment-lines", "none"),
}
"""`merge-tree` writes objects and has no row; `fsck --lost-found` writes files; `verify-commit` and
`verify-tag` run a program that checks signatures."""
