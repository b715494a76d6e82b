"""What a person must know to decide on a call: text, other arguments, warnings, who asks, what could be saved."""

import msgspec
from msgspec import Struct

from clew.protocol.events import ApprovalRequested, RuleOffer
from clew.protocol.messages import ToolCallPart
from clew.text.terminal_text import reveal
from clew.text.terminal_text import warnings as warnings_about


class Bounds(Struct, frozen=True, kw_only=True):
    """How much of a request is shown at once; what is cut is always told."""

    subject_chars: int = 2000
    argument_chars: int = 600
    arguments: int = 8


def untold_arguments(request: ApprovalRequested, call: ToolCallPart | None) -> list[tuple[str, str]]:
    """The arguments of the call that the subject does not already show."""
    if call is None:
        return []
    lines = request.subject.split("\n")
    told = {request.subject, *lines, *(line.partition(" ")[2] for line in lines)}
    shown: list[tuple[str, str]] = []
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if text and text not in told:
            shown.append((name, text))
    return shown


def is_cut(request: ApprovalRequested, arguments: list[tuple[str, str]], bounds: Bounds) -> bool:
    """Whether something of it is not shown within these bounds."""
    return (
        len(request.subject) > bounds.subject_chars
        or len(arguments) > bounds.arguments
        or any(len(value) > bounds.argument_chars for _, value in arguments)
    )


def cautions(request: ApprovalRequested, arguments: list[tuple[str, str]], bounds: Bounds) -> list[str]:
    """What should be known before deciding, each once: the host's warnings, then what the texts hold."""
    found = dict.fromkeys(one_line(text) for text in request.warnings)
    texts = [("the text", request.subject, bounds.subject_chars)]
    texts += [(name, value, bounds.argument_chars) for name, value in arguments]
    for name, text, limit in texts:
        found.update(dict.fromkeys(f"{reveal(name)} {words}" for words in warnings_about(text, max_chars=limit)))
    return list(found)


def origin(path: str, model: str) -> str:
    """Who asks. `path`: the way to an agent (`path_words`); empty: the main one."""
    who = one_line(path) or "the main agent"
    return f"{who}, model {one_line(model)}" if model else who


def usual_offers(offers: tuple[RuleOffer, ...]) -> list[int]:
    """Places of the first rule offered for each part. Later ones for the same part are wider and need to be chosen."""
    parts: dict[str, int] = {}
    for place, offer in enumerate(offers):
        parts.setdefault(offer.covers or offer.rule, place)
    return list(parts.values())


def one_line(text: str) -> str:
    """The text on one row, with everything unseen made visible."""
    return " ".join(reveal(text).split("\n"))
