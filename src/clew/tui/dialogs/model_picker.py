"""The models there are, by provider: short names, windows and prices beside them."""

from collections.abc import Iterator

from clew.presentation.rows.spans import Row, Span, spread
from clew.protocol.events import Event
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.rules_and_models import ModelRow, ModelsListed
from clew.protocol.ops import SetModel
from clew.text.figures import price
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.picker import Picker, holds
from clew.tui.dialogs.registry import DialogContext


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, ModelsListed)
    return ModelPicker(event, context)


class ModelPicker(Picker):
    """Rows of ModelsListed under the names of their providers. The model in use is marked first."""

    asks_for = "a model, a provider, or a short name such as sonnet"

    def __init__(self, listed: ModelsListed, context: DialogContext) -> None:
        super().__init__()
        self._models = listed.rows or tuple(_bare(name) for name in listed.models)
        self._current = context.facts.model

    def title(self) -> str:
        return "Model"

    def note(self) -> str:
        return sanitize(self._current, one_line=True)

    def begin(self) -> None:
        super().begin()
        places = [at for at, option in enumerate(self.options.items) if option.value == self._current]
        if places:
            self.options.point(places[0])

    def rows_for(self, words: list[str]) -> Iterator[Option]:
        """Of the models that fit, those whose short name is exactly what was typed come first."""
        fitting = [row for row in self._models if holds(f"{row.provider} {row.name} {' '.join(row.aliases)}", words)]
        exact = [row for row in fitting if len(words) == 1 and words[0] in row.aliases]
        fitting = exact + [row for row in fitting if row not in exact]
        for provider in dict.fromkeys(row.provider for row in fitting):
            yield Option(value="", heading=True, label=(Span(sanitize(provider, one_line=True), "dim"),))
            for row in fitting:
                if row.provider == provider:
                    yield Option(value=row.name, rows=lambda columns, row=row: [self._row(row, columns)])

    def _row(self, row: ModelRow, columns: int) -> Row:
        name = Span(sanitize(row.name.partition("/")[2] or row.name, one_line=True))
        current = Span("  in use" if row.name == self._current else "", "accent")
        aliases = Span(f"  {' '.join(sanitize(alias, one_line=True) for alias in row.aliases)}", "dim")
        return spread((name, current, aliases), (Span(_figures(row), "dim"),), columns)

    def hint(self) -> str:
        if self.options.cursor == NOWHERE:
            return "No such model is connected; /model provider/name uses one that is not listed · Esc closes"
        value = self.options.items[self.options.cursor].value
        probed = next((row.probed for row in self._models if row.name == value), "")
        told = f"{sanitize(probed, one_line=True)} · " if probed else ""
        return f"{told}Enter uses it from the next request on · Esc closes"

    def chosen(self, place: int) -> None:
        model = self.options.items[place].value
        if model == self._current:
            self.dismiss()
        else:
            self.finish(SetModel(model=model))


def _bare(name: str) -> ModelRow:
    return ModelRow(name=name, provider=name.partition("/")[0])


def _figures(row: ModelRow) -> str:
    window = _tokens(row.window) if row.window else ""
    costs = ""
    if row.local:
        costs = "local"
    elif row.input_usd is not None and row.output_usd is not None:
        costs = f"{price(row.input_usd)} / {price(row.output_usd)}"
    return "  ".join(part for part in (window, costs) if part)


def _tokens(count: int) -> str:
    return f"{count / 1_000_000:g}M" if count >= 1_000_000 else f"{count // 1000}k"
