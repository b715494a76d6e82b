"""The registry of parts that load on first use: what most sessions never need, or need only after the first request."""


def read_forms():
    """Images, PDF, notebooks."""
    from clew.tools import read_forms

    return read_forms


def text_diff():
    """Diffs and nearest names (difflib)."""
    from clew.tools import text_diff

    return text_diff


def shells():
    """Shell processes (process starter, sandbox)."""
    from clew.tools import shells

    return shells


def process():
    """Starting and ending processes."""
    from clew.system import process

    return process


def sandbox_status():
    """The self-test of the sandbox."""
    from clew.system.sandbox import status

    return status


def search():
    """Grep and Glob engines."""
    from clew.tools import search

    return search


def search_worker():
    """The searcher for machines without ripgrep (pathspec)."""
    from clew.tools import search_worker

    return search_worker


def web():
    """HTTP and HTML."""
    from clew.tools import web_page

    return web_page


def answer_schema():
    """Checking values against a JSON schema (jsonschema-rs)."""
    from clew.tools import answer_schema

    return answer_schema


def ranking():
    """Searching among tools and skills."""
    from clew.tools import ranking

    return ranking
