"""Permissions of a running session: the policy in force, and what the user adds to it."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, get_args

import msgspec

from clew.config.errors import SettingsError
from clew.config.load import LoadedSettings, Scope
from clew.config.schema import Permissions, Settings
from clew.permissions.access import (
    STRICTNESS,
    Access,
    Decision,
    FileAccess,
    Mode,
    ShellAccess,
    Verdict,
    strictest,
)
from clew.permissions.conditions import Policy, leaving, seen_from, with_rules
from clew.permissions.policy import judge, judge_call, make_policy
from clew.permissions.rules import Rule, RuleError, add_rule, parse_rule
from clew.transcript.log.files import replace_file

if TYPE_CHECKING:
    from clew.agents.definitions.own_memory import OwnMemory


class ToolPlace(Protocol):
    """Where tools work, and what the user's settings say of it."""

    @property
    def cwd(self) -> Path:
        """Where the session began."""
        ...

    @property
    def root(self) -> Path:
        """The project."""
        ...

    @property
    def home(self) -> Path:
        """Our own files."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """The user's environment."""
        ...

    @property
    def trusted(self) -> bool:
        """The user trusts the project."""
        ...

    @property
    def sources(self) -> frozenset[Scope]:
        """Whose files may be read."""
        ...

    @property
    def loaded(self) -> LoadedSettings:
        """The settings, and where each comes from."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        ...


class SavedRules:
    """`permissions.json` beside the sessions of a project."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "permissions.json"

    def load(self) -> tuple[Rule, ...]:
        """All that can be read; a damaged file grants nothing."""
        rules: list[Rule] = []
        for text in self._texts():
            try:
                rules.append(parse_rule(text, "allow", "user"))
            except RuleError:
                continue  # written by another version; it grants nothing here
        return tuple(rules)

    def add(self, texts: tuple[str, ...]) -> None:
        """Keep these too. Raises OSError."""
        known = self._texts()
        allowed = [*known, *(text for text in texts if text not in known)]
        replace_file(self.path, msgspec.json.format(msgspec.json.encode({"allow": allowed})) + b"\n")

    def remove(self, text: str) -> bool:
        """Take one back. False when it was not kept. Raises OSError."""
        known = self._texts()
        if text.strip() not in known:
            return False
        allowed = [one for one in known if one != text.strip()]
        replace_file(self.path, msgspec.json.format(msgspec.json.encode({"allow": allowed})) + b"\n")
        return True

    def texts(self) -> list[str]:
        """The rules as they were saved."""
        return self._texts()

    def _texts(self) -> list[str]:
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(fd, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, list[str]]).get("allow", [])
        except (OSError, msgspec.DecodeError):
            return []


MODES = get_args(Mode)
RULE_OPTIONS: dict[Decision, str] = {"allow": "--allowed-tools", "deny": "--disallowed-tools"}
FOR_PEOPLE = frozenset({"protected names", "secret names", "leaves the sandbox", "memory", "limits", "fault"})
"""What a verdict names as its reason where no hook may answer; some of these a mode answers."""


def no_rule(rule: str) -> bool:
    """For a session that keeps no rules."""
    return False


class Permits:
    """Mode and rules can change while a session runs; each verdict uses what is in force at that moment."""

    def __init__(
        self,
        policy: Policy,
        *,
        save: Callable[[tuple[str, ...]], None],
        unsave: Callable[[str], bool] = no_rule,
        saved: Callable[[], Sequence[str]] = tuple,
        saved_in: str = "",
        results_dir: Path | None = None,
    ) -> None:
        """`save` keeps rules for later sessions, `unsave` forgets one. `results_dir`: long results this session wrote
        itself; the model was told to read them there."""
        self.policy = policy
        self._save = save
        self._unsave = unsave
        self._saved = saved
        self.saved_in = saved_in
        """The file behind `save`; empty where there is none."""
        self._session_only: set[str] = set()
        self._lent: tuple[str, ...] = ()
        self.started_with = policy.mode
        self._results_dir = results_dir
        self._scratch = ""
        """The directory that a coordinator's workers read and write without asking; empty: there is none."""
        self._plan_file = ""
        """The session's own plan, which the model may read and write in every mode; empty: it has none."""

    def judge(self, accesses: tuple[Access, ...], *, mode: Mode | None = None, at: str = "") -> Verdict:
        """What permissions say now; with `mode`, what they would say in that one. `at`: the checkout of an agent that
        has its own: it is the workspace then, and what the rules deny of the user's checkout stays denied."""
        asked, policy = tuple(access for access in accesses if not self.own(access)), self._in_force(mode)
        if not at:
            return judge_call(asked, policy)
        verdicts = [judge(access, seen_from(at, access, policy)) for access in asked]
        above = [judge(access, policy) for access in asked if isinstance(access, ShellAccess)]
        return strictest([*verdicts, *(verdict for verdict in above if verdict.decision == "deny")])

    def only_a_person(self, accesses: tuple[Access, ...], *, mode: Mode | None = None, at: str = "") -> bool:
        """Whether no hook may answer for these: what still asks where the user gave up asking (protected names,
        secrets, ask rules, what could not be judged), and a way out of the sandbox."""
        if any(isinstance(access, ShellAccess) and access.leaves_sandbox for access in accesses):
            return True
        asked = [access for access in accesses if not self.own(access)]
        policies = [seen_from(at, access, self._in_force(mode)) for access in asked]
        if any(judge(access, policy).rule in FOR_PEOPLE for access, policy in zip(asked, policies, strict=True)):
            return True
        unasked = [msgspec.structs.replace(policy, mode="bypassPermissions") for policy in policies]
        return any(judge(access, policy).decision != "allow" for access, policy in zip(asked, unasked, strict=True))

    def own(self, access: Access) -> bool:
        """Whether this reads a result that was spilled, or touches the plan, wherever links lead."""
        if not isinstance(access, FileAccess) or access.op == "delete":
            return False
        target = os.path.realpath(os.path.join(access.cwd, access.path))
        if self._plan_file and target == self._plan_file:
            return True
        if self._scratch and Path(target).is_relative_to(self._scratch):
            return True
        if self._results_dir is None or access.op == "write":
            return False
        return Path(target).is_relative_to(os.path.realpath(self._results_dir))

    def use_scratch(self, folder: Path) -> None:
        """Workers share this directory."""
        self._scratch = os.path.realpath(folder)

    def lend(self, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Allow rules that hold until `take_back`: what a command or skill of the user's own brings for its turn. Those
        that are understood."""
        taken: list[str] = []
        for text in rules:
            try:
                parse_rule(text, "allow", "session")
            except RuleError:
                continue
            taken.append(text)
        self._lent = tuple(dict.fromkeys((*self._lent, *taken)))
        return tuple(taken)

    def take_back(self) -> None:
        """The turn is over."""
        self._lent = ()

    def _in_force(self, mode: Mode | None = None) -> Policy:
        """The policy with what is lent: allow rules only, which no deny or ask rule and no protected name yields to."""
        policy = self.policy if mode is None else msgspec.structs.replace(self.policy, mode=mode)
        if not self._lent:
            return policy
        rules = policy.rules
        for text in self._lent:
            rules = add_rule(rules, text)
        return with_rules(policy, rules)

    def remember(self, rules: tuple[str, ...], *, kept: bool = True) -> None:
        """The user said "always" to exactly these rules, or with `kept` false: until this session ends."""
        taken: list[str] = []
        for text in rules:
            try:
                self.policy = with_rules(self.policy, add_rule(self.policy.rules, text))
            except RuleError:
                continue  # an offer that is no rule was never made by us
            taken.append(text)
        if taken and kept:
            self._save(tuple(taken))
            self._session_only.difference_update(taken)
        elif taken:
            self._session_only.update(taken)

    def allow(self, rule: str) -> None:
        """The user wrote this rule for the project. Raises RuleError, or OSError; then nothing changed."""
        rules = add_rule(self.policy.rules, rule)
        self._save((rule.strip(),))
        self.policy = with_rules(self.policy, rules)

    def forget(self, rule: str) -> None:
        """A rule that was saved with "always", or given for this session, no longer holds. Raises KeyError when it was
        not, or OSError."""
        given = rule.strip() in self._session_only
        if not self._unsave(rule) and not given:
            raise KeyError(rule)
        self._session_only.discard(rule.strip())
        kept = tuple(known for known in self.policy.rules if known.text != rule.strip() or known.effect != "allow")
        self.policy = with_rules(self.policy, kept)

    def origins(self) -> tuple[tuple[Rule, bool, bool], ...]:
        """The rules in force, each with whether it was saved for this project, and whether for this session only."""
        saved, given = set(self._saved()), self._session_only
        return tuple(
            (rule, allows and rule.text in saved, allows and rule.text in given)
            for rule in self.policy.rules
            for allows in [rule.effect == "allow"]
        )

    def use_plan_file(self, path: str) -> None:
        """The one file that may be written while planning, as a real path; empty: none."""
        self._plan_file = path

    def set_mode(self, mode: str) -> None:
        """Raises ValueError for a mode there is not."""
        if mode not in MODES:
            raise ValueError(f"there is no permission mode {mode!r}; modes are {', '.join(MODES)}")
        self.policy = msgspec.structs.replace(self.policy, mode=cast(Mode, mode))


class PathBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The only files that a kind of agent touches, by real paths: it reads them. They narrow its rights and never widen
    them."""

    reads: tuple[str, ...]
    """Folders that it reads in."""

    def refusal(self, accesses: tuple[Access, ...]) -> str:
        """Why one of these is out of bounds; empty: none is."""
        for access in accesses:
            if isinstance(access, ShellAccess):
                return "this kind of agent runs no commands"
            if not isinstance(access, FileAccess):
                continue
            target = os.path.realpath(os.path.join(access.cwd, os.path.expanduser(access.path)))
            if access.op in ("write", "delete"):
                return "this kind of agent changes no file"
            if not any(target == folder or target.startswith(folder.rstrip("/") + "/") for folder in self.reads):
                return f"this kind of agent reads below {' and '.join(self.reads)} only"
        return ""


class AgentRights:
    """What one agent may do: what the session's permits say in its own mode, and never more than its parent may.

    Both are asked at each call, so a mode that the user changes counts for every agent at once.
    """

    def __init__(
        self,
        permits: Permits,
        *,
        mode: Mode | None = None,
        parent: "AgentRights | None" = None,
        bounds: PathBounds | None = None,
        checkout: str = "",
        memory: "OwnMemory | None" = None,
        alone: bool = True,
    ) -> None:
        """`mode`: None: the session's. `bounds`: the only files that it touches; None: no such bound. `checkout`: the
        only place whose files it changes; empty: the workspace. `memory`: where it keeps notes of its own. `alone`:
        nobody else's word takes it out of its checkout."""
        self.permits = permits
        self._mode: Mode | None = mode
        self._parent = parent
        self._bounds = bounds
        self._checkout = checkout
        self._memory = memory
        self.alone = alone

    @property
    def plans(self) -> bool:
        """It changes nothing: plan mode holds for it or for somebody above it."""
        above = self._parent is not None and self._parent.plans
        return above or "plan" in (self._mode, self.permits.policy.mode)

    def use_mode(self, mode: Mode | None) -> None:
        """Go on in another mode of its own; its parent's holds besides."""
        self._mode = mode

    def work_in(self, checkout: str) -> None:
        """It changes files in this checkout only from now on; empty: in the workspace."""
        self._checkout = checkout

    def judge(self, accesses: tuple[Access, ...], *, at: str = "") -> Verdict:
        """The stricter of the two verdicts; where they are equally strict, the parent's words."""
        if self._memory is not None:
            accesses, why = self._memory.left(accesses, self.permits.policy, planning=self.plans)
            if why:
                return Verdict(decision="deny", why=why, rule="bounds of the agent")
        if self._bounds is not None and (why := self._bounds.refusal(accesses)):
            return Verdict(decision="deny", why=why, rule="bounds of the agent")
        asked = tuple(access for access in accesses if not self.permits.own(access))
        if self._checkout and (why := leaving(self._checkout, asked, alone=self.alone)):
            return Verdict(decision="deny", why=why, rule="isolation")
        at = at or self._checkout
        own = self.permits.judge(accesses, mode=self._mode, at=at)
        if self._parent is None:
            return own
        above = self._parent.judge(accesses, at=at)
        stake = tuple(dict.fromkeys((*above.at_stake, *own.at_stake)))
        worst = own if STRICTNESS[own.decision] > STRICTNESS[above.decision] else above
        return msgspec.structs.replace(worst, at_stake=stake, reads_only=own.reads_only and above.reads_only)

    def only_a_person(self, accesses: tuple[Access, ...], *, at: str = "") -> bool:
        """Whether no hook may answer an ask about these."""
        at = at or self._checkout
        own = self.permits.only_a_person(accesses, mode=self._mode, at=at)
        return own or (self._parent is not None and self._parent.only_a_person(accesses, at=at))


def policy_of(place: ToolPlace, saved: SavedRules) -> Policy:
    """The policy a session starts with."""
    settings = place.settings
    return make_policy(
        root=str(place.root),
        home=place.env.get("HOME", "") or str(place.home.parent),
        clew_home=str(place.home),
        mode=settings.permission_mode,
        rules=(*rules_of(settings.permissions, place), *(saved.load() if "local" in place.sources else ())),
        additional=settings.permissions.additional_directories,
        trusted=place.trusted,
    )


def rules_of(permissions: Permissions, place: ToolPlace) -> tuple[Rule, ...]:
    """The rules of all layers. Project files were already narrowed when settings were loaded."""
    lists: dict[Decision, tuple[str, ...]]
    lists = {"deny": permissions.deny, "ask": permissions.ask, "allow": permissions.allow}
    rules: list[Rule] = []
    for effect, texts in lists.items():
        try:
            rules += [parse_rule(text, effect) for text in texts]
        except RuleError as error:
            raise SettingsError(f"{error} (in {places_of(effect, place)})") from error
    return tuple(rules)


def places_of(effect: Decision, place: ToolPlace) -> str:
    """Where rules of this kind come from: files, or the option that gave them."""
    sources = place.loaded.sources.get(f"permissions.{effect}", ())
    named = {RULE_OPTIONS.get(effect, source.place) if source.layer == "flag" else source.place for source in sources}
    return ", ".join(sorted(named)) or "the settings"
