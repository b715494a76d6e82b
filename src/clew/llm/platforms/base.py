"""What every platform tells: where a model of it is, and what must be set first."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from msgspec import Struct

from clew.config.schema import Provider
from clew.llm.errors import MissingCredential, UnknownModel
from clew.llm.models.providers import Dialect, ProviderRow
from clew.llm.models.target import Endpoint, Secret

PLACE = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
"""A location or region: it becomes part of a host name, so nothing else may stand in it."""


class Placement(Struct, frozen=True, kw_only=True):
    """Where the requests for one model go."""

    base_url: str
    dialect: Dialect
    endpoint: Endpoint
    headers: tuple[tuple[str, str], ...] = ()
    region: str = ""
    key_parts: tuple[Secret, ...] = ()


class Need(Struct, frozen=True, kw_only=True):
    """Something besides the key that must be known."""

    what: str
    variables: tuple[str, ...]
    setting: str
    """The key of the provider's settings that says the same, and goes first: the variables are of the whole cloud."""
    pattern: str = ".+"
    default: str = ""

    def value(self, given: str, env: Mapping[str, str]) -> str:
        """What the settings say, else the first variable that is set, else the default."""
        found = (env[variable].strip() for variable in self.variables if env.get(variable, "").strip())
        return given.strip() or next(found, self.default)

    def words(self, row: ProviderRow) -> str:
        """What to do about it."""
        return f"{self.what}: set {' or '.join(self.variables)}, or providers.{row.name}.{self.setting} in the settings"


def required(need: Need, given: str, row: ProviderRow, env: Mapping[str, str]) -> str:
    """The value. Raises MissingCredential when there is none, or one that could lead elsewhere."""
    value = need.value(given, env)
    if not value:
        raise MissingCredential(f"{row.label} needs {need.words(row)}")
    if re.fullmatch(need.pattern, value) is None:
        raise MissingCredential(f"{value!r} is not {need.what} of {row.label}; {need.words(row).partition(': ')[2]}")
    return value


def lacking(needs: Iterable[tuple[Need, str]], row: ProviderRow, env: Mapping[str, str]) -> tuple[str, ...]:
    """What of it is not set, in words; `needs` with what the settings give."""
    return tuple(need.words(row) for need, given in needs if not need.value(given, env))


def own_address(row: ProviderRow, override: Provider, env: Mapping[str, str]) -> str:
    """The address that the user names instead of the platform's; empty: none."""
    from_env = next((env[variable] for variable in row.url_env if env.get(variable, "").strip()), "")
    url = (from_env or override.base_url).strip().rstrip("/")
    return url if not url or "://" in url else f"https://{url}"


def spoken(row: ProviderRow, override: Provider, dialects: tuple[Dialect, ...]) -> Dialect | None:
    """The dialect that the settings ask for; None: any. Raises UnknownModel for one that is not spoken."""
    if override.dialect is not None and override.dialect not in dialects:
        raise UnknownModel(
            f"{row.label} is not asked in {override.dialect}; providers.{row.name}.dialect may be "
            f"{' or '.join(dialects)}"
        )
    return override.dialect


def segment(model: str, *, safe: str = "") -> str:
    """A model's id as one segment of a path."""
    if model.strip(".") == "":
        raise UnknownModel(f"{model!r} names no model")
    return quote(model, safe=safe)
