"""/model: which model answers, and changing it."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import ListModels, SetModel

ABOUT = CommandHelp(
    name="model",
    usage="/model [NAME]",
    summary="Show the model, or use another.",
    details=(
        "It takes effect with the next request.",
        "NAME is provider/model, a bare model name, or a number of the list.",
    ),
)


def listing(current: str, models: tuple[str, ...]) -> tuple[str, ...]:
    """What ModelsListed says."""
    lines = [f"Model: {current or 'none'}"]
    for number, name in enumerate(models, start=1):
        lines.append(f"{'*' if name == current else ' '} {number:>2}. {name}")
    if models:
        lines.append("Change it with /model NAME or /model NUMBER.")
    else:
        lines.append("No list of models is available here; change it with /model provider/model.")
    return tuple(lines)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list, or for another model; the answer is an event."""
    wanted = argument.strip()
    current = context.facts.model
    if not wanted:
        return CommandResult(ops=(ListModels(),))
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
