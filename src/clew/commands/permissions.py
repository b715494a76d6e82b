"""/permissions: the mode and the rules in force, and changing the mode."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SetPermissionMode

MODES = {
    "default": "asks before edits, and before commands that are neither harmless nor held by the sandbox",
    "plan": "reads only; nothing is changed",
    "acceptEdits": "edits files in the workspace without asking",
    "bypassPermissions": (
        "runs what would merely ask, and leaves the sandbox without asking; protected names, your ask and deny rules "
        "and what is always denied still hold"
    ),
}

ABOUT = CommandHelp(
    name="permissions",
    usage="/permissions [mode NAME | remove RULE]",
    summary="Show mode and rules, change the mode, or take back a saved rule.",
    details=tuple(f"  {name}: {meaning}" for name, meaning in MODES.items()),
)

_IN_SETTINGS = ("user", "project", "managed")
_ORDER = {"deny": 0, "ask": 1, "allow": 2}


def _listing(context: CommandContext) -> CommandResult:
    mode = context.facts.permission_mode
    lines = [f"Mode: {mode} ({MODES[mode]})" if mode in MODES else f"Mode: {mode or 'unknown'}"]
    rules = context.rules()
    if rules is None:
        lines.append("The rules from settings are not shown here; `clew config list` prints them.")
    elif not rules:
        lines.append("No rules: the mode alone decides.")
    else:
        lines.append("Rules (deny beats ask beats allow):")
        for row in sorted(rules, key=lambda row: _ORDER.get(row.decision, 3)):
            lines.append(f"  {row.decision:<5} {row.rule}  ({row.scope})")
    fresh = [rule for rule in context.facts.saved_rules if rule not in {row.rule for row in rules or ()}]
    if fresh:
        lines.append('Saved with "always" in this session; they hold in this project until removed:')
        lines += [f"  allow {rule}" for rule in fresh]
    lines.append("Change the mode with /permissions mode NAME; take back a saved rule with /permissions remove RULE.")
    return CommandResult(lines=tuple(lines))


def _set_mode(context: CommandContext, name: str) -> CommandResult:
    by_lower = {mode.lower(): mode for mode in MODES}
    mode = by_lower.get(name.lower())
    if mode is None:
        return usage_error(ABOUT, f"There is no permission mode {name}.")
    if mode == context.facts.permission_mode:
        return CommandResult(lines=(f"The mode is {mode} already.",))
    lines = (f"{mode}: {MODES[mode]}.",) if mode == "bypassPermissions" else ()
    return CommandResult(lines=lines, ops=(SetPermissionMode(mode=mode),))


def _remove(context: CommandContext, rule: str) -> CommandResult:
    """Only what "always" saved can be taken back here: settings are a file that the user edits."""
    if not rule:
        return usage_error(ABOUT, "Which rule?")
    rows = context.rules()
    saved = {*context.facts.saved_rules, *(row.rule for row in rows or () if row.scope not in _IN_SETTINGS)}
    if rows is not None and rule not in saved:
        return usage_error(ABOUT, f'{rule} was not saved with "always"; rules in settings are changed there.')
    return CommandResult(lines=(f"Removed: {rule}",), forget_rules=(rule,))


def run(context: CommandContext, argument: str) -> CommandResult:
    """List, or ask for another mode; PermissionModeChanged or a notice is the answer."""
    words = argument.split()
    if not words:
        return _listing(context)
    if words[0] == "remove":
        return _remove(context, argument.strip().removeprefix("remove").strip())
    if words[0] != "mode" or len(words) > 2:
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    if len(words) == 1:
        return usage_error(ABOUT, "Which mode?")
    return _set_mode(context, words[1])


COMMAND = Command(help=ABOUT, run=run)
