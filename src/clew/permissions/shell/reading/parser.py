"""tree-sitter-bash. This module is imported with the first shell verdict, never at start-up (policy.py says why)."""

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))


def parse_tree(text: str) -> Node:
    """The root of the tree. The caller has bounded the length."""
    return _PARSER.parse(text.encode("utf-8", "replace")).root_node
