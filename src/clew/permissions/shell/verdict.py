"""The verdict on a shell command: deny side first, then proof part by part, then rules, sandbox and mode.

What "always allow" would save for one part: the exact words, or a prefix where more words cannot do more.
"""

import os
import re
from typing import NamedTuple

from msgspec.structs import replace

from clew.permissions.access import Decision, ShellAccess, Verdict
from clew.permissions.conditions import Policy
from clew.permissions.files import Places
from clew.permissions.paths import real
from clew.permissions.rules import UNSANDBOXED, Rule, parse_rule, quote_word
from clew.permissions.shell.effects.catastrophe import always_denied, coarse_denied, coarse_rule, unseen_loss
from clew.permissions.shell.effects.changes import changes_of, refuse_change, refuse_edits
from clew.permissions.shell.effects.file_rules import file_verdict
from clew.permissions.shell.effects.losses import Losses, losses_of
from clew.permissions.shell.effects.mentions import mentioned_rule
from clew.permissions.shell.effects.writes import protected_write, secret_in_history, secret_read
from clew.permissions.shell.programs.table import SHELLS, program
from clew.permissions.shell.proof.parts import CommandPart, parts_of, prove_part
from clew.permissions.shell.reading.grammar import unproven, unreadable
from clew.permissions.shell.reading.lexer import Lexer
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.words import Word
from clew.permissions.shell.rule_match import allowing_rule, matching_rule
from clew.protocol.events import RuleOffer

# Saving a rule for these would save a rule for anything.
_NEVER = SHELLS | {"eval", "source", ".", "su", "ssh", "export", "xargs"}
_MAX_RULE = 200


def offers_for(part: CommandPart, places: Places) -> tuple[RuleOffer, ...]:
    """The exact rule first; then, where its row says so, one for the same command with other arguments.

    Only what would really cover the part is offered: no rule reaches a protected name.
    """
    words = part.command.words
    if len(part.forms) != 1 or not words or any(not word.known or word.braces for word in words):
        return ()
    texts = [word.text for word in words]
    if texts[0] in _NEVER or program(texts[0]).wraps:
        return ()
    rules = [_rule(texts)] if _worth_saving(words) and _written_out(words) else []
    prefix = _prefix(texts)
    if prefix and _written_out(words[: len(prefix)]):
        rules.append(_rule([*prefix, "*"]))
    found = [
        rule for rule in rules if len(rule) <= _MAX_RULE and allowing_rule(part, (parse_rule(rule, "allow"),), places)
    ]
    return tuple(RuleOffer(rule=rule, covers=part.text) for rule in found)


def _rule(texts: list[str]) -> str:
    return f"Bash({' '.join(text if text == '*' else quote_word(text) for text in texts)})"


def _written_out(words: list[Word]) -> bool:
    """A rule's words are exact, so they can hold no pattern and no line break."""
    return not any(word.globs or word.tilde or "*" in word.text or "\n" in word.text for word in words)


def _worth_saving(words: list[Word]) -> bool:
    """A script by its name, or any other program; not a program text, which is never the same twice."""
    if program(words[0].text).offers != ("script",):
        return True
    return len(words) > 1 and _script_end([word.text for word in words]) > 0


def _prefix(texts: list[str]) -> list[str]:
    for offer in program(texts[0]).offers or (("*",) if texts[0].startswith("./") else ()):
        if offer == "script":
            end = _script_end(texts)
            return texts[:end] if end else []
        pattern = offer.split()[:-1]
        head = texts[1 : 1 + len(pattern)]
        if len(head) == len(pattern) and all(
            want in ("?", word) and not word.startswith("-") for want, word in zip(pattern, head, strict=True)
        ):
            return texts[: 1 + len(pattern)]
    return []


def _script_end(texts: list[str]) -> int:
    """How many words name the script or module of `python3 -u x.py arg` or `python3 -m pytest -q`; 0: there is none."""
    at = 1
    while at < len(texts) and texts[at] in ("-u", "-B", "-E", "-s", "-I", "-O", "--test"):
        at += 1
    if at < len(texts) and texts[at] == "-m":
        return at + 2 if at + 1 < len(texts) else 0
    return at + 1 if at < len(texts) and not texts[at].startswith("-") else 0


_UNUSABLE = re.compile("[\0\ud800-\udfff]")
ACCEPTED = "mode acceptEdits"
MAX_EXACT = 300
"""A longer command is never the same twice, so no rule for exactly it is offered."""
MAX_SCANNED = 130_000
"""Longer texts are not taken apart; the Bash tool runs none of them."""


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
    # neither a proof nor a rule about commands is enough (cases/leaving_the_sandbox.txt), only one for exactly this.
    if may_be_let_out(access, policy):
        rules = (rule for rule in policy.rules if rule.effect == "allow" and rule.tool == UNSANDBOXED)
        if rule := next((rule for rule in rules if rule.pattern == access.command), None):
            allowed = Verdict(decision="allow", why="your rule lets it leave the sandbox", rule=rule.text)
            return found._replace(verdict=replace(allowed, at_stake=found.verdict.at_stake))
        offers = (RuleOffer(rule=f"{UNSANDBOXED}({access.command})", covers=access.command),)
    else:
        offers = ()
    why = f"leaves the sandbox: {found.verdict.why}"
    return found._replace(verdict=Verdict(decision="ask", why=why, rule="leaves the sandbox", offers=offers))


def may_be_let_out(access: ShellAccess, policy: Policy) -> bool:
    """Whether a rule for exactly this text may let it leave the sandbox: in a trusted project, from its root, and where
    nothing that asks in every mode is at stake (protected names, secrets, your ask rules, what cannot be seen)."""
    text, roots = access.command, policy.places.roots
    if policy.mode == "plan" or not policy.trusted or not roots or real(access.cwd) != roots[0]:
        return False
    if len(text) > MAX_EXACT or text != text.strip() or not text.isprintable():
        return False
    unasked = replace(policy, mode="bypassPermissions")
    return _judge_held(access, unasked).verdict.decision == "allow"


def _judge_held(access: ShellAccess, policy: Policy) -> ShellVerdict:
    # No path can hold a NUL or half a character, and bash gets neither; read as signs like any other they hide nothing.
    text = _UNUSABLE.sub("\ufffd", access.command)
    cwd = real(_UNUSABLE.sub("\ufffd", access.cwd))
    if len(text) > MAX_SCANNED:
        return ShellVerdict(_judge_long(text, policy))
    scan = Scan(text, cwd, policy.places.home)
    found_bad = always_denied(scan, policy.places)
    refused = found_bad.why or (coarse_denied(text, policy.places) if scan.cut or found_bad.fault else "")
    if refused:
        return ShellVerdict(_always_deny(refused))
    for effect in ("deny", "ask"):
        rules = policy.matching(effect, "Bash")
        rule = matching_rule(scan, rules) or (coarse_rule(text, rules) if scan.cut or found_bad.fault else None)
        if rule is not None:
            return ShellVerdict(Verdict(decision=effect, why=f"your rule says {effect}", rule=rule.text))
    if found_bad.fault is not None:
        raise found_bad.fault
    # A shell that is told the name of its directory keeps it, links and all; then `cd ..` follows the name.
    names = frozenset({cwd, os.path.abspath(_UNUSABLE.sub("\ufffd", access.cwd))})
    found = _proven(access.command, names, policy, kept=access.unkept == ())
    if (ruled := file_verdict(scan, policy, reads_only=found.verdict.reads_only)) is not None:
        return found._replace(verdict=ruled)
    if not found.verdict.reads_only and (rule := mentioned_rule(scan, policy.matching("deny", "Bash"))):
        why = f"it may run what your rule {rule.text} denies"
        return found._replace(
            verdict=Verdict(decision="deny" if policy.mode == "plan" else "ask", why=why, rule=rule.text)
        )
    verdict = found.verdict
    if verdict.decision == "allow" and not any(part.rule == ACCEPTED for part in found.parts):
        return found
    if policy.mode in ("plan", "bypassPermissions"):
        return found._replace(verdict=_by_mode(verdict, access, scan, Losses(), policy))
    lost = losses_of(scan, policy.places)
    if verdict.decision == "ask":
        verdict = _by_mode(verdict, access, scan, lost, policy)
    return found._replace(verdict=_known_loss(verdict, lost, access))


def _always_deny(why: str) -> Verdict:
    return Verdict(decision="deny", why=why, rule="always-deny", absolute=True)


def _judge_long(text: str, policy: Policy) -> Verdict:
    """A text that is too long to be taken apart: what is plainly denied is, the rest asks in every mode."""
    if refused := coarse_denied(text, policy.places):
        return _always_deny(refused)
    if rule := coarse_rule(text, policy.matching("deny", "Bash")):
        return Verdict(decision="deny", why="your rule says deny", rule=rule.text)
    why = "the command is too long to be judged"
    return Verdict(decision="deny" if policy.mode == "plan" else "ask", why=why, rule="limits")


NOT_TRUSTED = "this directory is not trusted yet, so every command asks; `clew --trust` changes that"


def _known_loss(verdict: Verdict, lost: Losses, access: ShellAccess) -> Verdict:
    """What could not be brought back asks first; where it asks anyway, that is said (test_losses.py)."""
    verdict = replace(verdict, at_stake=lost.paths)
    if not access.unkept or not lost.paths:
        return verdict
    unkept = f"it could not be undone: {access.unkept[0]}"
    if verdict.decision == "allow":
        return replace(verdict, decision="ask", why=unkept, rule="not kept")
    return replace(verdict, why=f"{verdict.why}; {unkept}")


def _by_mode(asking: Verdict, access: ShellAccess, scan: Scan, lost: Losses, policy: Policy) -> Verdict:
    """A mode, a whole-tool rule or the sandbox may answer for a person, unless something protected is at stake."""
    if policy.mode == "plan":
        return Verdict(
            decision="deny", why=f"plan mode runs only what is proven harmless: {asking.why}", rule="mode plan"
        )
    held = (policy.sandboxed or access.sandboxed) and not access.leaves_sandbox
    guarded = protected_write(scan, policy.places, held=held)
    if guarded.why:
        # Where it would be asked anyway, a guess at a file is not why.
        guessed = not guarded.sure and not held and policy.mode != "bypassPermissions"
        return Verdict(decision="ask", why=asking.why if guessed else guarded.why, rule="protected names")
    if scan.opaque and policy.matching("deny", "Bash"):
        return Verdict(decision="ask", why="it cannot be known which program runs, and you have deny rules")
    bypass = policy.mode == "bypassPermissions"
    if held and not bypass and (secret := secret_in_history(scan, policy.places)):
        return Verdict(decision="ask", why=secret, rule="secret names")
    if held and policy.trusted:
        why = lost.history or (lost.trees if policy.mode == "default" else "")
        if why:
            return Verdict(decision="ask", why=why, rule="loses work", offers=asking.offers)
        return Verdict(decision="allow", why="runs inside the sandbox", rule="sandbox")
    if held and not bypass:
        return Verdict(decision="ask", why=NOT_TRUSTED, rule=asking.rule, offers=asking.offers)
    whole = next((rule for rule in policy.matching("allow", "Bash") if rule.whole_tool), None)
    if not bypass and (whole is None or not policy.trusted):
        return asking
    if secret := secret_read(scan, policy.places):
        return Verdict(decision="ask", why=secret, rule="secret names")
    unseen = "it cannot be known which program runs" if scan.hidden or scan.cut else unseen_loss(scan)
    if unseen:
        return Verdict(decision="ask", why=unseen, rule="always-deny")
    if whole is not None and policy.trusted:
        return Verdict(decision="allow", why="your rule allows every command", rule=whole.text)
    return Verdict(decision="allow", why="bypass mode", rule="mode bypassPermissions")


def _proven(text: str, names: frozenset[str], policy: Policy, *, kept: bool) -> ShellVerdict:
    if why := unreadable(text):
        return ShellVerdict(Verdict(decision="ask", why=why))
    lexer = Lexer(text)
    if why := unproven(text, lexer):
        return ShellVerdict(Verdict(decision="ask", why=why))
    taken = parts_of(lexer, names, policy.places)
    parts = [_judge_part(part, policy, alone=len(lexer.commands) == 1, kept=kept) for part in taken]
    if any(map(_edits, taken)):
        # The proof looked at the project as it is now, and one of these parts may change what it looked at.
        parts = [_unsettled(part, one) for part, one in zip(taken, parts, strict=True)]
    if not parts:
        # The grammar has accepted the text, so it is comments.
        return ShellVerdict(Verdict(decision="allow", why="nothing runs", reads_only=True))
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
        offers = tuple(dict.fromkeys(offer for part in asking for offer in part.offers))
        verdict = Verdict(decision="ask", why=asking[0].why, rule=asking[0].rule, offers=offers)
    return ShellVerdict(verdict, tuple(dict.fromkeys(parts)))


def _edits(part: CommandPart) -> bool:
    words = part.command.words
    return bool(part.outputs) or (bool(words) and program(words[0].text).writes is not None)


def _unsettled(part: CommandPart, found: PartVerdict) -> PartVerdict:
    words = part.command.words
    if not (found.reads_only and words and program(words[0].text).code_files):
        return found
    why = "an earlier part may put a file in place that chooses what this runs"
    return PartVerdict(found.text, "ask", why, found.rule)


def _judge_part(part: CommandPart, policy: Policy, *, alone: bool, kept: bool) -> PartVerdict:
    accepts = policy.mode == "acceptEdits" and policy.trusted
    if part.why:
        if not (accepts and part.outputs and part.cwd is not None):
            return PartVerdict(part.text, "ask", part.why)
        if why := _refuse_outputs(part, part.cwd, policy):
            return PartVerdict(part.text, "ask", why)
    proof = prove_part(part, policy.places)
    rule: Rule | None = None
    if proof.refused or not policy.trusted:
        rule = allowing_rule(part, policy.matching("allow", "Bash"), policy.places)
    if rule is not None:
        return PartVerdict(part.text, "allow", "your rule allows it", rule.text)
    if proof.refused:
        if accepts and (edits := _only_edits(part, policy, alone=alone, kept=kept)) is not None:
            if not edits:
                return PartVerdict(part.text, "allow", "edits inside the workspace are accepted", ACCEPTED)
            return PartVerdict(part.text, "ask", edits, proof.row)
        return PartVerdict(part.text, "ask", proof.refused, proof.row, offers_for(part, policy.places))
    if not policy.trusted:
        return PartVerdict(part.text, "ask", NOT_TRUSTED)
    if part.outputs:
        return PartVerdict(part.text, "allow", "edits inside the workspace are accepted", ACCEPTED)
    return PartVerdict(part.text, "allow", "only reads", proof.row, reads_only=True)


def _refuse_outputs(part: CommandPart, cwd: str, policy: Policy) -> str:
    """Why a redirection is more than an edit of an ordinary file of the workspace."""
    for target in part.outputs:
        if not target.known or target.globs or target.braces or target.tilde:
            return "it is not written out which file is written"
        if why := refuse_change(target.text, cwd, policy.places):
            return why
    return ""


def _only_edits(part: CommandPart, policy: Policy, *, alone: bool, kept: bool) -> str | None:
    """Why the part is more than edits inside the workspace; empty where it is not; None where its row tells nothing.

    `kept`: whatever it deletes can be brought back, whole directories too."""
    if part.cwd is None or not part.forms:
        return None
    for form in part.forms:
        if not form or not form[0].plain:
            return None
        changes = changes_of(form)
        if changes is None:
            return None
        row = program(form[0].text)
        if not row.plain_edit:
            return None
        if row.writes == "remove" and changes.recursive and not kept:
            return "this deletes whole directories"
        trees = kept and (changes.recursive or row.writes == "move")
        if why := refuse_edits(changes, part.cwd, policy.places, alone=alone, trees=trees):
            return why
    return ""
