"""Web pages as text a model can read: headings, lists, links, code and tables, without the furniture.

Run as a process of its own (`html_text BASE`): some pages keep the parser busy for hours.
"""

import re
import sys
from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import urljoin

SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "canvas", "form", "nav", "footer"})
BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "aside", "table", "tr", "ul", "ol", "dl", "dt", "dd"}
    | {"blockquote", "figure", "figcaption", "hr", "details", "summary", "address", "fieldset"}
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
MAX_DEPTH = 400


class Converter(HTMLParser):
    """Collects readable text. Unclosed and misnested tags do no harm: only counters depend on them."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = base
        self.title = ""
        self.parts: list[str] = []
        self._skip: list[str] = []
        self._pre = 0
        self._lists: list[int] = []
        self._link: tuple[str, int] | None = None
        """Address of the open link and where its words begin; links do not nest."""
        self._in_title = False

    def parse_html_declaration(self, i: int) -> int:
        """The standard takes a declaration it does not know for a comment; older parsers give up on it."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skip:
            if tag == self._skip[-1] and len(self._skip) < MAX_DEPTH:
                self._skip.append(tag)
            return
        if tag in SKIPPED:
            self._skip.append(tag)
        elif tag == "title":
            self._in_title = True
        elif tag in HEADINGS:
            self.parts.append("\n\n" + HEADINGS[tag])
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "pre":
            self._pre += 1
            self.parts.append("\n\n```\n")
        elif tag == "li":
            self._item()
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            self._end_link()
            self._link = (dict(attrs).get("href") or "", len(self.parts))
        elif tag == "code" and not self._pre:
            self.parts.append("`")
        else:
            self._block(tag)

    def _block(self, tag: str) -> None:
        if tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else -1)
        if tag in BLOCKS:
            self.parts.append("\n" if tag in ("tr", "li", "dt", "dd") else "\n\n")

    def _item(self) -> None:
        depth = max(len(self._lists) - 1, 0)
        mark = "- "
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}. "
        self.parts.append("\n" + "  " * min(depth, 10) + mark)

    def handle_endtag(self, tag: str) -> None:
        if self._skip:
            if tag == self._skip[-1]:
                self._skip.pop()
            return
        if tag == "title":
            self._in_title = False
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self.parts.append("\n```\n\n")
        elif tag == "code" and not self._pre:
            self.parts.append("`")
        elif tag == "a":
            self._end_link()
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self.parts.append("\n")
        elif tag in HEADINGS or tag in BLOCKS:
            self.parts.append("\n\n" if tag != "tr" else "")

    def _end_link(self) -> None:
        if self._link is None:
            return
        (href, start), self._link = self._link, None
        text = "".join(self.parts[start:]).strip()
        if text and href and not href.startswith(("#", "javascript:", "data:")) and "\n" not in text:
            with suppress(ValueError):  # an address that is none: the words stay
                self.parts[start:] = [f"[{text}]({urljoin(self.base, href)})"]

    def handle_data(self, data: str) -> None:
        if self._in_title and not self._skip:
            self.title += data
        elif not self._skip:
            self.parts.append(data if self._pre else re.sub(r"\s+", " ", data))


def to_text(html: str, base: str = "") -> str:
    """The readable text of a page, its title first."""
    converter = Converter(base)
    converter.feed(html)
    converter.close()
    lines = [line.rstrip() for line in "".join(converter.parts).split("\n")]
    text, fenced = "", False
    for line in lines:
        fenced ^= line == "```"
        text += (line if fenced else re.sub(r"(?<=\S) {2,}", " ", line)) + "\n"
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    title = " ".join(converter.title.split())
    return f"# {title}\n\n{text}".strip() if title and not text.startswith(f"# {title}") else text


def main() -> int:
    """The page on stdin as text on stdout."""
    html = sys.stdin.buffer.read().decode(errors="replace")
    sys.stdout.buffer.write(to_text(html, sys.argv[1]).encode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
