"""Finding `@path` imports in Markdown: outside code spans and code blocks, and only what looks like a file."""

import re
from collections.abc import Iterator

_FENCE = r" {0,3}(`{3,}|~{3,})"
_SPAN = r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)"
_IMPORT = r"(?:^|(?<=[\s(*_>]))@((?:\\ |[^\s\\`*<>|])+)"
_TEXT_ENDING = r"(?i)\.(?:md|mdc|markdown|txt|rst|adoc|json|jsonc|toml|ya?ml)$"


def find_imports(text: str) -> Iterator[str]:
    """The paths that follow an `@`, as written, in order, without repeats."""
    seen: set[str] = set()
    if "@" not in text:
        return
    for line in _prose(text):
        for match in re.finditer(_IMPORT, re.sub(_SPAN, " ", line)):
            path = match[1].replace("\\ ", " ").rstrip(".,;:!?)]}'\"")
            if path and path not in seen:
                seen.add(path)
                yield path


def is_plainly_a_file(path: str) -> bool:
    """Would a person call this a file? `@alice` and `@types/node` are not, so nobody is told they are missing."""
    return path.startswith(("./", "../", "~/", "/")) or re.search(_TEXT_ENDING, path) is not None


def _prose(text: str) -> Iterator[str]:
    """The lines outside fenced and indented code."""
    fence = ""
    after_blank = True
    in_indented = False
    for line in text.split("\n"):
        mark = re.match(_FENCE, line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence)
            if closes and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        indented = line.startswith(("    ", "\t"))
        in_indented = indented and (after_blank or in_indented)
        after_blank = not line.strip()
        if not in_indented:
            yield line
