"""A fetched answer as text a model can read."""

import re

from clew.system.http_fetch import Fetched, Fetcher, FetchRefused
from clew.tools.documents.worker import run_worker

__all__ = ["FetchRefused", "Fetched", "Fetcher", "page_text"]

CHARSET = re.compile(r"charset=[\"']?([\w.-]+)", re.IGNORECASE)
HTML = ("text/html", "application/xhtml+xml")
READING_S = 10.0


async def page_text(fetched: Fetched) -> str | None:
    """The response as text; None when it is none. Raises FetchRefused for a page that cannot be read in time."""
    kind = fetched.content_type.partition(";")[0].strip().lower()
    textual = kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml", "x-sh")) or not kind
    if not textual or b"\0" in fetched.body[:4_000]:
        return None
    named = CHARSET.search(fetched.content_type) or CHARSET.search(fetched.body[:2_000].decode("latin-1"))
    try:
        text = fetched.body.decode(named.group(1) if named else "utf-8", errors="replace")
    except (LookupError, UnicodeError):  # no such encoding, or one that is not made for pages
        text = fetched.body.decode(errors="replace")
    return await readable(text, fetched.url) if kind in HTML else text


async def readable(html: str, url: str) -> str:
    """The words of a page."""
    try:
        words = await run_worker(
            "clew.tools.documents.html_text", url, given=html.encode(errors="replace"), timeout_s=READING_S
        )
    except TimeoutError:
        raise FetchRefused(f"its HTML could not be read within {READING_S:g} s") from None
    if words is None:
        raise FetchRefused("its HTML could not be read")
    return words.decode()
