"""The slash names of our own commands, which no name of the user's replaces; listed, so that knowing them loads none:
tests/unit/commands/test_names.py holds it against the commands themselves."""

_NAMES = """
    ? away bashes branch catchup clear commands compact context copy cost diff doctor effort exit export fork
    help hooks keys mcp memory mode model new permissions pin plan q quit recall recap redo rename resume rewind
    sessions skills stats status tasks theme title todos undo unpin usage version
"""
RESERVED_NAMES = frozenset(_NAMES.split())
