"""What `clew auth` asks and changes: the way to the model in use, and keys that are kept. Answered for a place."""

from typing import ClassVar

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.lookups.base import Answer, Lookup


class AuthStatus(Struct, frozen=True, kw_only=True):
    """What `clew auth status` says. No key is in it."""

    model: str
    """Empty: none is chosen, and no provider has a key."""
    chosen_by: str = ""
    provider: str = ""
    label: str = ""
    method: str = "missing"
    """How its key is come by: `KeyMethod` of `llm/models/connect.py`."""
    key: str = ""
    """Where the key comes from, in words."""
    address: str = ""
    ready: bool = False
    problems: tuple[str, ...] = ()
    """Why it cannot be used, and what to do."""
    notes: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    """Providers whose key is saved."""


class AuthShown(Answer, frozen=True, kw_only=True, tag="auth.shown"):
    """How the active model is reached."""

    status: AuthStatus


class ShowAuth(Lookup[AuthShown], frozen=True, kw_only=True, tag="auth.show"):
    """Ask how the active model is reached. No request is made and no command is run."""


class ProviderWay(Struct, frozen=True, kw_only=True):
    """How a provider is reached. What is empty stays as it is. `repr` tells no key."""

    provider: str
    model: str = ""
    """The id that the provider knows; empty: the model in use stays."""
    key: str = ""
    base_url: str = ""
    command: tuple[str, ...] = ()
    """Prints the key."""

    def __repr__(self) -> str:
        return f"ProviderWay({self.provider}, {self.model}, {self.base_url})"


class AuthChanged(Answer, frozen=True, kw_only=True, tag="auth.changed"):
    """What was written or taken back, a line each; nothing: there was nothing to change."""

    told: tuple[str, ...]


class UseProvider(Lookup[AuthChanged], frozen=True, kw_only=True, tag="auth.use"):
    """Write down what a way needs; with a model it is the way in use from now on."""

    needs: ClassVar[Rights] = Rights.DRIVE

    way: ProviderWay


class ForgetProvider(Lookup[AuthChanged], frozen=True, kw_only=True, tag="auth.forget"):
    """Forget the key of a provider and what was set up for it."""

    needs: ClassVar[Rights] = Rights.DRIVE

    provider: str


class ModelTried(Answer, frozen=True, kw_only=True, tag="model.tried"):
    """A model answered one cheap request."""

    told: str


class TryModel(Lookup[ModelTried], frozen=True, kw_only=True, tag="model.try"):
    """Ask a model once, as it is set up or by a way that is not written down yet."""

    needs: ClassVar[Rights] = Rights.DRIVE

    model: str = ""
    """`provider/model`; empty with a way: the way's."""
    way: ProviderWay | None = None


class ModelsOffered(Answer, frozen=True, kw_only=True, tag="models.offered"):
    """What a server lists."""

    models: tuple[str, ...]


class OfferModels(Lookup[ModelsOffered], frozen=True, kw_only=True, tag="models.offer"):
    """Ask which models the server of a way lists; none where it has no list or is a cloud's."""

    needs: ClassVar[Rights] = Rights.DRIVE

    way: ProviderWay
