"""The accept-only grammar (P2): a text is believed only if every node of its tree is of a known, simple kind.

tree-sitter-bash alone misses commands that bash would run (spec/security.md, measured), so the tree is never searched
for bad parts. It must consist of accepted nodes, and its commands must be word for word those that the lexer found.

This module is imported with the first shell verdict, never at start-up (policy.py says why).
"""

import re
from unicodedata import category

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from clew.permissions.shell.reading.arithmetic import ARITHMETIC, evaluated
from clew.permissions.shell.reading.lexer import Lexer
from clew.text.guarded_names import word_set
from clew.text.unicode_marks import CONTROL, INVISIBLE, WANTED

_PARSER = Parser(Language(tree_sitter_bash.language()))


def parse_tree(text: str) -> Node:
    """The root of the tree. The caller has bounded the length."""
    return _PARSER.parse(text.encode("utf-8", "replace")).root_node


MAX_CHARS = 10_000
MAX_PARTS = 50
MAX_LEVELS = 8
_JOINED = re.compile(r"\S\\\n")
_HIDDEN = word_set("""Cc Cf Zl Zp Zs Co Cs Cn""")
_ACCEPTED = word_set(
    """program list pipeline command command_name word raw_string string string_content number concatenation
    comment redirected_statement file_redirect file_descriptor negated_command compound_statement subshell
    if_statement elif_clause else_clause for_statement do_group variable_name variable_assignment
    simple_expansion expansion test_command test_operator unary_expression binary_expression heredoc_redirect
    heredoc_start heredoc_body heredoc_end command_substitution arithmetic_expansion parenthesized_expression
    brace_expression special_variable_name"""
)
_LEVELS = frozenset({"compound_statement", "subshell", "if_statement", "for_statement"})
_APART = word_set("""for_statement if_statement compound_statement negated_command""")
_MAX_TREE = 150
_WORD_NODES = word_set(
    """word raw_string string number concatenation simple_expansion expansion command_substitution
    arithmetic_expansion brace_expression"""
)
# What these print holds no blank and no pattern that the shell would take apart again.
_PRINTS_PLAIN = re.compile(
    r"\$\((?:.*\|)?\s*(?:wc -[lwc]|nproc|whoami|id -u|id -un|seq \d+(?: \d+)?|date \+[%\w:.-]+|uname -[srm]|hostname"
    r"|git rev-parse(?: --[a-z-]+)* HEAD|git branch --show-current|git rev-list --count HEAD)(?: *< *[\w./-]+)?\s*\)",
    re.DOTALL,
)
SHOWN_VARIABLES = frozenset("?#")
"""Variables that echo may show: numbers of the shell's own."""


def unreadable(text: str) -> str:
    """Why a text is never allowed unasked, whatever its tree says; or an empty string."""
    if not text.strip():
        return "the command is empty"
    if len(text) > MAX_CHARS:
        return "the command is too long to be proven"
    if CONTROL.search(text):
        return "the command holds control characters"
    if "`" in text:
        return "the command holds a backtick"
    if _JOINED.search(text):
        return "a line break is hidden inside a word"
    if not text.isascii():
        seen = WANTED.sub("", text)
        if INVISIBLE.search(seen) or any(category(char) in _HIDDEN for char in seen if char > "\x7f"):
            return "the command holds invisible or unusual characters"
    return ""


def unproven(text: str, lexer: Lexer) -> str:
    """Why the text lies outside the accepted grammar, or an empty string."""
    if not lexer.complete:
        return "the command could not be read to its end"
    if len(lexer.commands) > MAX_PARTS:
        return "the command has too many parts to be proven"
    if lexer.max_depth > MAX_LEVELS + 1:
        return "the command is nested too deep to be proven"
    root = parse_tree(text)
    if root.has_error:
        return "the command could not be parsed"
    reader = _TreeReader(lexer)
    why = reader.visit(root, 0, 0, frozenset())
    if why:
        return why
    if reader.substitutions != lexer.substitutions:
        return "the command contains a substitution"
    reader.found.sort(key=lambda one: one[0])
    seen = [words for _, words in reader.found]
    if seen != _lexed(lexer):
        return "two readings of the command disagree"
    return ""


def _lexed(lexer: Lexer) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for command in sorted(lexer.commands, key=lambda one: one.start):
        if not command.words or command.words[0].raw == "for":
            continue
        raws = tuple(word.raw for word in command.words)
        out.append(raws[:1] if raws[0] == "[" else raws)
    return out


class _TreeReader:
    """Walks the tree once, accepting or naming the first node that is not accepted."""

    def __init__(self, lexer: Lexer) -> None:
        self.found: list[tuple[int, tuple[str, ...]]] = []
        self.substitutions = 0
        self._behind: dict[int, list[str]] = {}
        """Words of a command that stand behind its redirections, by where the command begins."""

    def visit(self, node: Node, depth: int, level: int, loop_names: frozenset[str]) -> str:
        kind = node.type
        if depth > _MAX_TREE:
            return "the command is nested too deep to be proven"
        if kind not in _ACCEPTED:
            return f"the command uses {_spoken(kind)}"
        if kind in _LEVELS:
            level += 1
            if level > MAX_LEVELS:
                return "the command is nested too deep to be proven"
        if why := self._special(node, kind, loop_names):
            return why
        if kind == "for_statement":
            variable = node.child_by_field_name("variable")
            if variable is None:
                return "the loop could not be read"
            loop_names = loop_names | {_text(variable)}
        for child in node.named_children:
            if why := self.visit(child, depth + 1, level, loop_names):
                return why
        return ""

    def _special(self, node: Node, kind: str, loop_names: frozenset[str]) -> str:
        match kind:
            case "command":
                return self._command(node)
            case "redirected_statement":
                self._redirected(node)
            case "test_command":
                return self._test(node)
            case "command_substitution":
                self.substitutions += 1
                return _refuse_substitution(node)
            case "arithmetic_expansion":
                number = ARITHMETIC.fullmatch(_text(node)[1:])
                return "" if number and evaluated(number[1]) else "the command computes with more than numbers"
            case "simple_expansion" | "expansion":
                return _refuse_variable(node, loop_names)
            case "string" if _text(node).startswith("$"):
                return "the command uses a translated string"
            case "variable_assignment" if any(child.type == "subscript" for child in node.named_children):
                return "the command assigns to an array"
            case _:
                pass
        return ""

    def _command(self, node: Node) -> str:
        words: list[str] = []
        for child in node.named_children:
            if child.type == "command_name" or child.type in _WORD_NODES:
                words.append(_text(child))
            elif child.type not in ("variable_assignment", "file_redirect"):
                return f"the command uses {_spoken(child.type)}"
        words += self._behind.get(node.start_byte, [])
        self.found.append((node.start_byte, tuple(words)))
        if words[:1] == ["cd"] and _in_between(node):
            return "the directory changes inside a loop, a group or a condition"
        return ""

    def _test(self, node: Node) -> str:
        text = _text(node)
        if not (text.startswith("[ ") and text.endswith(" ]")):
            return "the command uses an extended test"
        self.found.append((node.start_byte, ("[",)))
        return ""

    def _redirected(self, node: Node) -> None:
        """The tree takes a word behind a redirection for a part of it; bash gives it to the command."""
        body = node.child_by_field_name("body")
        if body is None or body.type != "command":
            return
        for child in node.named_children:
            words = [one for one in child.named_children if one.type in _WORD_NODES]
            if child.type == "file_redirect" and len(words) > 1:
                self._behind.setdefault(body.start_byte, []).extend(map(_text, words[1:]))


def _refuse_variable(node: Node, loop_names: frozenset[str]) -> str:
    text = _text(node)
    name = text.strip("${}")
    if text not in (f"${name}", f"${{{name}}}"):
        return "the command uses a variable"
    shown = name in SHOWN_VARIABLES and _is_argument(node)
    return "" if shown or name in loop_names else "the command uses a variable"


def _is_argument(node: Node) -> bool:
    """It stands in an argument of a command and nowhere else: not in its name, a redirection, an assignment, a list."""
    outer = node.parent
    while outer is not None and outer.type in ("string", "concatenation"):
        outer = outer.parent
    return outer is not None and outer.type == "command"


def _refuse_substitution(node: Node) -> str:
    """What is printed may only be an argument; without quotes only where it surely is one plain word."""
    # The tree gives a blank before it to the node itself.
    if not _is_argument(node) or not _text(node).lstrip().startswith("$("):
        return "the command contains a substitution"
    quoted = node.parent is not None and node.parent.type == "string"
    return (
        "" if quoted or _PRINTS_PLAIN.fullmatch(_text(node)) else "the command contains a substitution without quotes"
    )


def _in_between(node: Node) -> bool:
    """What follows may or may not feel this command: it stands in a part that may run apart, again, or not at all."""
    outer = node.parent
    while outer is not None and outer.type != "subshell":
        if outer.type in _APART:
            return True
        outer = outer.parent
    return False


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _spoken(kind: str) -> str:
    return {
        "command_substitution": "a command substitution",
        "process_substitution": "a process substitution",
        "ansi_c_string": "an escaped string",
        "herestring_redirect": "a here-string",
        "function_definition": "a function definition",
        "declaration_command": "a declaration",
        "brace_expression": "a brace range",
    }.get(kind, kind.replace("_", " "))
