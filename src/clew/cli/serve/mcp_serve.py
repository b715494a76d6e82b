"""`clew mcp serve`: sessions, and files if asked, for other agents: a read-only MCP server over stdin and stdout."""

import argparse
import os
import signal
import sys

from clew.cli.serve.files import ServedFiles
from clew.cli.serve.tools import INSTRUCTIONS, ServedTools
from clew.config.errors import SettingsError
from clew.text.terminal_text import sanitize

HELP = "our sessions for other agents: a read-only MCP server on stdin and stdout"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`clew mcp serve [--files DIR ...]`."""
    parser.add_argument(
        "--files",
        nargs="+",
        action="extend",
        metavar="DIR",
        help="also read and search files below these directories; what would ask a person is refused",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until stdin ends. Nothing but the protocol is written to stdout."""
    try:
        files = ServedFiles(args.files, os.environ) if args.files else None
    except (ValueError, SettingsError) as error:
        return _complain(str(error))
    from clew.mcp.tool_server import serve_tools  # the SDK is loaded to serve, not to complain

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a thread waits for stdin: only the system can end it at once
    tools = ServedTools(files)
    serve_tools(tools.listed(), tools.called, instructions=INSTRUCTIONS)
    return 0


def _complain(words: str) -> int:
    sys.stderr.write(f"clew mcp serve: {sanitize(words, one_line=True)}\n")
    return 2
