"""The registry of parts that load on first use: what most sessions never need, or need only after the first request."""


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


def sandbox_policy():
    """What holds commands."""
    from clew.system.sandbox import policy

    return policy


def sandbox_status():
    """The self-test of the sandbox."""
    from clew.system.sandbox import status

    return status


def search_worker():
    """The searcher for machines without ripgrep (pathspec)."""
    from clew.tools.search import worker as search_worker

    return search_worker


def web():
    """HTTP and HTML."""
    from clew.tools.documents import web_page

    return web_page


def answer_schema():
    """Checking values against a JSON schema (jsonschema-rs)."""
    from clew.tools.schemas import answer_schema

    return answer_schema


def ranking():
    """Searching among tools and skills."""
    from clew.tools.deferred import ranking

    return ranking
