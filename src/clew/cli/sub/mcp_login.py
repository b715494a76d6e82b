"""`clew mcp login` and `logout`: signing in to an HTTP server in a browser of yours, and forgetting it again."""

import argparse
import asyncio
import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.mcp.approvals import McpApprovals
from clew.mcp.definitions import ServerDefinition
from clew.mcp.expansion import MissingVariables, expanded
from clew.mcp.files import ServerPlaces, find_servers
from clew.mcp.login.logins import LoginStore
from clew.mcp.ports import Surroundings
from clew.text.terminal_text import reveal, sanitize, warnings

if TYPE_CHECKING:
    from clew.mcp.login.loopback import Loopback


class LoginRefused(ValueError):
    """What was asked for cannot be done, and why."""


def add_arguments(actions: Any) -> None:
    """`clew mcp login NAME [--browser]`, `clew mcp logout NAME`, among the actions of argparse."""
    login = actions.add_parser("login", help="sign in to an HTTP server, in a browser of yours")
    login.add_argument("--browser", action="store_true", help="open the address in a browser without asking")
    for parser in (login, actions.add_parser("logout", help="forget the login of a server")):
        parser.add_argument("name", metavar="NAME", help="the server, as `clew mcp list` shows it")


def log_in(args: argparse.Namespace, places: ServerPlaces) -> int:
    """Sign in. Raises Refused."""
    return _log_in(named(args.name, places), LoginStore(places.home), browser=args.browser)


def log_out(args: argparse.Namespace, places: ServerPlaces) -> int:
    """Forget a login. Raises Refused or OSError."""
    server = named(args.name, places)
    there_was = LoginStore(places.home).forget(server)
    print(f"the login of {server.name} is forgotten" if there_was else f"nobody is signed in to {server.name}")
    return 0


def named(name: str, places: ServerPlaces) -> ServerDefinition:
    """The server of that name here, as it would be connected. Raises Refused."""
    found = next((one for one in find_servers(places).servers if one.name == name), None)
    if found is None:
        raise LoginRefused(f"there is no MCP server {name!r} here; `clew mcp list` shows those there are")
    if found.kind not in ("http", "sse"):
        raise LoginRefused(f"{name} is a program on this machine; nobody signs in to it")
    if not McpApprovals(places.home).is_approved(found, places.root):
        raise LoginRefused(f"{name} is a server of the project that you have not approved; start clew there, then /mcp")
    try:
        return expanded(found, os.environ)
    except MissingVariables as error:
        raise LoginRefused(str(error)) from error


def _log_in(server: ServerDefinition, store: LoginStore, *, browser: bool) -> int:
    from clew.mcp.login.oauth_login import LoginFailed  # the SDK is loaded to sign in, not to complain
    from clew.mcp.login.oauth_login import log_in as sign_in

    around = Surroundings(root=Path.cwd(), env=os.environ, child_env={}, roots=lambda: ())
    try:
        tools = asyncio.run(sign_in(server, around, store, _Shown(server, browser=browser).show))
    except LoginFailed as error:
        return _complain(f"not signed in to {server.name}: {error}", code=1)
    if tools is None:
        print(f"{server.name} lets us in without a login")
    else:
        print(f"signed in to {server.name}: {tools} tool{'' if tools == 1 else 's'}")
    return 0


class _Shown:
    """The address, for a person to open; nothing opens it without their word."""

    def __init__(self, server: ServerDefinition, *, browser: bool) -> None:
        self._server = server
        self._browser = browser

    async def show(self, url: str, back: "Loopback") -> bool:
        """Everything goes to stderr: stdout is for what came of it."""
        say(f"To sign in to {self._server.name} ({self._server.url}), open this address in a browser:")
        say("")
        sys.stderr.write(f"{sanitize(reveal(url), one_line=True)}\n")
        say("")
        for words in warnings(url):
            say(f"Careful: the address {words}")
        if self._browser:
            self._open(url)
        if sys.stdin.isatty() and sys.stderr.isatty():
            if not self._browser:
                say("Enter opens it here. On another machine: open it there, and paste the address it ends at.")
            loop = asyncio.get_running_loop()
            loop.add_reader(sys.stdin.fileno(), self._typed, url, back)
        return True

    def _typed(self, url: str, back: "Loopback") -> None:
        """Enter, or where the browser of another machine ended up."""
        line = sys.stdin.readline()
        if not line:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        elif not line.strip():
            self._open(url)
        elif not back.offer(line.strip()):
            say("That is not the address at which this login ends.")

    def _open(self, url: str) -> None:
        if not webbrowser.open(url):
            say("No browser could be started here; open the address yourself.")


def say(text: str) -> None:
    """One line for a person."""
    sys.stderr.write(f"{sanitize(text, one_line=True)}\n")


def _complain(words: str, *, code: int) -> int:
    sys.stderr.write(f"clew mcp: {sanitize(words, one_line=True)}\n")
    return code
