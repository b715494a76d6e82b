"""One tool call with its outcome, as the families of facts see it."""

from typing import Any, NamedTuple, cast

from msgspec import Struct

from clew.protocol.ids import EntryId

SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Shell"})
EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "ApplyPatch"})
READ_TOOLS = frozenset({"Read", "NotebookRead"})
SEARCH_TOOLS = frozenset({"Grep", "Glob", "LS", "WebSearch", "ToolSearch"})
AGENT_TOOLS = frozenset({"Task", "Agent"})

_ALIASES = {
    "apply_patch": "ApplyPatch",
    "patch": "ApplyPatch",
    "bash": "Bash",
    "shell": "Bash",
    "read": "Read",
    "edit": "Edit",
    "write": "Write",
}


def tool_name(name: str) -> str:
    """Our name of a tool."""
    return _ALIASES.get(name, name)


class EndedCall(NamedTuple):
    """A call that has its result."""

    name: str
    arguments: dict[str, Any]
    text: str
    """Words of the result."""
    is_error: bool
    extra: object
    """The structured form beside the result, if there is one."""
    call_entry: EntryId
    result_entry: EntryId

    @property
    def source(self) -> tuple[EntryId, ...]:
        """Both entries that show it."""
        return (self.call_entry, self.result_entry) if self.call_entry else (self.result_entry,)

    def argument(self, *names: str) -> str:
        """The first of these arguments that is text."""
        for name in names:
            value = self.arguments.get(name)
            if isinstance(value, str) and value:
                return value
        return ""

    def blocks(self, kind: str) -> list[dict[str, Any]]:
        """Our display blocks of one kind."""
        extra = as_object(self.extra)
        if extra is None:
            return []
        shown = extra.get("display")
        if not isinstance(shown, list | tuple):
            return []
        found: list[dict[str, Any]] = []
        for item in cast("list[object]", shown):
            block = as_object(item)
            if block is not None and block.get("kind") == kind:
                found.append(block)
        return found


def as_object(value: object) -> dict[str, Any] | None:
    """The value as a JSON object, if it is one; Structs that are not yet JSON count through their fields."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        fields["kind"] = value.__struct_config__.tag
        return fields
    return None


def as_int(value: object) -> int:
    """The value as a count; anything else is 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
