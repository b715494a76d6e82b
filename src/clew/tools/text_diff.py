"""Comparing texts: unified diffs for people, nearest names and lines for hints."""

import difflib

from clew.protocol.display import DiffBlock

MAX_DIFF_LINES = 20_000
MAX_PATCH_CHARS = 100_000
MAX_HINT_LINES = 5_000


def diff_block(path: str, before: str, after: str, *, created: bool = False) -> DiffBlock:
    """The change of one file. A very large change is counted, not drawn."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MAX_DIFF_LINES:
        return DiffBlock(path=path, patch="", added=len(new), removed=len(old), created=created)
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    patch = "\n".join(lines)
    if len(patch) > MAX_PATCH_CHARS:
        patch = patch[:MAX_PATCH_CHARS] + "\n… (cut)"
    return DiffBlock(path=path, patch=patch, added=added, removed=removed, created=created)


def nearest_names(name: str, names: list[str]) -> list[str]:
    """At most two existing names like this one; a difference of case alone comes first."""
    folded = {existing.casefold(): existing for existing in names}
    if name.casefold() in folded:
        return [folded[name.casefold()]]
    stem = name.rsplit(".", 1)[0].casefold()
    same_stem = [existing for existing in names if stem and existing.rsplit(".", 1)[0].casefold() == stem]
    close = difflib.get_close_matches(name.casefold(), list(folded), n=2, cutoff=0.6)
    return list(dict.fromkeys([*same_stem[:2], *(folded[match] for match in close)]))[:2]


def nearest_line(wanted: str, lines: list[str]) -> int | None:
    """The index of the line most like `wanted`, if any is like it at all."""
    probe = wanted.strip()
    if not probe:
        return None
    best, best_ratio = None, 0.6
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(probe)
    for index, line in enumerate(lines[:MAX_HINT_LINES]):
        matcher.set_seq1(line.strip()[:400])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = index, ratio
    return best
