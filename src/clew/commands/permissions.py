"""/permissions: the mode and the rules in force, changing the mode, allowing something, taking that back."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.rules_and_models import AllowRule, ListRules, RemoveRule, RuleRow
from clew.protocol.ops import SetPermissionMode

MODES = {
    "default": (
        "asks before edits, and before commands that are neither harmless nor held by the sandbox; in the sandbox it "
        "asks before whole directories are deleted and before anything is lost that undo does not keep; what a command "
        "changed is shown like an edit"
    ),
    "plan": "reads only; nothing is changed",
    "acceptEdits": (
        "edits, moves and deletes files in the workspace without asking, as long as undo can bring them back; commands "
        "as in default mode otherwise"
    ),
    "bypassPermissions": (
        "runs what would merely ask, also what cannot be undone, and leaves the sandbox without asking; protected "
        "names, secrets, your ask and deny rules and what is always denied still hold"
    ),
}

ABOUT = CommandHelp(
    name="permissions",
    usage="/permissions [mode NAME | allow RULE | remove RULE]",
    summary="Show mode and rules, change the mode, allow something for this project, or take that back.",
    details=tuple(f"  {name}: {meaning}" for name, meaning in MODES.items()),
)

HOLDS = {
    "session": "holds until this session ends",
    "project": "holds in this project until it is removed",
    "user": "from the settings: holds until they are changed",
}
_ORDER = {"deny": 0, "ask": 1, "allow": 2}


def listing(mode: str, rules: tuple[RuleRow, ...]) -> tuple[str, ...]:
    """What RulesListed says."""
    lines = [f"Mode: {mode} ({MODES[mode]})" if mode in MODES else f"Mode: {mode or 'unknown'}"]
    if rules:
        lines.append("Rules (deny beats ask beats allow):")
        for row in sorted(rules, key=lambda row: _ORDER.get(row.decision, 3)):
            lines.append(f"  {row.decision:<5} {row.rule}  ({HOLDS.get(row.scope, row.scope)})")
    else:
        lines.append("No rules: the mode alone decides.")
    lines.append("Change the mode with /permissions mode NAME; take back a saved rule with /permissions remove RULE.")
    return tuple(lines)


def _set_mode(context: CommandContext, name: str) -> CommandResult:
    by_lower = {mode.lower(): mode for mode in MODES}
    mode = by_lower.get(name.lower())
    if mode is None:
        return usage_error(ABOUT, f"There is no permission mode {name}.")
    if mode == context.facts.permission_mode:
        return CommandResult(lines=(f"The mode is {mode} already.",))
    lines = (f"{mode}: {MODES[mode]}.",) if mode == "bypassPermissions" else ()
    return CommandResult(lines=lines, ops=(SetPermissionMode(mode=mode),))


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list, for another mode, to save or to forget a rule; the answer is an event."""
    words = argument.split()
    if not words:
        return CommandResult(lookups=(ListRules(),))
    if words[0] in ("allow", "remove"):
        rule = argument.strip().removeprefix(words[0]).strip()
        if not rule:
            return usage_error(ABOUT, "Which rule?")
        return CommandResult(lookups=(AllowRule(rule=rule) if words[0] == "allow" else RemoveRule(rule=rule),))
    if words[0] != "mode" or len(words) > 2:
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    if len(words) == 1:
        return usage_error(ABOUT, "Which mode?")
    return _set_mode(context, words[1])


COMMAND = Command(help=ABOUT, run=run)
