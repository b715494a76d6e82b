"""An op that is not done."""


class OpRefused(Exception):
    """The op cannot be done; the words are for a person."""
