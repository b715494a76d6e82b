"""User rules against commands: deny and ask see every command at any depth, allow sees one plain part (P7)."""

from clew.permissions.files import Places, judge_place
from clew.permissions.rules import Rule, matches_words
from clew.permissions.shell.programs import ROWS, prove
from clew.permissions.shell.proof import Part
from clew.permissions.shell.scan import Effective, Scan
from clew.permissions.shell.spec import parse
from clew.permissions.shell.tables import dev, git
from clew.permissions.shell.words import Word
from clew.permissions.shell.wrappers import base_name


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


def _starts_like(rule: Rule, words: list[str]) -> bool:
    """For deny and ask, more words never make a command harmless: the rule's words are a prefix."""
    return bool(words) and matches_words(rule if rule.open_ended else _opened(rule), words)


def _opened(rule: Rule) -> Rule:
    return Rule(effect=rule.effect, text=rule.text, tool=rule.tool, scope=rule.scope, words=rule.words, open_ended=True)


def _spellings(found: Effective) -> list[list[str]]:
    """The same command as written, by its base name, and without options before the subcommand."""
    if not found.argv:
        return []
    words = [value.text for value in found.argv]
    based = [base_name(words[0]), *words[1:]]
    out = [words, based]
    if based[0] == "git":
        out.append(["git", *_after_git_options(based[1:])])
    out.append([based[0], *(word for word in based[1:] if not word.startswith("-"))])
    return out


def _after_git_options(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in git.GLOBAL_VALUED else 1
    return words[at:]


def allowing_rule(part: Part, rules: tuple[Rule, ...], places: Places) -> Rule | None:
    """The rule that covers every form of this part. Redirections and assignments were judged before."""
    for rule in rules:
        if part.forms and all(_covers(rule, form, part, places) for form in part.forms):
            return rule
    return None


def _covers(rule: Rule, words: list[Word], part: Part, places: Places) -> bool:
    if rule.whole_tool or part.cwd is None or not places.inside(part.cwd):
        return False
    if any(not word.known or word.braces for word in words) or words[0].globs or words[0].tilde:
        return False
    texts = [word.text for word in words]
    if not matches_words(rule, texts):
        return False
    tail = words[len(rule.words) :]
    if not tail:
        return True
    return not _tail_reaches_further(rule, words, tail, part.cwd, places)


def _tail_reaches_further(rule: Rule, words: list[Word], tail: list[Word], cwd: str, places: Places) -> bool:
    """Words after the rule's own: the tables bound them for known programs, a list of dangerous flags for others."""
    name = words[0].text
    covered = frozenset(rule.words)
    if name in dev.RULE_ONLY:
        return bool(parse(dev.RULE_ONLY[name], tail).refused)
    refused = dev.RULE_TAIL_REFUSED.get(name, ())
    if any(_is_flag(word.text, flag) for word in tail for flag in refused):
        return True
    if any(_touches_guarded(word, cwd, places) for word in tail):
        return True
    known = name in ROWS or name == "find" or (name == "git" and _git_reads(words))
    return known and bool(prove(words, cwd, places, covered, paths=False).refused)


def _git_reads(words: list[Word]) -> bool:
    rest = _after_git_options([word.text for word in words[1:]])
    return bool(rest) and rest[0] in git.ROWS


def _is_flag(text: str, flag: str) -> bool:
    if flag.startswith("--"):
        return text == flag or text.startswith(flag + "=")
    return text == flag or (len(flag) == 2 and text.startswith(flag) and not text.startswith("--"))


def _touches_guarded(word: Word, cwd: str, places: Places) -> bool:
    """A rule for a program is no grant for secrets or protected names among its arguments."""
    if word.text.startswith("-") or not ("/" in word.text or word.text.startswith((".", "~"))):
        return False
    finding = judge_place("read", word.text, cwd, places)
    return finding.absolute or finding.protected
