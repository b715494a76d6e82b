"""What "always allow" would save for one part: the exact words, or a prefix where more words cannot do more."""

from clew.permissions.files import Places
from clew.permissions.rules import parse_rule, quote_word
from clew.permissions.shell.programs.table import SHELLS, program
from clew.permissions.shell.proof.parts import Part
from clew.permissions.shell.reading.words import Word
from clew.permissions.shell.rule_match import allowing_rule
from clew.protocol.events import RuleOffer

# Saving a rule for these would save a rule for anything.
_NEVER = SHELLS | {"eval", "source", ".", "su", "ssh", "export", "xargs"}
_MAX_RULE = 200


def offers_for(part: Part, places: Places) -> tuple[RuleOffer, ...]:
    """The exact rule first; then, where its row says so, one for the same command with other arguments.

    Only what would really cover the part is offered: no rule reaches a protected name.
    """
    words = part.command.words
    if len(part.forms) != 1 or not words or any(not word.known or word.braces for word in words):
        return ()
    texts = [word.text for word in words]
    if texts[0] in _NEVER or program(texts[0]).wraps:
        return ()
    rules = [_rule(texts)] if _worth_saving(words) and _written_out(words) else []
    prefix = _prefix(texts)
    if prefix and _written_out(words[: len(prefix)]):
        rules.append(_rule([*prefix, "*"]))
    found = [
        rule for rule in rules if len(rule) <= _MAX_RULE and allowing_rule(part, (parse_rule(rule, "allow"),), places)
    ]
    return tuple(RuleOffer(rule=rule, covers=part.text) for rule in found)


def _rule(texts: list[str]) -> str:
    return f"Bash({' '.join(text if text == '*' else quote_word(text) for text in texts)})"


def _written_out(words: list[Word]) -> bool:
    """A rule's words are exact, so they can hold no pattern and no line break."""
    return not any(word.globs or word.tilde or "*" in word.text or "\n" in word.text for word in words)


def _worth_saving(words: list[Word]) -> bool:
    """A script by its name, or any other program; not a program text, which is never the same twice."""
    if program(words[0].text).offers != ("script",):
        return True
    return len(words) > 1 and _script_end([word.text for word in words]) > 0


def _prefix(texts: list[str]) -> list[str]:
    for offer in program(texts[0]).offers or (("*",) if texts[0].startswith("./") else ()):
        if offer == "script":
            end = _script_end(texts)
            return texts[:end] if end else []
        pattern = offer.split()[:-1]
        head = texts[1 : 1 + len(pattern)]
        if len(head) == len(pattern) and all(
            want in ("?", word) and not word.startswith("-") for want, word in zip(pattern, head, strict=True)
        ):
            return texts[: 1 + len(pattern)]
    return []


def _script_end(texts: list[str]) -> int:
    """How many words name the script or module of `python3 -u x.py arg` or `python3 -m pytest -q`; 0: there is none."""
    at = 1
    while at < len(texts) and texts[at] in ("-u", "-B", "-E", "-s", "-I", "-O", "--test"):
        at += 1
    if at < len(texts) and texts[at] == "-m":
        return at + 2 if at + 1 < len(texts) else 0
    return at + 1 if at < len(texts) and not texts[at].startswith("-") else 0
