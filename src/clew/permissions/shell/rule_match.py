"""User rules against commands: deny and ask see every command at any depth, allow sees one plain part (P7)."""

import os
import re

from clew.permissions.access import FileOp
from clew.permissions.files import Places, judge_change, judge_place
from clew.permissions.paths import real
from clew.permissions.rules import Rule, matches_word, matches_words
from clew.permissions.shell.effects.changes import Changes, changes_of
from clew.permissions.shell.effects.mentions import pieces
from clew.permissions.shell.effects.writes import readings
from clew.permissions.shell.programs.spec import Spec, parse
from clew.permissions.shell.programs.table import UNKNOWN, after_git_options, base_name, program
from clew.permissions.shell.programs.tables import git
from clew.permissions.shell.proof.parts import CommandPart
from clew.permissions.shell.proof.prove import prove
from clew.permissions.shell.reading.glob import names_in
from clew.permissions.shell.reading.scan import Scan, could_be
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.permissions.shell.reading.words import Word
from clew.text.guarded_names import word_set

_MAX_ENTRIES = 500
_GIT_WRITES = word_set("mv rm restore checkout worktree clone init archive bundle format-patch")


def matching_rule(scan: Scan, rules: tuple[Rule, ...]) -> Rule | None:
    """The first rule that some command of the text falls under."""
    if not rules:
        return None
    for rule in rules:
        if rule.whole_tool:
            return rule
    for found in scan.effective:
        spellings = _spellings(found)
        for rule in rules:
            if any(_starts_like(rule, words) for words in spellings):
                return rule
    return None


def _starts_like(rule: Rule, words: list[Value]) -> bool:
    """For deny and ask, more words never make a command harmless: the rule's words are a prefix."""
    if len(words) < len(rule.words):
        return False
    return all(
        matches_word(pattern, value.text) or could_be(value, pattern)
        for pattern, value in zip(rule.words, words, strict=False)
    )


def _spellings(found: Effective) -> list[list[Value]]:
    """The same command as written, by its base name, and without options before the subcommand."""
    argv = found.argv
    if not argv:
        return []
    based = [argv[0]._replace(text=base_name(argv[0].text)), *argv[1:]]
    out = [argv, based]
    if based[0].text.startswith("git-"):
        out.append([based[0]._replace(text="git"), based[0]._replace(text=based[0].text[4:]), *argv[1:]])
    if based[0].text == "git":
        rest = after_git_options([value.text for value in based[1:]])
        out.append([based[0], *argv[len(argv) - len(rest) :]])
    out.append([based[0], *(value for value in based[1:] if not value.text.startswith("-"))])
    return out


def allowing_rule(part: CommandPart, rules: tuple[Rule, ...], places: Places) -> Rule | None:
    """The rule that covers every form of this part. Redirections and assignments were judged before."""
    for rule in rules:
        if part.forms and all(_covers(rule, form, part, places) for form in part.forms):
            return rule
    return None


def _covers(rule: Rule, words: list[Word], part: CommandPart, places: Places) -> bool:
    cwd = part.cwd
    if rule.whole_tool or cwd is None or not places.inside(cwd) or not words:
        return False
    if any(not word.known or word.braces for word in words) or words[0].globs or words[0].tilde:
        return False
    if not matches_words(rule, [word.text for word in words]):
        return False
    changes = changes_of(words)
    if changes is not None and not changes.refused:
        # A rule for a program that changes files is no grant for protected names, whoever wrote them into the rule.
        return not any(
            _guarded(word.text, cwd, places, op=op)
            or (_goes_deep(op, changes) and _holds_guarded(word.text, cwd, places))
            for op, word in changes.touches
        )
    if changes is not None and any(_guarded(word.text, cwd, places, op="write") for word in words[1:]):
        return False
    if changes is not None and rule.open_ended and len(words) == len(rule.words):
        return False  # what it changes stands in what it reads
    tail = words[len(rule.words) :]
    return not tail or not _reaches_further(rule, words, tail, cwd, places)


def _reaches_further(rule: Rule, words: list[Word], tail: list[Word], cwd: str, places: Places) -> bool:
    """Whether words after the rule's own do more than the rule says: the program's row decides, not a list of evils."""
    name, covered = words[0].text, frozenset(rule.words)
    row = program(name)
    if name == "git":
        return _git_reaches_further(words, covered, cwd, places)
    if row.reads is not None or name == "find":
        return bool(prove(words, cwd, places, covered, paths=False).refused) or _names_guarded(
            tail, cwd, places, write=False
        )
    if row is UNKNOWN or (row.runs_project and row.tail is None and not row.tails):
        return _names_guarded(tail, cwd, places, write=True)
    spec = row.tail or row.tails.get(words[1].text if len(words) > 1 else "")
    if spec is None:
        return True
    if spec.operands == "script" and len(rule.words) > 1:
        return _names_guarded(tail, cwd, places, write=True)
    return _outside_row(spec, rule, words, tail, covered) or _names_guarded(tail, cwd, places, write=True)


def _outside_row(spec: Spec, rule: Rule, words: list[Word], tail: list[Word], covered: frozenset[str]) -> bool:
    """The flags that follow must be on the row's list; behind `--` they are no longer the program's."""
    start = max(len(rule.words), 2 if program(words[0].text).tails else 1)
    checked = words[start:] if start < len(words) else []
    end = next((at for at, word in enumerate(checked) if word.text == "--"), len(checked))
    return bool(parse(spec, checked[:end], covered).refused)


def _git_reaches_further(words: list[Word], covered: frozenset[str], cwd: str, places: Places) -> bool:
    texts = [word.text for word in words[1:]]
    rest = after_git_options(texts)
    before = texts[: len(texts) - len(rest)]
    if not rest or any(text not in git.GLOBAL_HARMLESS and text not in covered for text in before):
        return True
    operands = words[len(words) - len(rest) + 1 :]
    if rest[0] in program("git").tails:
        refused = bool(parse(program("git").tails[rest[0]], operands, covered).refused)
        if not refused:
            return _names_guarded(operands, cwd, places, write=rest[0] in _GIT_WRITES)
    if rest[0] not in program("git").subcommands:
        return True
    return bool(prove(words, cwd, places, covered, paths=False).refused) or _names_guarded(
        operands, cwd, places, write=False
    )


def _names_guarded(tail: list[Word], cwd: str, places: Places, *, write: bool) -> bool:
    op: FileOp = "write" if write else "read"
    for word in tail:
        text = word.text
        if text.startswith("-"):
            text = text.partition("=")[2] if "=" in text else text[2:] if text[2:3] in ("/", ".", "~") else ""
        for one in readings(text, cwd) if word.globs else (text,):
            key, given, value = one.partition("=")
            value = value.removeprefix("@") if given else key.removeprefix("@")
            if _is_path(value) and _guarded(value.partition("::")[0], cwd, places, op=op):
                return True
            # `host:path` is elsewhere; but a name of ours that is a secret's or protected is not taken for chance.
            if any(_is_path(piece) and _guarded(piece, cwd, places, op="read") for piece in pieces(one, code=False)):
                return True
    return False


def _is_path(text: str) -> bool:
    return ("/" in text or text.startswith((".", "~"))) and not re.match(r"[a-z+]+://", text)


def _goes_deep(op: FileOp, changes: Changes) -> bool:
    return op == "delete" or (op == "write" and changes.recursive)


def _holds_guarded(text: str, cwd: str, places: Places) -> bool:
    """A directory whose own content is protected: a root of the workspace, what lies above it, or a repository."""
    target = real(os.path.join(cwd, text))
    above = target.rstrip("/") + "/"
    if any(root == target or root.startswith(above) for root in places.roots):
        return True
    return any(judge_place("write", name, target, places).protected for name in names_in(target)[:_MAX_ENTRIES])


def _guarded(text: str, cwd: str, places: Places, *, op: FileOp) -> bool:
    """A secret, a protected name, or a place outside to be changed."""
    if text == "/dev/null":
        return False
    found = judge_place("read", text, cwd, places)
    if found.absolute or found.protected:
        return True
    if op == "read":
        return False
    found = judge_change(op, text, cwd, places)
    outside = found.decision == "ask" and not places.inside(found.target)
    return found.absolute or found.protected or outside
