"""`${VAR}` and `${VAR:-default}` in a definition: which variables it names, and what it means with their values."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from clew.mcp.definitions import ServerDefinition

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class MissingVariables(ValueError):
    """A definition names variables that are not set and have no default."""

    def __init__(self, names: tuple[str, ...]) -> None:
        many = "variables" if len(names) > 1 else "variable"
        super().__init__(f"the {many} {', '.join(names)} {'are' if len(names) > 1 else 'is'} not set")
        self.names = names


def named_variables(server: ServerDefinition) -> tuple[str, ...]:
    """The variables that a definition names, each once."""
    return tuple(dict.fromkeys(found[1] for text in server.texts for found in VARIABLE.finditer(text)))


def variable_words(server: ServerDefinition, env: Mapping[str, str]) -> tuple[str, ...]:
    """Each variable with where its value would come from; never a value of the user's."""
    defaults = {found[1]: found[2] for text in server.texts for found in VARIABLE.finditer(text)}
    return tuple(f"{name} ({_standing(name, default, env)})" for name, default in defaults.items())


def expanded(server: ServerDefinition, env: Mapping[str, str]) -> ServerDefinition:
    """The definition with values in place of variables. Raises MissingVariables."""
    missing: dict[str, None] = {}

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        given = env.get(name)
        if given or (given is not None and default is None):
            return given
        if default is None:
            missing[name] = None
        return default or ""

    def full(text: str) -> str:
        return VARIABLE.sub(value, text)

    changed = replace(
        server,
        command=full(server.command),
        args=tuple(full(arg) for arg in server.args),
        env=tuple((name, full(text)) for name, text in server.env),
        cwd=full(server.cwd),
        url=full(server.url),
        headers=tuple((name, full(text)) for name, text in server.headers),
    )
    if missing:
        raise MissingVariables(tuple(missing))
    return changed


def _standing(name: str, default: str | None, env: Mapping[str, str]) -> str:
    if env.get(name):
        return "set"
    return "not set" if default is None else "its default"
