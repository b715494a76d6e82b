"""Permission rules and modes: which are in force, and a person's changes of them."""

from functools import partial

from clew.agents.permits import Permits
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession
from clew.parts.permissions.at_place import rules_listed
from clew.protocol.events import PermissionModeChanged
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.rules_and_models import AllowRule, ListRules, RemoveRule, RulesListed
from clew.protocol.ops import SetPermissionMode


class PermissionPart(Part):
    """What a person may say about rules and modes. The rules themselves are the session's `Permits`."""

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        self._permits: Permits = own.toolbox.permits

    def ops(self) -> OpHandlers:
        """A change of the mode."""
        return {SetPermissionMode: self._set_mode}

    def lookups(self) -> Answerers:
        """The rules, before and after a change."""
        return {ListRules: self._rules, AllowRule: self._rules, RemoveRule: self._rules}

    async def _set_mode(self, op: SetPermissionMode) -> Effect:
        try:
            self._permits.set_mode(op.mode)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        return partial(self._tell_mode, op.mode)

    def _tell_mode(self, mode: str) -> None:
        self._session.publish(PermissionModeChanged(mode=mode))
        self._session.pending.reconsider()

    async def _rules(self, lookup: ListRules | AllowRule | RemoveRule) -> RulesListed:
        try:
            listed = rules_listed(lookup, self._permits)
        except LookupRefused as error:
            raise OpRefused(str(error)) from error
        except OSError as error:
            raise OpRefused(f"the saved rules cannot be changed: {error.strerror}") from error
        if not isinstance(lookup, ListRules):
            self._session.pending.reconsider()
        return listed
