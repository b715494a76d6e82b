"""What builtin tools have in common: the session they work in."""

from typing import TypeVar

from msgspec import Struct

from clew.tools.base import Tool
from clew.tools.session import ToolSession

P = TypeVar("P", bound=Struct)


class BuiltinTool(Tool[P]):
    """A tool of ours; made once per session by the registry."""

    def __init__(self, session: ToolSession) -> None:
        self.session = session
