"""`clew mcp`: MCP servers, and clew as one of them."""

import argparse

from clew.cli import mcp_serve

HELP = "clew as an MCP server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One subparser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="serve", required=True)
    mcp_serve.add_arguments(actions.add_parser("serve", description=mcp_serve.HELP, help=mcp_serve.HELP))


def run(args: argparse.Namespace) -> int:
    """Do it."""
    return mcp_serve.run(args)
