"""What "always allow" would save for one part: the exact words, or a prefix where more words cannot do more."""

from clew.permissions.rules import quote_word
from clew.permissions.shell.proof import Part
from clew.permissions.shell.tables.dev import RULE_ONLY
from clew.permissions.shell.wrappers import SHELLS, WRAPPERS
from clew.permissions.word_set import word_set
from clew.protocol.events import RuleOffer

# Saving a rule for these would save a rule for anything.
_NEVER = (
    SHELLS
    | WRAPPERS.keys()
    | {"eval", "source", ".", "su", "python", "python3", "node", "perl", "ruby", "php", "ssh", "export"}
)
_PREFIXES = {
    "npm": word_set("test run"),
    "pnpm": word_set("test run"),
    "yarn": word_set("test run"),
    "cargo": word_set("build check test clippy fmt"),
    "go": word_set("build test vet"),
    "git": word_set("add commit fetch switch"),
}
_SINGLE = word_set("""pytest ruff mypy pyright tsc eslint prettier black mkdir touch""")
_MAX_RULE = 200


def offers_for(part: Part) -> tuple[RuleOffer, ...]:
    """The exact rule first; then, for common development commands, one for the same command with other arguments."""
    words = part.command.words
    if len(part.forms) != 1 or any(not word.known or word.globs or word.braces or word.tilde for word in words):
        return ()
    texts = [word.text for word in words]
    if not texts or texts[0] in _NEVER or any("\n" in text or "*" in text for text in texts):
        return ()
    exact = " ".join(map(quote_word, texts))
    if len(exact) > _MAX_RULE:
        return ()
    offers = [RuleOffer(rule=f"Bash({exact})", covers=part.text)]
    prefix = _prefix(texts)
    if prefix and texts[0] not in RULE_ONLY:
        offers.append(RuleOffer(rule=f"Bash({' '.join(map(quote_word, prefix))} *)", covers=part.text))
    return tuple(offers)


def _prefix(texts: list[str]) -> list[str]:
    if texts[0] in _SINGLE:
        return texts[:1]
    if len(texts) > 1 and texts[1] in _PREFIXES.get(texts[0], ()):
        count = 3 if texts[1] == "run" else 2
        return texts[:count] if len(texts) >= count and not any(text.startswith("-") for text in texts[:count]) else []
    return []
