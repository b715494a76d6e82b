"""Which permission rules are in force and which models can be named; adding and removing a rule."""

from typing import ClassVar

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.lookups.base import Answer, Lookup


class ModelRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model that can be named."""

    name: str
    """`provider/model`: what `SetModel` takes."""
    provider: str
    """The provider as people call it."""
    aliases: tuple[str, ...] = ()
    """Short names that mean this model now."""
    window: int = 0
    input_usd: float | None = None
    output_usd: float | None = None
    """Per million tokens; None where no price is known."""
    local: bool = False
    """It runs on this machine."""
    probed: str = ""
    """What `clew doctor --probe` found out about it, in a few words; empty: it was not probed."""


class ModelsListed(Answer, frozen=True, kw_only=True, tag="models.listed"):
    """The models that can be named."""

    models: tuple[str, ...]
    """Their names, in the order of the rows."""
    rows: tuple[ModelRow, ...] = ()


class ListModels(Lookup[ModelsListed], frozen=True, kw_only=True, tag="models.list"):
    """Ask which models can be named; servers on this machine are asked too."""


class RuleRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One permission rule in force."""

    decision: str
    rule: str
    scope: str
    removable: bool = False


class RulesListed(Answer, frozen=True, kw_only=True, tag="rules.listed"):
    """The rules in force."""

    mode: str
    rules: tuple[RuleRow, ...]
    saved_in: str = ""
    """The file of the rules that were saved for this project."""


class ListRules(Lookup[RulesListed], frozen=True, kw_only=True, tag="rules.list"):
    """Ask which permission rules are in force."""


class AllowRule(Lookup[RulesListed], frozen=True, kw_only=True, tag="rule.allow"):
    """Save an allow rule for this project, exactly as a person wrote it."""

    needs: ClassVar[Rights] = Rights.DRIVE

    rule: str


class RemoveRule(Lookup[RulesListed], frozen=True, kw_only=True, tag="rule.remove"):
    """Forget a rule that was saved with "always", or given for this session."""

    needs: ClassVar[Rights] = Rights.DRIVE

    rule: str


class TrustForgotten(Answer, frozen=True, kw_only=True, tag="trust.forgotten"):
    """A directory is not trusted any more."""

    place: str
    there_was: bool
    """It was trusted before."""


class ForgetTrust(Lookup[TrustForgotten], frozen=True, kw_only=True, tag="trust.forget"):
    """Stop trusting the repository or directory that holds a path."""

    needs: ClassVar[Rights] = Rights.DRIVE

    directory: str
