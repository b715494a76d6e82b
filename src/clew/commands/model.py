"""/model: which model answers, and changing it."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.rules_and_models import ListModels, ModelRow
from clew.protocol.ops import SetModel
from clew.text.figures import price

ABOUT = CommandHelp(
    name="model",
    usage="/model [NAME]",
    summary="Show the model, or use another.",
    details=(
        "It takes effect with the next request.",
        "NAME is provider/model, a bare model name, a number of the list, or a family such as sonnet, opus, gpt or",
        "gemini: its newest model of a connected provider.",
    ),
)


def listing(current: str, models: tuple[str, ...], rows: tuple[ModelRow, ...] = ()) -> tuple[str, ...]:
    """What ModelsListed says."""
    lines = [f"Model: {current or 'none'}"]
    known = {row.name: row for row in rows}
    for number, name in enumerate(models, start=1):
        about = about_model(known[name]) if name in known else ""
        lines.append(f"{'*' if name == current else ' '} {number:>2}. {name}{about}")
    if models:
        lines.append("Change it with /model NAME or /model NUMBER.")
    else:
        lines.append("No list of models is available here; change it with /model provider/model.")
    return tuple(lines)


def about_model(row: ModelRow) -> str:
    """What tells one model from another, in a few words."""
    parts = [f"also {', '.join(row.aliases)}"] if row.aliases else []
    if row.window:
        parts.append(f"{row.window:,} tokens")
    if row.input_usd is not None and row.output_usd is not None:
        parts.append(f"{price(row.input_usd)} in, {price(row.output_usd)} out per million")
    if row.local:
        parts.append("on this machine")
    if row.probed:
        parts.append(row.probed)
    return f"  ({'; '.join(parts)})" if parts else ""


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list, or for another model; the answer is an event."""
    wanted = argument.strip()
    current = context.facts.model
    if not wanted:
        return CommandResult(lookups=(ListModels(),))
    if len(wanted.split()) > 1:
        return usage_error(ABOUT, "A model name has no spaces.")
    if wanted.isdecimal():
        models = context.facts.models
        if not 1 <= int(wanted) <= len(models):
            return usage_error(ABOUT, f"No number {wanted} was listed; /model lists them.")
        wanted = models[int(wanted) - 1]
    if wanted == current:
        return CommandResult(lines=(f"{wanted} is the model already.",))
    return CommandResult(ops=(SetModel(model=wanted),))


COMMAND = Command(help=ABOUT, run=run)
