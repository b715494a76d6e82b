"""The names that no command or skill of the user's can have are those of our own commands, all of them."""

from clew.commands.registry import BY_NAME
from clew.protocol.invocables import RESERVED_NAMES


def test_every_name_of_ours_is_reserved_and_no_other():
    assert frozenset(BY_NAME) == RESERVED_NAMES
