"""The script of the tour as data: the project, what the scripted model does, what the guide says."""

from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

SCRIPT = Path(__file__).with_name("script.toml")


class ScriptPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the script. Unknown keys are errors."""


class ScriptCall(ScriptPart, frozen=True, kw_only=True):
    """A tool call; `{python}` in a text becomes the interpreter to use."""

    name: str
    arguments: dict[str, Any]


class ScriptReply(ScriptPart, frozen=True, kw_only=True):
    """What the model says, and the calls it makes."""

    expects: tuple[str, ...] = ()
    """One of these stands in the results before it; where none does, the exchange's `otherwise` ends the turn."""
    say: str = ""
    calls: tuple[ScriptCall, ...] = ()


class ScriptExchange(ScriptPart, frozen=True, kw_only=True):
    """A prompt that the script knows, and the replies to it."""

    prompt: str
    otherwise: str
    replies: tuple[ScriptReply, ...]


class Stop(ScriptPart, frozen=True, kw_only=True):
    """Words of the guide, and what is put into the prompt with them."""

    number: int
    words: str
    asked: str = ""
    """In place of the words where commands had to be asked for, because nothing confines them."""
    screen: str = ""
    """Only true of the full screen."""
    plain: str = ""
    """Only true line by line."""
    leaving: str = ""
    press: str = ""
    """What to do now; on a line of its own."""
    offer: str = ""


class Stops(ScriptPart, frozen=True, kw_only=True):
    """Every stop by its name."""

    hello: Stop
    command: Stop
    label: Stop
    approval: Stop
    edit: Stop
    receipt: Stop
    recap: Stop
    again: Stop

    @property
    def last(self) -> int:
        """How many there are to walk."""
        return self.recap.number


class Orders(ScriptPart, frozen=True, kw_only=True):
    """A long file of the project."""

    path: str
    rows: int
    items: tuple[str, ...]

    @property
    def text(self) -> str:
        """The same every time."""
        rows = (
            f"{1000 + row},2026-03-{1 + row % 28:02d},{item},{250 + row * 37 % 400},{1 + row % 4}"
            for row, item in zip(range(self.rows), cycle(self.items), strict=False)
        )
        return "\n".join(("order,day,item,cents,count", *rows)) + "\n"


class Summary(ScriptPart, frozen=True, kw_only=True):
    """The model's record of what is compacted."""

    text: str


class TourScript(ScriptPart, frozen=True, kw_only=True):
    """All of it."""

    model: str
    window: int
    off_script: str
    files: dict[str, str]
    orders: Orders
    exchanges: tuple[ScriptExchange, ...]
    summary: Summary
    stops: Stops


def load_script(path: Path = SCRIPT) -> TourScript:
    """The script that is packaged with clew."""
    return msgspec.toml.decode(path.read_bytes(), type=TourScript)
