"""The hooks of a place: which there are, which of them may run, and a person's word on them."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew.hooks.approvals import HookApprovals
from clew.hooks.definitions import HookDefinition
from clew.hooks.digests import TooManyNames, digest_of
from clew.hooks.matching import matches
from clew.hooks.running import distinct
from clew.hooks.settings import hooks_in_force
from clew.host.workspace import Workspace
from clew.protocol.event_kinds.programs import HookRow
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks, HookApprovalRow, HooksListed, ListHooks

if TYPE_CHECKING:
    from clew.agents.definitions.kinds import Kinds


class HookRegistry:
    """Empty until `read`; read again when a person asks. What reads definitions is loaded by that."""

    def __init__(self, workspace: Workspace, kinds: "Callable[[], Kinds] | None" = None) -> None:
        """`kinds`: the kinds of agents, whose definitions may bring hooks; None: there is no definition."""
        self._workspace = workspace
        self._kinds = kinds
        self._approvals: HookApprovals | None = None
        self._of_settings: tuple[HookDefinition, ...] = ()
        self._of_agents: tuple[HookDefinition, ...] = ()
        self._problems: tuple[str, ...] = ()

    @property
    def hooks(self) -> tuple[HookDefinition, ...]:
        """Those of settings, then those that definitions of agents bring."""
        return (*self._of_settings, *self._of_agents)

    def read(self) -> None:
        """All definitions as they stand now."""
        if self._kinds is not None:
            self.read_agents(self._kinds())
        place = self._workspace
        found = hooks_in_force(
            place.loaded, home=place.home, root=place.root, trusted=place.trusted, env=place.env, sources=place.sources
        )
        self._of_settings = found.hooks
        self._problems = (*place.loaded.problems, *found.problems)

    def read_agents(self, kinds: "Kinds") -> None:
        """The hooks of the definitions of agents that count now; none where the user wants no hooks at all."""
        self._of_agents = () if self._workspace.settings.disable_all_hooks else kinds.hooks()

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be understood of the definitions, and of the decisions where these were needed."""
        problem = self._approvals.problem if self._approvals is not None else ""
        return (*self._problems, *([problem] if problem else []))

    @property
    def approvals(self) -> HookApprovals:
        """What people decided so far."""
        if self._approvals is None:
            self._approvals = HookApprovals(self._workspace.home)
        return self._approvals

    def listens(self, moment: str, kind: str = "") -> bool:
        """Whether any hook is for this moment of an agent of this kind."""
        return any(hook.concerns(moment, kind) for hook in self.hooks)

    def due(self, moment: str, subject: str, kind: str = "") -> list[HookDefinition]:
        """The hooks of a moment whose matcher fits, approved or not; what stands in several files once. `kind`: of the
        agent whose moment it is."""
        if not self.listens(moment, kind):
            return []
        fitting = [hook for hook in self.hooks if hook.concerns(moment, kind) and matches(hook.matcher, subject)]
        approved = [hook for hook in fitting if self.approvals.is_approved(hook, self._workspace.root)]
        return distinct(approved) + [hook for hook in fitting if hook not in approved]

    def may_run(self, hook: HookDefinition) -> bool:
        """Whether exactly this hook was approved, and all it names is still what was looked at. Reads files."""
        return not self.has_changed(hook) and self.approvals.is_approved(hook, self._workspace.root)

    def has_changed(self, hook: HookDefinition) -> bool:
        """Whether something that it names is no longer what it was when hooks were read. Reads files."""
        if not hook.needs_approval:
            return False

        try:
            return digest_of(hook, str(self._workspace.root)) != hook.digest
        except TooManyNames:
            return True

    def approved_again(self, hook: HookDefinition) -> HookDefinition | None:
        """The same definition as it was read since, if that may run: what it names is what was approved after all."""
        same = (one for one in self.hooks if replace(one, digest=hook.digest) == hook)
        return next((one for one in same if one.digest != hook.digest and self.may_run(one)), None)

    def rows(self) -> tuple[HookRow, ...]:
        """As people decide about them."""
        return tuple(
            hook.row(approved=self.approvals.is_approved(hook, self._workspace.root), trusted=self._workspace.trusted)
            for hook in self.hooks
        )

    def unapproved(self) -> tuple[HookRow, ...]:
        """What a person should look at."""
        return tuple(row for row in self.rows() if row.state == "unapproved")

    def decide(self, digests: Collection[str], *, approved: bool) -> None:
        """A person's word about exactly these, as they stand now; an approval can also be taken back when its hook has
        changed since, or is gone. Raises KeyError for one that is not there, or OSError."""
        self.read()
        root = self._workspace.root
        chosen = [hook for hook in self.hooks if hook.digest in digests]
        known = {hook.digest for hook in chosen}
        if not approved:
            known |= {one.digest for one in self.approvals.approved_for(root)}
        if missing := set(digests) - known:
            raise KeyError(min(missing))
        if approved:
            self.approvals.approve(chosen, root)
        else:
            self.approvals.revoke_digests(digests, root)

    def listed(self) -> HooksListed:
        """All hooks as they were read last, and what was approved here."""
        rows, problems = self.rows(), self.problems
        kept = self.approvals.approved_for(self._workspace.root)
        return HooksListed(
            hooks=rows,
            problems=problems,
            approvals=tuple(HookApprovalRow(digest=one.digest, moment=one.moment, command=one.command) for one in kept),
        )


def hooks_listed(lookup: ListHooks | ApproveHooks, registry: HookRegistry) -> HooksListed:
    """Keep what a person decided, if anything, and list all hooks. Raises LookupRefused, or OSError when the decision
    cannot be written."""
    if isinstance(lookup, ListHooks):
        registry.read()
        return registry.listed()
    try:
        registry.decide(lookup.digests, approved=lookup.approved)
    except KeyError as error:
        words = "a hook has changed since it was listed, so nothing was approved; look at it again"
        raise LookupRefused(words) from error
    return registry.listed()
