"""The few tools of a session whose model has a small window, in few words and with the parameters that matter."""

from msgspec import Struct

from clew.protocol.tools import ToolSpec


class ShortForm(Struct, frozen=True, kw_only=True):
    """What is told of a tool there. Everything else it takes still works."""

    words: str
    parameters: tuple[str, ...]


SMALL_SET: dict[str, ShortForm] = {
    "Bash": ShortForm(
        words="Runs a command in a fresh bash; only the directory is kept, nothing can prompt. A sandbox may hold it: "
        "no network, writes only in the workspace. leave_sandbox asks the user; only when it failed for that reason.",
        parameters=("command", "timeout", "leave_sandbox"),
    ),
    "Read": ShortForm(
        words="Reads a file with line numbers. Use offset and limit for long ones.",
        parameters=("file_path", "offset", "limit"),
    ),
    "Edit": ShortForm(
        words="Replaces exact text in a file that was read before. old_string must be unique, or replace_all true.",
        parameters=("file_path", "old_string", "new_string", "replace_all"),
    ),
    "Write": ShortForm(
        words="Creates a file or replaces all of it. An existing one must have been read first.",
        parameters=("file_path", "content"),
    ),
    "Grep": ShortForm(
        words="Searches files with regular expressions. output_mode: files_with_matches (default), content, count.",
        parameters=("pattern", "path", "glob", "output_mode", "-i", "-C"),
    ),
}


def short_spec(spec: ToolSpec) -> ToolSpec:
    """The spec in its short form, if it has one."""
    form = SMALL_SET.get(spec.name)
    if form is None:
        return spec
    properties = {name: spec.schema["properties"][name] for name in form.parameters}
    return ToolSpec(name=spec.name, description=form.words, schema=spec.schema | {"properties": properties})
