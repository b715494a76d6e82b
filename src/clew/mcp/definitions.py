"""What a server is before it runs: a name, a scope, and how it is reached; read from the documents people write.

The shape is Claude Code's: `{"mcpServers": {name: {command, args, env} | {type: http or sse, url, headers}}}`. What
cannot be understood is a line that names the place and the key; everything else still counts.
"""

import re
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from clew.protocol.event_kinds.programs import McpKind, McpScope
from clew.text.terminal_text import sanitize

Json = dict[str, Any]
SERVERS = "mcpServers"
MAX_SERVERS = 200
MAX_NAME_CHARS = 64
KINDS: dict[str, McpKind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "sse": "sse",
    "sdk": "sdk",
}
OF_STDIO = ("command", "args", "env", "cwd", "sandbox")
OF_HTTP = ("url", "headers", "oauth")
OF_ALL = ("type", "timeout", "disabled", "description", "alwaysLoad")
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
APPROVED_SCOPES: frozenset[McpScope] = frozenset({"project"})
"""What somebody else wrote: it runs only after a person's word about exactly this."""


class ServerDefinition(Struct, frozen=True, kw_only=True):
    """One server as it is written: nothing is expanded yet."""

    name: str
    scope: McpScope
    source: str
    """The file that holds it, or what gave it."""
    kind: McpKind
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    """Where a program runs, from the project's root; empty: there."""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    oauth: Json = {}
    """What the definition says about signing in; empty: nothing."""
    call_limit_s: float = 0.0
    """How long a call may be silent; 0: as long as usual."""
    disabled: bool = False
    always_load: bool = False
    """Its tools are in the array from the first request on, where their list is known then."""
    sandbox: bool = True
    """Held where it could run files of the workspace; False: never, as whoever wrote it wants."""
    agent: str = ""
    """The kind of agent whose definition brings it: it is connected for agents of that kind only."""
    digest: str = ""
    """Filled in where it is approved by."""

    @property
    def needs_approval(self) -> bool:
        """Whether somebody else wrote it."""
        return self.scope in APPROVED_SCOPES

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of it in which a variable may stand."""
        pairs = (*self.env, *self.headers)
        return (self.command, *self.args, self.cwd, self.url, *(value for _, value in pairs))


class BadDefinition(ValueError):
    """A definition that cannot be understood: which key, and why."""


def check_name(name: str) -> str:
    """What is wrong with a server's name; empty: nothing. It stands in tools' names and in rules."""
    if not NAME.fullmatch(name) or "__" in name or len(name) > MAX_NAME_CHARS:
        return "a name has letters, digits, - and single _ (at most 64), and begins and ends with a letter or digit"
    return ""


def read_servers(
    document: Any, *, scope: McpScope, source: str, problem: Callable[[str], None]
) -> tuple[ServerDefinition, ...]:
    """The servers of one document."""
    if not isinstance(document, dict):
        problem(f"{source}: not a JSON object")
        return ()
    given = cast(Json, document).get(SERVERS, {})
    if not isinstance(given, dict):
        problem(f"{source}: {SERVERS} is not an object of servers")
        return ()
    servers = cast(Json, given)
    if len(servers) > MAX_SERVERS:
        problem(f"{source}: {SERVERS} holds more than {MAX_SERVERS} servers; the rest is left out")
    found: list[ServerDefinition] = []
    for name, entry in list(servers.items())[:MAX_SERVERS]:
        try:
            found.append(read_server(name, entry, scope=scope, source=source, problem=problem))
        except BadDefinition as error:
            problem(f"{source}: {SERVERS}.{shown(name)}: {error}")
    return tuple(found)


def read_server(
    name: str, entry: Any, *, scope: McpScope, source: str, problem: Callable[[str], None] = lambda line: None
) -> ServerDefinition:
    """One server. Raises BadDefinition; keys that are not known are told and do nothing."""
    if wrong := check_name(name):
        raise BadDefinition(wrong)
    if not isinstance(entry, dict):
        raise BadDefinition("it is not an object")
    given = cast(Json, entry)
    kind = _kind(given)
    allowed = (*OF_ALL, *(OF_STDIO if kind == "stdio" else OF_HTTP if kind != "sdk" else ("name", "instance")))
    if unknown := sorted(set(given) - set(allowed)):
        problem(f"{source}: {SERVERS}.{name}.{shown(unknown[0])}: a {kind} server has no such key; it does nothing")
    return ServerDefinition(
        name=name,
        scope=scope,
        source=source,
        kind=kind,
        command=_text(given, "command") if kind == "stdio" else "",
        args=_texts(given, "args"),
        env=_pairs(given, "env"),
        cwd=_text(given, "cwd"),
        url=_url(given) if kind in ("http", "sse") else "",
        headers=_pairs(given, "headers"),
        oauth=_object(given, "oauth"),
        call_limit_s=_limit(given),
        disabled=given.get("disabled") is True,
        always_load=given.get("alwaysLoad") is True,
        sandbox=given.get("sandbox") is not False,
    )


def document_of(server: ServerDefinition) -> Json:
    """The server as it is written in a file."""
    if server.kind == "stdio":
        written: Json = {"type": "stdio", "command": server.command, "args": list(server.args), "env": dict(server.env)}
        if server.cwd:
            written["cwd"] = server.cwd
        if not server.sandbox:
            written["sandbox"] = False
    else:
        written = {"type": server.kind, "url": server.url}
        if server.headers:
            written["headers"] = dict(server.headers)
    return written


def shape_of(server: ServerDefinition) -> str:
    """What would run or be asked, word by word, variables as they are written. What a project adds to it stands below,
    in full; of what the user wrote only the names: it may be a secret."""
    if server.kind == "sdk":
        return "in the program that drives this session"
    lines = [" ".join(_word(word) for word in (server.command, *server.args)) if server.command else server.url]
    lines += [f"in {server.cwd}"] if server.cwd else []
    lines += [] if server.sandbox else ["outside the sandbox, with your rights"]
    for kind, pairs in (("variable", server.env), ("header", server.headers)):
        lines += [f"{kind} {name}" + (f": {value}" if server.needs_approval else "") for name, value in pairs]
    return "\n".join(lines)


def shown(text: str) -> str:
    """Somebody else's word on a line of ours."""
    return sanitize(text, one_line=True)[:80]


def _kind(given: Json) -> McpKind:
    named = given.get("type", "")
    if named and named not in KINDS:
        raise BadDefinition(f"type is {shown(str(named))!r}; it can be stdio, http or sse")
    kind = KINDS[named] if named else ("http" if "url" in given and "command" not in given else "stdio")
    needed = {"stdio": "command", "http": "url", "sse": "url"}.get(kind, "")
    if needed and not given.get(needed):
        raise BadDefinition(f"{needed} is missing; a server has command, or type and url")
    return kind


def _text(given: Json, key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str) or "\0" in value:
        raise BadDefinition(f"{key} is not a text")
    return value


def _texts(given: Json, key: str) -> tuple[str, ...]:
    value = given.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast(list[Any], value)):
        raise BadDefinition(f"{key} is not a list of texts")
    return tuple(cast(list[str], value))


def _pairs(given: Json, key: str) -> tuple[tuple[str, str], ...]:
    value = _object(given, key)
    for name, text in value.items():
        if not isinstance(text, str) or not re.fullmatch(r"[!-~]+", name) or "=" in name or ":" in name:
            raise BadDefinition(f"{key}.{shown(name)} is not a name with a text")
        if "\0" in text or (key == "headers" and re.search(r"[\r\n]", text)):
            raise BadDefinition(f"{key}.{name} holds a character that cannot be sent")
    return tuple(value.items())


def _object(given: Json, key: str) -> Json:
    value = given.get(key, {})
    if not isinstance(value, dict):
        raise BadDefinition(f"{key} is not an object")
    return cast(Json, value)


def _url(given: Json) -> str:
    url = _text(given, "url")
    try:
        parts = urlsplit(re.sub(r"\$\{[^}]*\}", "x", url))
    except ValueError as error:
        raise BadDefinition(f"url is not an address ({error})") from None
    variable = url.startswith("${")
    if not variable and (parts.scheme not in ("http", "https") or not parts.netloc):
        raise BadDefinition("url is not an http or https address")
    return url


def _limit(given: Json) -> float:
    value = given.get("timeout", 0)
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise BadDefinition("timeout is not a number of milliseconds")
    return value / 1000


def _word(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./~^${}*-]+", word) else "'" + word.replace("'", "'\\''") + "'"
