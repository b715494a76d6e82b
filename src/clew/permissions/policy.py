"""Verdicts: places and commands first, then rules, then the mode.

Order: always-deny; deny rules; ask rules; protected names; allow rules; what is proven; the mode. Deny beats ask beats
allow, however specific. A mode can only loosen what merely asks, and never what is protected.
"""

import re
from ipaddress import ip_address

from msgspec.structs import replace

from clew.permissions.access import (
    Access,
    AgentAccess,
    Decision,
    FetchAccess,
    FileAccess,
    FileOp,
    MemoryAccess,
    ShellAccess,
    ToolAccess,
    Verdict,
    strictest,
)
from clew.permissions.conditions import Policy, make_policy
from clew.permissions.effort import TooMuchWork, limited_effort
from clew.permissions.files import Finding, judge_place
from clew.permissions.rules import AGENT, matches_agent, matches_host, matches_path, matches_word, parse_rule
from clew.protocol.events import RuleOffer
from clew.text.lazy_pattern import LazyPattern
from clew.text.urls import FetchRefused, parse_url

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")
_NUMERIC = LazyPattern(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+))*", re.IGNORECASE)


def refuse_url(url: str) -> tuple[str, str]:
    """Why this URL must not be fetched (or an empty string), and its host. The address is checked again at connect."""
    try:
        host = parse_url(url).host
    except FetchRefused as refused:
        return str(refused), ""
    if ":" in host or _NUMERIC.fullmatch(host):
        return _refuse_address(host), f"[{host}]" if ":" in host else host
    if host == "localhost" or host.endswith(_LOCAL_ENDINGS) or "." not in host:
        return "the host is this machine or its own network", host
    return "", host


def _refuse_address(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return "the host is an address in an unusual spelling"
    mapped = getattr(address, "ipv4_mapped", None) or address
    return "" if mapped.is_global and not mapped.is_multicast else "the address is this machine or its own network"


__all__ = ["Policy", "judge", "judge_call", "make_policy"]

_FILE_TOOLS: dict[FileOp, tuple[str, ...]] = {
    "read": ("Read", "Grep", "NotebookRead"),
    "list": ("Read", "Glob", "LS"),
    "write": ("Edit", "Write", "NotebookEdit", "MultiEdit"),
    "delete": ("Edit", "Write"),
}


def judge(access: Access, policy: Policy) -> Verdict:
    """What permissions say about one access. Runs nothing, changes nothing, and never fails: a fault asks."""
    try:
        with limited_effort():
            verdict = _judge(access, policy)
            return _planning(access, policy, verdict) if policy.mode == "plan" else verdict
    except TooMuchWork as spent:
        return Verdict(decision="ask", why=str(spent), rule="limits")
    except Exception as fault:
        # The boundary of the judge (test_faults.py): whatever went wrong in it, a person decides.
        return Verdict(decision="ask", why=f"it could not be judged ({type(fault).__name__}: {fault})", rule="fault")


def _judge(access: Access, policy: Policy) -> Verdict:
    match access:
        case ShellAccess():
            return _shell(access, policy)
        case FileAccess():
            return _file(access, policy)
        case FetchAccess():
            return _fetch(access, policy)
        case ToolAccess():
            return _tool(access, policy)
        case MemoryAccess():
            return _memory(access, policy)
        case AgentAccess():
            return _agent(access, policy)


def _planning(access: Access, policy: Policy, verdict: Verdict) -> Verdict:
    """Plan mode changes nothing: no rule that allows runs what is not proven to read, and neither a protected name nor
    a rule that asks makes a question of what it refuses."""
    if verdict.decision == "deny" or verdict.reads_only:
        return verdict
    match access:
        case ShellAccess():
            denials = tuple(rule for rule in policy.rules if rule.effect == "deny")
            proven = _shell(access, replace(policy, rules=denials, trusted=True))
            return proven if proven.decision == "deny" else verdict
        case FileAccess(op="write" | "delete") | ToolAccess(read_only=False) | MemoryAccess():
            return Verdict(decision="deny", why="plan mode changes nothing", rule="mode plan")
        case _:
            return verdict


def judge_call(accesses: tuple[Access, ...], policy: Policy) -> Verdict:
    """The verdict of a call is the strictest of what it would touch (P8)."""
    return strictest([judge(access, policy) for access in accesses])


def _shell(access: ShellAccess, policy: Policy) -> Verdict:
    # Loaded with the first shell verdict only: the parser and its tables would otherwise be paid for at every start.
    from clew.permissions.shell.verdict import judge_shell

    return judge_shell(access, policy).verdict


def _file(access: FileAccess, policy: Policy) -> Verdict:
    places = policy.places
    place = judge_place(access.op, access.path, access.cwd, places)
    if place.decision == "deny":
        return Verdict(
            decision="deny", why=place.why, rule="always-deny" if place.absolute else "", absolute=place.absolute
        )
    ruled = _file_rules(access, place, policy)
    if ruled is not None:
        return ruled
    writes = access.op in ("write", "delete")
    if place.protected:
        rule = "protected names" if writes else "secret names"
        return _ask_file(access, place, place.why, rule, policy, offer=False)
    if policy.mode == "plan" and writes:
        return Verdict(decision="deny", why="plan mode changes nothing", rule="mode plan")
    if policy.mode == "bypassPermissions":
        return Verdict(decision="allow", why="bypass mode", rule="mode bypassPermissions")
    if place.decision == "ask":
        return _ask_file(access, place, place.why, "", policy)
    if not writes:
        return Verdict(decision="allow", why=place.why)
    if policy.mode == "acceptEdits" and policy.trusted:
        if access.unkept:
            return _ask_file(access, place, f"it could not be undone: {access.unkept[0]}", "not kept", policy)
        why, stake = "edits inside the workspace are accepted", (place.target,)
        return Verdict(decision="allow", why=why, rule="mode acceptEdits", at_stake=stake)
    return _ask_file(access, place, "changes a file", "", policy)


def _file_rules(access: FileAccess, place: Finding, policy: Policy) -> Verdict | None:
    """What the user's rules say: deny and ask see both spellings of the path, allow only the resolved one."""
    tools = _FILE_TOOLS[access.op]
    places = policy.places
    root = places.roots[0] if places.roots else ""
    given = access.path if access.path.startswith("/") else f"{access.cwd}/{access.path}"
    effects: tuple[Decision, ...] = ("deny", "ask", "allow")
    for effect in effects:
        if effect == "allow" and place.protected:
            return None
        spellings = (place.target,) if effect == "allow" else (place.target, given)
        for rule in policy.rules:
            if rule.effect != effect or not (rule.tool in tools or rule.tool == "*"):
                continue
            if any(path and matches_path(rule, path, root, places.home) for path in spellings):
                if effect == "allow" and policy.mode == "plan" and access.op in ("write", "delete"):
                    return Verdict(decision="deny", why="plan mode changes nothing", rule="mode plan")
                return Verdict(decision=effect, why=f"your rule says {effect}", rule=rule.text)
    return None


def _ask_file(
    access: FileAccess, place: Finding, why: str, rule: str, policy: Policy, *, offer: bool = True
) -> Verdict:
    offers: tuple[RuleOffer, ...] = ()
    if offer and place.target and not any(char in place.target for char in "*?[]()\n"):
        tool = "Edit" if access.op in ("write", "delete") else "Read"
        root = policy.places.inside(place.target)
        name = place.target[len(root) + 1 :] if root and root == policy.places.roots[0] else place.target
        offers = (RuleOffer(rule=f"{tool}({name})", covers=access.path),) if name else ()
    return Verdict(decision="ask", why=why, rule=rule, offers=offers)


def _fetch(access: FetchAccess, policy: Policy) -> Verdict:
    refused, host = refuse_url(access.url)
    if refused:
        return Verdict(decision="deny", why=refused, rule="fetch rules")
    effects: tuple[Decision, ...] = ("deny", "ask", "allow")
    for effect in effects:
        for rule in policy.matching(effect, "WebFetch"):
            if matches_host(rule, host):
                if effect == "allow" and len(access.url.partition("?")[2]) > 200:
                    return Verdict(decision="ask", why="a long query could carry data out", rule=rule.text)
                return Verdict(decision=effect, why=f"your rule says {effect}", rule=rule.text)
    if policy.mode == "bypassPermissions":
        return Verdict(decision="allow", why="bypass mode", rule="mode bypassPermissions")
    offer = RuleOffer(rule=f"WebFetch(domain:{host})", covers=access.url)
    return Verdict(decision="ask", why=f"{host} is a new host", offers=(offer,))


def _tool(access: ToolAccess, policy: Policy) -> Verdict:
    effects: tuple[Decision, ...] = ("deny", "ask", "allow")
    for effect in effects:
        for rule in policy.matching(effect, access.tool):
            unread = access.changed or (policy.mode == "plan" and not access.read_only)
            covers = rule.whole_tool or (access.subject and matches_word(rule.pattern, access.subject))
            if covers and not (effect == "allow" and unread):
                return Verdict(decision=effect, why=f"your rule says {effect}", rule=rule.text)
    if access.read_only:
        return Verdict(decision="allow", why="reads only")
    if policy.mode == "plan":
        return Verdict(decision="deny", why="plan mode changes nothing", rule="mode plan")
    if policy.mode == "bypassPermissions":
        return Verdict(decision="allow", why="bypass mode", rule="mode bypassPermissions")
    why = access.about or f"{access.tool} is not known to only read"
    if access.changed:
        why = f"{access.tool} describes itself otherwise than when it was last let run"
    return Verdict(decision="ask", why=why, offers=_tool_offer(access.tool))


def _memory(access: MemoryAccess, policy: Policy) -> Verdict:
    """Later sessions believe what stands there: no mode and no allow rule answers for a person."""
    for rule in policy.matching("deny", access.tool):
        if rule.whole_tool:
            return Verdict(decision="deny", why="your rule says deny", rule=rule.text)
    return Verdict(decision="ask", why=access.why, rule="memory")


def _agent(access: AgentAccess, policy: Policy) -> Verdict:
    """By rules alone, in every mode: what the agent does is judged at each of its own calls."""
    effects: tuple[Decision, ...] = ("deny", "ask", "allow")
    for effect in effects:
        for rule in policy.matching(effect, AGENT):
            if matches_agent(rule, access.kind, access.model):
                return Verdict(decision=effect, why=f"your rule {rule.text} says {effect}", rule=rule.text)
    return Verdict(decision="allow", why="an agent has no more rights than its parent")


def _tool_offer(tool: str) -> tuple[RuleOffer, ...]:
    rule = parse_rule(tool, "allow")
    return (RuleOffer(rule=rule.text, covers=tool),)
