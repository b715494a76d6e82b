"""A line of stdin as what it means, or one sentence about why it means nothing."""

import msgspec
from msgspec import Struct

from clew.headless.stdin_lines import StdinLine
from clew.streaming.shapes.control import (
    ControlCancel,
    ControlRequest,
    ControlResponse,
    InputLine,
    KeepAlive,
    PromptInput,
)

LINES: dict[str, type[InputLine]] = {
    "user": PromptInput,
    "control_request": ControlRequest,
    "control_response": ControlResponse,
    "control_cancel_request": ControlCancel,
    "keep_alive": KeepAlive,
}


class InputProblem(Exception):
    """The line is not taken; the words say why, and nothing else happens."""


class Peek(Struct):
    """What tells lines apart."""

    type: str = ""


def input_of(line: StdinLine) -> InputLine | None:
    """What a line says; None for an empty one. Raises InputProblem."""
    if line.problem:
        raise InputProblem(line.problem)
    data = line.data.strip()
    if not data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise InputProblem(f"it is not UTF-8 (byte {data[error.start]:#04x} at offset {error.start})") from error
    if not data.startswith(b"{"):
        raise InputProblem("it is not a JSON object")
    try:
        kind = msgspec.json.decode(data, type=Peek).type
        if kind not in LINES:
            known = ", ".join(LINES)
            raise InputProblem(
                f"there is no type {kind!r}; types are {known}" if kind else f"no type; types are {known}"
            )
        return msgspec.json.decode(data, type=LINES[kind])
    except msgspec.ValidationError as error:
        raise InputProblem(str(error)) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InputProblem(f"it is not valid JSON: {error}") from error
