"""Garbage collection while clew starts: off, since nothing that is made by then is garbage."""

import gc


def begin() -> None:
    """Start-up begins."""
    gc.disable()


def settled() -> None:
    """Start-up is over: collect from now on, but never walk what was loaded by then."""
    gc.freeze()
    gc.enable()
