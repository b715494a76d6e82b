"""`clew mcp`: MCP servers, and clew as one of them."""

import argparse

from clew.cli import mcp_login, mcp_serve

HELP = "clew as an MCP server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One subparser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="serve|login|logout", required=True)
    mcp_serve.add_arguments(actions.add_parser("serve", description=mcp_serve.HELP, help=mcp_serve.HELP))
    for name, words in (("login", mcp_login.LOGIN_HELP), ("logout", mcp_login.LOGOUT_HELP)):
        mcp_login.add_arguments(actions.add_parser(name, description=words, help=words), login=name == "login")


def run(args: argparse.Namespace) -> int:
    """Do it."""
    return mcp_serve.run(args) if args.action == "serve" else mcp_login.run(args, login=args.action == "login")
