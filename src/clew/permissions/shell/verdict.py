"""The verdict on a shell command: deny side first, then proof part by part, then rules and mode."""

from typing import NamedTuple

from clew.permissions.access import Decision, ShellAccess, Verdict
from clew.permissions.paths import real
from clew.permissions.conditions import Policy
from clew.permissions.rules import Rule
from clew.permissions.shell.catastrophe import always_denied, coarse_denied
from clew.permissions.shell.grammar import MAX_CHARS, unproven, unreadable
from clew.permissions.shell.lexer import Lexer
from clew.permissions.shell.offers import offers_for
from clew.permissions.shell.proof import Part, parts_of, prove_part
from clew.permissions.shell.rule_match import allowing_rule, matching_rule
from clew.permissions.shell.scan import Scan
from clew.permissions.shell.writes import protected_write
from clew.protocol.events import RuleOffer


class PartVerdict(NamedTuple):
    """One part of a compound command, for people who want to know why."""

    text: str
    decision: Decision
    why: str
    rule: str = ""
    offers: tuple[RuleOffer, ...] = ()
    reads_only: bool = False


class ShellVerdict(NamedTuple):
    """The whole, and its parts where the text could be taken apart."""

    verdict: Verdict
    parts: tuple[PartVerdict, ...] = ()


def judge_shell(access: ShellAccess, policy: Policy) -> ShellVerdict:
    """Prove it, or ask, or refuse. Runs nothing."""
    found = _judge_held(access, policy)
    if not access.leaves_sandbox or found.verdict.decision == "deny" or policy.mode == "bypassPermissions":
        return found
    # Inside, the sandbox answered for what a file of the project may make a program do. Outside nothing does, so
    # neither a proof nor a rule is enough, and no rule is offered (cases/leaving_the_sandbox.txt).
    why = f"leaves the sandbox: {found.verdict.why}"
    return found._replace(verdict=Verdict(decision="ask", why=why, rule="leaves the sandbox"))


def _judge_held(access: ShellAccess, policy: Policy) -> ShellVerdict:
    text, places = access.command, policy.places
    cwd = real(access.cwd)
    scan = Scan(text, cwd, places.home)
    refused = always_denied(scan, places) or (coarse_denied(text, places) if len(text) > MAX_CHARS else "")
    if refused:
        return ShellVerdict(Verdict(decision="deny", why=refused, rule="always-deny", absolute=True))
    for effect in ("deny", "ask"):
        rule = matching_rule(scan, policy.matching(effect, "Bash"))
        if rule is not None:
            return ShellVerdict(Verdict(decision=effect, why=f"your rule says {effect}", rule=rule.text))
    found = _proven(text, cwd, policy)
    if found.verdict.decision != "ask":
        return found
    return found._replace(verdict=_by_mode(found.verdict, access, scan, cwd, policy))


def _by_mode(asking: Verdict, access: ShellAccess, scan: Scan, cwd: str, policy: Policy) -> Verdict:
    """A mode, a whole-tool rule or the sandbox may answer for a person, unless something protected is at stake."""
    if policy.mode == "plan":
        return Verdict(
            decision="deny", why=f"plan mode runs only what is proven harmless: {asking.why}", rule="mode plan"
        )
    if guarded := protected_write(scan, policy.places):
        return Verdict(decision="ask", why=guarded, rule="protected names", offers=())
    if scan.opaque and policy.matching("deny", "Bash"):
        return Verdict(decision="ask", why="it cannot be known which program runs, and you have deny rules", offers=())
    whole = next((rule for rule in policy.matching("allow", "Bash") if rule.whole_tool), None)
    if whole is not None and policy.trusted:
        return Verdict(decision="allow", why="your rule allows every command", rule=whole.text)
    if policy.mode == "bypassPermissions":
        return Verdict(decision="allow", why="bypass mode", rule="mode bypassPermissions")
    if (policy.sandboxed or access.sandboxed) and not access.leaves_sandbox and policy.trusted:
        return Verdict(decision="allow", why="runs inside the sandbox", rule="sandbox")
    return asking


def _proven(text: str, cwd: str, policy: Policy) -> ShellVerdict:
    if why := unreadable(text):
        return ShellVerdict(Verdict(decision="ask", why=why))
    lexer = Lexer(text)
    if why := unproven(text, lexer):
        return ShellVerdict(Verdict(decision="ask", why=why))
    parts = [_judge_part(part, policy) for part in parts_of(lexer, cwd, policy.places)]
    if not parts:
        return ShellVerdict(Verdict(decision="ask", why="there is nothing to run"))
    asking = [part for part in parts if part.decision == "ask"]
    if not asking:
        rule = next((part.rule for part in parts if part.rule), "")
        verdict = Verdict(
            decision="allow",
            why=parts[0].why if len(parts) == 1 else "every part is allowed",
            rule=rule,
            reads_only=all(part.reads_only for part in parts),
        )
    else:
        offers = tuple(offer for part in asking for offer in part.offers)
        verdict = Verdict(decision="ask", why=asking[0].why, rule=asking[0].rule, offers=offers)
    return ShellVerdict(verdict, tuple(parts))


def _judge_part(part: Part, policy: Policy) -> PartVerdict:
    if part.why:
        return PartVerdict(part.text, "ask", part.why)
    proof = prove_part(part, policy.places)
    rule: Rule | None = None
    if proof.refused or not policy.trusted:
        rule = allowing_rule(part, policy.matching("allow", "Bash"), policy.places)
    if rule is not None:
        return PartVerdict(part.text, "allow", "your rule allows it", rule.text)
    if proof.refused:
        return PartVerdict(part.text, "ask", proof.refused, proof.row, offers_for(part))
    if not policy.trusted:
        return PartVerdict(part.text, "ask", "this directory is not trusted yet")
    return PartVerdict(part.text, "allow", "only reads", proof.row, reads_only=True)
