"""The registry of what only builtin tools use, and load on first use."""


def read_forms():
    """Images, PDF, notebooks."""
    from clew.tools.documents import forms as read_forms

    return read_forms


def search():
    """Grep and Glob engines."""
    from clew.tools.search import running as search

    return search


def finding():
    """The search among deferred tools."""
    from clew.tools.deferred import finding

    return finding
