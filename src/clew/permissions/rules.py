"""Permission rules: `Tool` or `Tool(specifier)`, their scopes, and what they match.

`Bash(git diff *)` whole words, a final `*` for any further words; `Read(src/**)`, `Edit(docs/*.md)` paths;
`WebFetch(domain:example.com)` one host, `domain:*.example.com` its subdomains; `Skill(pdf)` one skill; `Agent(Explore)`
one kind of agent, `Agent(model:opus)` agents on that model. A tool's name alone covers every use; `mcp__server` and
`mcp__server__*` cover all tools of an MCP server, `mcp__server__get_*` those that begin so.
"""

import os
import re
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from clew.permissions.access import Decision
from clew.permissions.paths import expand_home
from clew.text.lazy_pattern import LazyPattern

Scope = Literal["user", "project", "session"]
_RULE = LazyPattern(r"(mcp__[\w-]+__[\w-]*\*|[A-Za-z_][\w.-]*|\*)(?:\((.*)\))?", re.DOTALL)
_HOST = LazyPattern(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_PATTERN = LazyPattern(r"[*?\[\]]")
_READ_TOOLS = ("Read", "Glob", "Grep", "LS", "NotebookRead")
_EDIT_TOOLS = ("Edit", "Write", "NotebookEdit", "MultiEdit")
EDIT_FAMILY = frozenset(_EDIT_TOOLS)
READ_FAMILY = frozenset(_READ_TOOLS)
NAMING_TOOLS = frozenset({"Skill"})
"""Tools whose rules may name one of the things they use; `*` in a name stands for any text."""


AGENT = "Agent"
_OLD_AGENT = "Task"
"""What rules of other agents call it."""
_MODEL = "model:"
UNSANDBOXED = "Unsandboxed"
"""What a rule begins with that lets exactly one command run outside the sandbox, from the workspace's root."""


class RuleError(ValueError):
    """A rule that cannot be understood. The message names the rule and what is wrong."""


class Rule(Struct, frozen=True, kw_only=True):
    """One rule. `words` for Bash, `pattern` for paths, `host` for fetches; none of them: the whole tool."""

    effect: Decision
    text: str
    tool: str
    scope: Scope = "user"
    words: tuple[str, ...] = ()
    open_ended: bool = False
    """Any further words may follow."""
    pattern: str = ""
    host: str = ""

    @property
    def whole_tool(self) -> bool:
        return not (self.words or self.pattern or self.host)


def covers_tool(rule: Rule, tool: str) -> bool:
    """The rule is about this tool, by its name or by that of its server."""
    if rule.tool in (tool, "*"):
        return True
    if not (tool.startswith("mcp__") and rule.tool.startswith("mcp__")):
        return False
    if rule.tool.endswith("*"):
        return tool.startswith(rule.tool[:-1])
    return "__" not in rule.tool[5:] and tool.startswith(f"{rule.tool}__")


def parse_rule(text: str, effect: Decision, scope: Scope = "user") -> Rule:
    """Read a rule as people write it. Raises RuleError."""
    text = text.strip()
    found = _RULE.fullmatch(text)
    if found is None:
        raise RuleError(f"permission rule {text!r}: expected Tool or Tool(specifier), for example Bash(git diff *)")
    tool, specifier = AGENT if found[1] == _OLD_AGENT else found[1], found[2]
    if tool == UNSANDBOXED:
        return _unsandboxed_rule(text, (specifier or "").strip(), effect, scope)
    if specifier is not None and not specifier.strip():
        raise RuleError(f"permission rule {text!r}: nothing between the parentheses; write {tool} for every use")
    if specifier is None or specifier.strip() == "*":
        return Rule(effect=effect, text=text, tool=tool, scope=scope)
    specifier = specifier.strip()
    if tool == "Bash":
        return _bash_rule(text, specifier, effect, scope)
    if tool == "WebFetch":
        return _fetch_rule(text, specifier, effect, scope)
    if tool == AGENT:
        return _agent_rule(text, specifier, effect, scope)
    if tool in READ_FAMILY or tool in EDIT_FAMILY or tool in NAMING_TOOLS:
        return Rule(effect=effect, text=text, tool=tool, scope=scope, pattern=specifier)
    raise RuleError(f"permission rule {text!r}: {tool} takes no specifier; write {tool} alone")


def _bash_rule(text: str, specifier: str, effect: Decision, scope: Scope) -> Rule:
    if specifier.endswith(":*"):
        specifier = specifier[:-2] + " *"
    words = split_words(specifier)
    if words is None:
        raise RuleError(f"permission rule {text!r}: a quote is not closed, or the text is more than one plain command")
    open_ended = words[-1] == "*"
    words = words[:-1] if open_ended else words
    if not words:
        return Rule(effect=effect, text=text, tool="Bash", scope=scope)
    return Rule(effect=effect, text=text, tool="Bash", scope=scope, words=tuple(words), open_ended=open_ended)


def _unsandboxed_rule(text: str, command: str, effect: Decision, scope: Scope) -> Rule:
    """Never a pattern: `*` is a letter of the command like any other."""
    if effect != "allow" or not command or command == "*":
        raise RuleError(f"permission rule {text!r}: {UNSANDBOXED} allows exactly one command, as {UNSANDBOXED}(make)")
    return Rule(effect=effect, text=text, tool=UNSANDBOXED, scope=scope, pattern=command)


def _fetch_rule(text: str, specifier: str, effect: Decision, scope: Scope) -> Rule:
    kind, _, host = specifier.partition(":")
    if kind != "domain" or not _HOST.fullmatch(host):
        raise RuleError(f"permission rule {text!r}: expected WebFetch(domain:example.com)")
    return Rule(effect=effect, text=text, tool="WebFetch", scope=scope, host=host.lower().rstrip("."))


def _agent_rule(text: str, specifier: str, effect: Decision, scope: Scope) -> Rule:
    """One kind or one model; a rule that named both would be read in two ways."""
    kind, _, model = specifier.partition(_MODEL)
    if "," in specifier or (kind and model) or any(char.isspace() for char in specifier) or specifier == _MODEL:
        raise RuleError(f"permission rule {text!r}: expected {AGENT}(KIND) or {AGENT}(model:NAME), one of them")
    return Rule(effect=effect, text=text, tool=AGENT, scope=scope, pattern=specifier)


def matches_agent(rule: Rule, kind: str, model: str) -> bool:
    """The rule covers an agent of this kind on this model. A model is named in full, without its provider, or by a word
    of its name, as the families are: `opus`."""
    if rule.whole_tool:
        return True
    wanted, name = rule.pattern.casefold(), model.casefold()
    if not wanted.startswith(_MODEL):
        return matches_word(wanted, kind.casefold())
    bare = name.partition("/")[2] or name
    spellings = (name, bare, *bare.replace("/", "-").split("-")) if name else ()
    return any(matches_word(wanted.removeprefix(_MODEL), one) for one in spellings)


def split_words(text: str) -> list[str] | None:
    """Words of a rule with simple quoting; None where it would be more than one plain command."""
    words: list[str] = []
    token = re.compile(r"""\s*((?:'[^']*'|"(?:\\.|[^"\\$`])*"|\\.|[^\s'"\\;&|<>()`$])+)""", re.DOTALL)
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = token.match(text, at)
        if found is None:
            return None
        words.append(_unquote(found[1]))
        at = found.end()
    return words or None


def _unquote(token: str) -> str:
    def plain(found: re.Match[str]) -> str:
        part = found[0]
        if part.startswith("'"):
            return part[1:-1]
        return re.sub(r"\\(.)", r"\1", part[1:-1] if part.startswith('"') else part)

    return re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", plain, token, flags=re.DOTALL)


def quote_word(word: str) -> str:
    """A word as it is written in a rule."""
    if word and re.fullmatch(r"[\w@%+=:,./~^-]+", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def prefix_rule(words: str, effect: Decision, scope: Scope = "user") -> Rule:
    """A rule for commands that start with these words (the form of the case files)."""
    return parse_rule(f"Bash({words} *)", effect, scope)


def matches_words(rule: Rule, words: list[str]) -> bool:
    """The rule covers these words: each whole, in order, nothing left over unless it is open-ended."""
    if rule.whole_tool:
        return True
    if len(words) < len(rule.words) or (len(words) > len(rule.words) and not rule.open_ended):
        return False
    return all(matches_word(pattern, word) for pattern, word in zip(rule.words, words, strict=False))


def matches_word(pattern: str, word: str) -> bool:
    """One word of a rule; `*` in it stands for any text. Each piece is found once, so that no rule can be slow."""
    if "*" not in pattern:
        return pattern == word
    first, *middle, last = pattern.split("*")
    if len(word) < len(first) + len(last) or not word.startswith(first) or not word.endswith(last):
        return False
    at, end = len(first), len(word) - len(last)
    for piece in middle:
        found = word.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def matches_path(rule: Rule, target: str, root: str, home: str) -> bool:
    """The pattern covers a resolved path. Relative patterns count from the workspace root; `**` crosses folders."""
    if rule.whole_tool:
        return True
    pattern = expand_home(rule.pattern, home)
    if pattern.startswith("//"):
        pattern = pattern[1:]
    if not pattern.startswith("/"):
        if not root:
            return False
        pattern = f"{root}/{pattern.removeprefix('./')}"
    return _glob(pattern.split("/"), target.split("/"))


def exact_path(rule: Rule, root: str, home: str) -> str:
    """The one path that a rule names, or nothing where it is a pattern or covers more."""
    if not rule.pattern or _PATTERN.search(rule.pattern) or rule.pattern.endswith("/"):
        return ""
    pattern = expand_home(rule.pattern, home)
    if pattern.startswith("//"):
        pattern = pattern[1:]
    return os.path.normpath(pattern if pattern.startswith("/") else f"{root}/{pattern}") if root or pattern else ""


def _glob(pattern: list[str], path: list[str]) -> bool:
    """Component-wise, with `**` for any number of them; the table keeps it from exploding."""
    reached = {0}
    for part in path:
        following: set[int] = set()
        for at in reached:
            while at < len(pattern) and pattern[at] == "**":
                following.add(at)
                at += 1
            if at < len(pattern) and fnmatchcase(part, pattern[at]):
                following.add(at + 1)
        reached = following
        if not reached:
            return False
    return any(all(rest == "**" for rest in pattern[at:]) for at in reached)


def matches_host(rule: Rule, host: str) -> bool:
    """Exact host, or a whole-label subdomain for `*.`; never a part of a label."""
    if rule.whole_tool:
        return True
    if rule.host.startswith("*."):
        return host.endswith(rule.host[1:]) and len(host) > len(rule.host) - 1
    return host == rule.host


def add_rule(
    rules: tuple[Rule, ...], text: str, effect: Decision = "allow", scope: Scope = "session"
) -> tuple[Rule, ...]:
    """The rules with one more, unless it is already there. Raises RuleError."""
    rule = parse_rule(text, effect, scope)
    return rules if rule in rules else (*rules, rule)
