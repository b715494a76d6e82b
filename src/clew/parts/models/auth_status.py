"""How the active model is reached: by which key, whether anything is missing, and what stands in the way."""

from msgspec.structs import replace

from clew.config.errors import SettingsError
from clew.config.schema import Provider
from clew.host.workspace import Workspace
from clew.llm.errors import LLMError
from clew.llm.keys.saved_keys import SavedKeys, read_saved
from clew.llm.models.connect import (
    ProviderStatus,
    all_rows,
    default_model,
    key_words,
    provider_status,
    resolve,
    target_of,
)
from clew.protocol.lookups.auth import AuthStatus


def auth_status(workspace: Workspace) -> AuthStatus:
    """Without any request and without running a command."""
    try:
        saved, broken = read_saved(workspace.home), workspace.loaded.problems
    except SettingsError as error:
        saved, broken = SavedKeys(), (*workspace.loaded.problems, str(error))
    providers, env = workspace.settings.providers, workspace.env
    name = workspace.settings.model or default_model(env, providers) or ""
    status = AuthStatus(model=name, chosen_by=_chosen_by(workspace), saved=tuple(saved.keys), problems=broken)
    if not name:
        return _with(status, problem="no model is connected: run `clew auth` to choose a way")
    try:
        row, model = resolve(name, providers, env)
    except LLMError as error:
        return _with(status, problem=str(error))
    found = provider_status(row, providers, env)
    if found is None:
        return _with(status, problem=f"{row.name} has no address: set providers.{row.name}.baseUrl")
    status = replace(
        status,
        model=f"{row.name}/{model}",
        provider=row.name,
        label=found.label,
        method=found.method,
        key=key_words(found, providers.get(row.name, Provider())),
        problems=(*broken, *(f"{found.label} needs {words}" for words in found.lacks)),
        notes=tuple(_notes(workspace, found, saved)),
    )
    try:
        target = target_of(name, providers=providers, env=env)
    except LLMError as error:
        return status if found.lacks and found.method != "missing" else _with(status, problem=str(error))
    return _with(status, address=target.base_url, ready=not status.problems)


def _notes(workspace: Workspace, status: ProviderStatus, saved: SavedKeys) -> list[str]:
    """What may surprise: something that wins over what was saved, and keys that nobody uses."""
    notes: list[str] = []
    if status.name in saved.keys and status.method in ("variable", "command"):
        winner = status.variable if status.method == "variable" else "the command in the settings"
        notes.append(f"{winner} goes before the saved key of {status.name}")
    for source in workspace.loaded.sources.get("model", ()):
        if source.layer == "env":
            notes.append(f"{source.place} chooses the model, whatever the settings say")
    known = all_rows(workspace.settings.providers)
    notes += [
        f"a key is saved for {name}, which is no provider any more: clew auth remove {name}"
        for name in saved.keys
        if name not in known
    ]
    return notes


def _chosen_by(workspace: Workspace) -> str:
    if not workspace.settings.model:
        return "the first provider that has a key"
    places = [source.place for source in workspace.loaded.sources.get("model", ())]
    return places[-1] if places else "the settings"


def _with(status: AuthStatus, *, problem: str = "", address: str = "", ready: bool = False) -> AuthStatus:
    problems = (*status.problems, problem) if problem else status.problems
    return replace(status, problems=problems, address=address, ready=ready)
