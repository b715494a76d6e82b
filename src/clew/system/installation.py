"""Where clew itself is installed: code that runs outside every sandbox, so nothing confined may change it."""

import os
import sys
from functools import cache

PACKAGES = ("site-packages", "dist-packages")


@cache
def own_installation() -> tuple[str, ...]:
    """The places of clew's code, of the packages beside it and of its virtual environment, resolved."""
    package = os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    above = os.path.dirname(package)
    found = [above if os.path.basename(above) in PACKAGES else package]
    if sys.prefix != sys.base_prefix:
        found.append(os.path.realpath(sys.prefix))
    return tuple(dict.fromkeys(found))
