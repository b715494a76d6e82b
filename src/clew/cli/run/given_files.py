"""Values of options that are given as JSON or as a file."""

import os
from pathlib import Path
from typing import Any, cast

import msgspec

MAX_BYTES = 1024 * 1024


class GivenError(ValueError):
    """A value that cannot be read; the words say why, for one line."""


def given_text(path: str) -> str:
    """The text of a file."""
    try:
        with Path(os.path.expanduser(path)).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise GivenError("it is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise GivenError(getattr(error, "strerror", None) or str(error)) from None
    if len(data) > MAX_BYTES:
        raise GivenError(f"it is longer than {MAX_BYTES >> 20} MB")
    return text


def given_object(value: str, option: str) -> dict[str, Any]:
    """A JSON object, inline or from a file. Raises GivenError."""
    inline = value.lstrip().startswith("{")
    try:
        found = msgspec.json.decode(value if inline else given_text(value))
    except GivenError as error:
        raise GivenError(f"{option}{shown(value)}: {error}; give a file or JSON that starts with {{") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise GivenError(f"{option}{shown(value)}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise GivenError(f"{option}{shown(value)}: not a JSON object")
    return cast(dict[str, Any], found)


def in_process_servers(value: str) -> list[str]:
    """The names of the servers in an MCP configuration that live in the program itself. Raises GivenError."""
    servers = given_object(value, "--mcp-config ").get("mcpServers", {})
    if not isinstance(servers, dict):
        raise GivenError("--mcp-config: mcpServers is not a JSON object")
    given = cast(dict[Any, Any], servers)
    return [shown(str(name)) for name, one in given.items() if isinstance(one, dict) and one.get("type") == "sdk"]  # pyright: ignore[reportUnknownMemberType] (a person's JSON)


def shown(text: str) -> str:
    """A value within a line: short, and without letters that a terminal would obey."""
    words = "".join(letter if letter.isprintable() else "?" for letter in text)
    return words if len(words) <= 60 else words[:59] + "…"
