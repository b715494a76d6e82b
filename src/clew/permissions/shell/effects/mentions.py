"""Names inside the words of programs that may start others or open files: a denied command, a secret's file.

A program that is not known to only read may run what its words say (`fakeroot rm x`, `tmux new 'rm x'`, `python3 -c`).
What it really does cannot be known, so a mention is no proof of anything: it asks where it would otherwise run.
"""

import re

from clew.permissions.rules import Rule, matches_word
from clew.permissions.shell.effects.changes import changes_of
from clew.permissions.shell.programs.spec import Spec, parse
from clew.permissions.shell.programs.table import after_git_options, base_name, program
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.permissions.shell.reading.words import literal
from clew.text.guarded_names import word_set

_MAX_TEXT = 20_000
_MAX_WORDS = 2_000
_TOKEN = re.compile(r"[^\s'\"`()\[\]{}<>|&;,!=#$\\]+")
_ESCAPED = re.compile(r"\\[ntr]")
_GLUED = re.compile("^-[A-Za-z](?=.)")
_PIECE = re.compile(r"[=@:,]+")
_SHELL_WORDS = word_set(
    "cd pushd popd for select case function export declare typeset local readonly read set unset test"
)
_GIT_TEXTS = word_set("commit tag log stash notes merge show branch grep revert cherry-pick shortlog config add am")


def mentioned_rule(scan: Scan, rules: tuple[Rule, ...]) -> Rule | None:
    """The first rule whose words stand inside what a program is given that may run them."""
    wanted = [rule for rule in rules if rule.words and rule.words[0].strip("*")]
    if not wanted:
        return None
    for found in scan.effective:
        if not may_start_others(found):
            continue
        tokens = [_GLUED.sub("", token) for token in _TOKEN.findall(_ESCAPED.sub(" ", _given(found)))]
        for rule in wanted:
            if _stands_in(rule.words, tokens):
                return rule
    return None


def may_start_others(found: Effective) -> bool:
    """Whether the program could run what its words or its input say."""
    name = found.name
    if not name or name in _SHELL_WORDS:
        return False
    row = program(name)
    if name == "git":
        words = after_git_options([value.text for value in found.argv[1:]])
        opens = any(text.startswith(("-O", "--open")) for text in words)
        return opens or (bool(words) and words[0] not in _GIT_TEXTS)
    if row.reads is not None and only_reads(row.reads, found.argv[1:]):
        return False
    if row.changes is not None:
        changes = changes_of([literal(value.text) for value in found.argv])
        return changes is None or (bool(changes.refused) and row.writes == "script files")
    return row.reads is not None or not row.shows


def only_reads(spec: Spec, values: list[Value]) -> bool:
    """By its row, with these words."""
    return len(values) < _MAX_WORDS and not parse(spec, [literal(value.text) for value in values]).refused


def pieces(text: str, *, code: bool) -> list[str]:
    """What in a word may be the name of a file: behind `=`, `@`, `:`; in code, every token of it."""
    tokens = _TOKEN.findall(text[:_MAX_TEXT]) if code else [text]
    return [piece for token in tokens for piece in (token, *_PIECE.split(token)) if piece]


def _given(found: Effective) -> str:
    return " ".join((*(value.text for value in found.argv[1:]), found.fed))[:_MAX_TEXT]


def _stands_in(words: tuple[str, ...], tokens: list[str]) -> bool:
    starts = (at for at, token in enumerate(tokens) if _either(words[0], token))
    return any(len(tokens) - at >= len(words) and all(map(matches_word, words[1:], tokens[at + 1 :])) for at in starts)


def _either(pattern: str, token: str) -> bool:
    return matches_word(pattern, token) or matches_word(pattern, base_name(token))
