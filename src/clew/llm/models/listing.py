"""The models that can be named: of every provider that is connected, newest first, and short names for families."""

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from clew.config.schema import Provider
from clew.llm.models.profiles import Profile, known_models, plain_name, profile_of
from clew.llm.models.providers import ProviderRow

ALIAS_FAMILIES = {
    "opus": "claude-opus",
    "sonnet": "claude-sonnet",
    "haiku": "claude-haiku",
    "fable": "claude-fable",
    "mythos": "claude-mythos",
    "gpt": "gpt",
    "gemini": "gemini",
    "deepseek": "deepseek",
    "kimi": "kimi",
    "glm": "glm",
    "qwen": "qwen",
    "grok": "grok",
    "mistral": "mistral",
}
"""What people call a family, and how the names of its models begin."""
UNLISTED = frozenset({"claude-opus-4", "claude-sonnet-4", "gpt-4.1", "gpt-4o"})
"""Patterns of the table that are no names, or of models nobody should begin with now."""


class ListedModel(Struct, frozen=True, kw_only=True):
    """A model that can be asked, as far as is known without asking."""

    provider: str
    label: str
    model: str
    profile: Profile
    local: bool = False

    @property
    def name(self) -> str:
        """What people and settings write."""
        return f"{self.provider}/{self.model}"


def models_of(row: ProviderRow, override: Provider, *, families: Iterable[str]) -> tuple[ListedModel, ...]:
    """The models of one provider: those the settings name, its own choices, and those of the table that are its.
    `families`: how the names of its own models begin."""
    own = tuple(families)
    known = [
        name
        for name in known_models()
        if own and name.startswith(own) and name not in UNLISTED and profile_of(name).price is not None
    ]
    chosen = [name for name in (row.default_model, row.fast_model) if name]
    names = dict.fromkeys((*override.models, *sorted((*chosen, *known), key=version_of, reverse=True)))
    return tuple(
        ListedModel(
            provider=row.name,
            label=row.label or row.name,
            model=name,
            profile=profile_of(name, local=row.local),
            local=row.local,
        )
        for name in names
    )


def version_of(model: str) -> tuple[int, ...]:
    """The numbers of a name, dates left out: what makes one newer than another."""
    return tuple(int(number) for number in re.findall(r"\d+", plain_name(model)) if int(number) < 1_000)


def in_family(model: str, alias: str) -> bool:
    """Whether a model is of the family that people call so."""
    stem, name = ALIAS_FAMILIES[alias], plain_name(model)
    rest = name[len(stem) :]
    return name.startswith(stem) and (not rest or rest[0] == "-" or rest[0].isdigit())


def newest(alias: str, models: Iterable[ListedModel], *, defaults: Mapping[str, str]) -> ListedModel | None:
    """The newest of a family; of several as new, a provider's own default, then the first."""
    best: ListedModel | None = None
    for model in models:
        if in_family(model.model, alias) and (best is None or _rank(model, defaults) > _rank(best, defaults)):
            best = model
    return best


def aliases_of(models: Iterable[ListedModel], *, defaults: Mapping[str, str]) -> Iterator[tuple[str, ListedModel]]:
    """Which short name means which model now."""
    listed = [model for model in models if not model.local]
    for alias in ALIAS_FAMILIES:
        if (found := newest(alias, listed, defaults=defaults)) is not None:
            yield alias, found


def _rank(model: ListedModel, defaults: Mapping[str, str]) -> tuple[tuple[int, ...], bool]:
    return version_of(model.model), defaults.get(model.provider) == model.model
