"""`clew mcp login` and `logout`: signing in to an HTTP server in a browser of yours, and forgetting it again."""

import argparse
import asyncio
import sys
import webbrowser
from typing import Any

from clew.cli.sub.place import ask, make_hub
from clew.host.hub import Hub
from clew.host.workspace import Workspace
from clew.protocol.lookups.mcp import AwaitMcpLogin, BeginMcpLogin, ForgetMcpLogin, McpLogin, OfferMcpAddress
from clew.text.terminal_text import reveal, sanitize, warnings


def add_arguments(actions: Any) -> None:
    """`clew mcp login NAME [--browser]`, `clew mcp logout NAME`, among the actions of argparse."""
    login = actions.add_parser("login", help="sign in to an HTTP server, in a browser of yours")
    login.add_argument("--browser", action="store_true", help="open the address in a browser without asking")
    for parser in (login, actions.add_parser("logout", help="forget the login of a server")):
        parser.add_argument("name", metavar="NAME", help="the server, as `clew mcp list` shows it")


def log_in(args: argparse.Namespace, place: Workspace) -> int:
    """Sign in. Raises LookupRefused."""
    ended = asyncio.run(_LoginByHand(make_hub(), place, browser=args.browser).sign_in(args.name))
    if ended.failed:
        return _complain(f"not signed in to {ended.server}: {ended.failed}", code=1)
    if ended.tools is None:
        print(f"{ended.server} lets us in without a login")
    else:
        print(f"signed in to {ended.server}: {ended.tools} tool{'' if ended.tools == 1 else 's'}")
    return 0


def log_out(args: argparse.Namespace, place: Workspace) -> int:
    """Forget a login. Raises LookupRefused or OSError."""
    forgotten = ask(place, ForgetMcpLogin(server=args.name))
    name = forgotten.server
    print(f"the login of {name} is forgotten" if forgotten.there_was else f"nobody is signed in to {name}")
    return 0


class _LoginByHand:
    """The address, for a person to open; nothing opens it without their word."""

    def __init__(self, hub: Hub, place: Workspace, *, browser: bool) -> None:
        self._hub = hub
        self._place = place
        self._browser = browser
        self._offers: set[asyncio.Task[None]] = set()

    async def sign_in(self, name: str) -> McpLogin:
        """To the end. Raises LookupRefused."""
        begun = await self._hub.look_up(self._place, BeginMcpLogin(server=name))
        if begun.ended:
            return begun
        self._show(begun)
        return await self._hub.look_up(self._place, AwaitMcpLogin(server=name))

    def _show(self, login: McpLogin) -> None:
        """Everything goes to stderr: stdout is for what came of it."""
        say(f"To sign in to {login.server} ({login.url}), open this address in a browser:")
        say("")
        sys.stderr.write(f"{sanitize(reveal(login.open_url), one_line=True)}\n")
        say("")
        for words in warnings(login.open_url):
            say(f"Careful: the address {words}")
        if self._browser:
            self._open(login.open_url)
        if sys.stdin.isatty() and sys.stderr.isatty():
            if not self._browser:
                say("Enter opens it here. On another machine: open it there, and paste the address it ends at.")
            loop = asyncio.get_running_loop()
            loop.add_reader(sys.stdin.fileno(), self._typed, login)

    def _typed(self, login: McpLogin) -> None:
        """Enter, or where the browser of another machine ended up."""
        line = sys.stdin.readline()
        if not line:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        elif not line.strip():
            self._open(login.open_url)
        else:
            task = asyncio.create_task(self._offer(OfferMcpAddress(server=login.server, address=line.strip())))
            self._offers.add(task)
            task.add_done_callback(self._offers.discard)

    async def _offer(self, offer: OfferMcpAddress) -> None:
        if not (await self._hub.look_up(self._place, offer)).taken:
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
