"""The registry of modules that load the MCP SDK (half a second): each is loaded once a server is connected or signed in
to, never to list servers or to complain about one."""


def connection():
    """Connections to servers."""
    from clew.mcp.transport import connection

    return connection


def in_process():
    """Servers that live in the program which drives the session."""
    from clew.mcp.transport import in_process

    return in_process


def results():
    """What servers answer, as outcomes of calls."""
    from clew.mcp import results

    return results


def elicitation():
    """Forms that servers send."""
    from clew.mcp import elicitation

    return elicitation


def oauth():
    """Tokens of logins that people made."""
    from clew.mcp.login import oauth

    return oauth


def oauth_login():
    """Signing in by way of a browser."""
    from clew.mcp.login import oauth_login

    return oauth_login
