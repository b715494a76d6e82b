"""/mcp: which MCP servers there are and how they stand; approving those of a project, connecting anew, off and on."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.event_kinds.programs import McpKind, McpScope, McpServerRow, McpState
from clew.protocol.lookups.mcp import ApproveMcp, ListMcp, McpServersListed, ReconnectMcp, ToggleMcp
from clew.protocol.ops import LogInMcp, LogOutMcp
from clew.text.figures import count
from clew.text.terminal_text import reveal

ABOUT = CommandHelp(
    name="mcp",
    usage="/mcp [approve NAME... | approve all | revoke NAME... | reconnect NAME | login NAME | logout NAME | "
    "off NAME | on NAME | tools NAME]",
    summary="List MCP servers, approve those of a project, connect anew, switch one off or on.",
    details=(
        "A server brings tools of its own. What is approved is exactly the server as listed: a change asks again.",
        "`clew mcp add` adds one of yours; a project's stand in its .mcp.json.",
    ),
)
STATES: dict[McpState, str] = {
    "unapproved": "not approved: does not run",
    "untrusted": "the directory is not trusted: does not run",
    "off": "off",
    "waiting": "not connected yet",
    "connecting": "connecting",
    "ready": "ready",
    "failed": "failed",
    "needs_auth": "wants you to sign in",
}
KINDS: dict[McpKind, str] = {"stdio": "program", "http": "HTTP", "sse": "SSE", "sdk": "in the program"}
SCOPES: dict[McpScope, str] = {
    "given": "given",
    "local": "yours, for this project",
    "project": "the project's",
    "user": "yours",
    "sdk": "the program's",
}
MAX_TOOLS = 60


def listing(event: McpServersListed) -> tuple[str, ...]:
    """What McpServersListed says."""
    lines: list[str] = []
    for row in event.servers:
        lines.append(f"{row.name}  {standing(row)}")
        lines += [f"    {line}" for line in reveal(row.shape).split("\n")]
        if row.variables:
            lines.append(f"    gets of your environment: {', '.join(row.variables)}")
        lines.append(f"    {KINDS[row.kind]}, {SCOPES[row.scope]}, in {row.source}")
    if not event.servers:
        lines.append("There are no MCP servers. `clew mcp add NAME -- COMMAND` adds one; see docs/mcp.md.")
    lines += [f"Not understood: {problem}" for problem in event.problems]
    if any(row.state == "unapproved" for row in event.servers):
        lines.append("Read what each would run, then: /mcp approve NAME, or /mcp approve all.")
    return tuple(lines)


def standing(row: McpServerRow) -> str:
    """How it stands, on one line."""
    words = STATES[row.state]
    if row.state == "ready":
        words += f", {count(len(row.tools), 'tool')}"
        words += f", {count(row.prompts, 'prompt')}" if row.prompts else ""
        words += f", {count(row.resources, 'resource')}" if row.resources else ""
    if row.version:
        words += f" ({row.version})"
    return f"{words}: {row.detail}" if row.detail else words


def offered_line(rows: tuple[McpServerRow, ...]) -> str:
    """That servers were found which do not run."""
    names = ", ".join(row.name for row in rows)
    subject = "1 MCP server of the project is" if len(rows) == 1 else f"{len(rows)} MCP servers of the project are"
    return f"{subject} not approved and do{'es' if len(rows) == 1 else ''} not run ({names}); /mcp lists what there is"


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list, or decide about servers of the last one."""
    word, *names = argument.split() or ["list"]
    match word:
        case "list" if not names:
            return CommandResult(lookups=(ListMcp(),))
        case "approve" | "revoke":
            return _decided(context.facts.servers, names, approving=word == "approve")
        case "reconnect" if len(names) == 1:
            return CommandResult(lookups=(ReconnectMcp(server=names[0]),))
        case "login" if len(names) == 1:
            return CommandResult(ops=(LogInMcp(server=names[0]),))
        case "logout" if len(names) == 1:
            return CommandResult(ops=(LogOutMcp(server=names[0]),))
        case "off" | "disable" | "on" | "enable" if len(names) == 1:
            return CommandResult(lookups=(ToggleMcp(server=names[0], enabled=word in ("on", "enable")),))
        case "tools" if len(names) == 1:
            return _tools(context.facts.servers, names[0])
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


def _decided(rows: tuple[McpServerRow, ...], names: list[str], *, approving: bool) -> CommandResult:
    if not rows:
        return CommandResult(
            lines=("List them first, with /mcp: what you approve should be what you saw.",), is_error=True
        )
    if not names:
        return usage_error(ABOUT, "Which ones? Give their names.")
    known = {row.name: row for row in rows if row.digest}
    if names == ["all"] and approving:
        chosen = [row for row in known.values() if row.state == "unapproved"]
    elif unknown := [name for name in names if name not in known]:
        return usage_error(ABOUT, f"{unknown[0]} is not a server of the project; yours need no approval.")
    else:
        chosen = [known[name] for name in names]
    if not chosen:
        return CommandResult(lines=("There is none that waits for approval.",))
    return CommandResult(lookups=(ApproveMcp(digests=tuple(row.digest for row in chosen), approved=approving),))


def _tools(rows: tuple[McpServerRow, ...], name: str) -> CommandResult:
    row = next((row for row in rows if row.name == name), None)
    if row is None:
        return CommandResult(lines=(f"There is no MCP server {name}, or it was not listed yet: /mcp",), is_error=True)
    if not row.tools:
        return CommandResult(lines=(f"{name} offers no tools now ({standing(row)}).",))
    more = (f"and {len(row.tools) - MAX_TOOLS} more",) if len(row.tools) > MAX_TOOLS else ()
    return CommandResult(lines=(f"{name} offers:", *(f"  {tool}" for tool in row.tools[:MAX_TOOLS]), *more))


COMMAND = Command(help=ABOUT, run=run)
