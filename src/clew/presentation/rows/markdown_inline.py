"""Words of Markdown within a line as styled spans: emphasis, code, links. A model wrote them, so they are made safe."""

import re
from collections.abc import Iterator

from markdown_it.token import Token

from clew.presentation.rows.spans import Span, plain
from clew.text.terminal_text import sanitize

LINKABLE = ("http://", "https://", "mailto:", "file://")
ADDRESS = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]]")
_INLINE = {"strong": "bold", "em": "italic", "s": "strike"}


def inline(token: Token, style: str = "") -> list[Span]:
    """Words with their emphasis. A link whose words are not its target tells the target too."""
    spans: list[Span] = []
    styles = [style] if style else []
    link, words_from = "", 0
    for child in token.children or ():
        name = child.type.removesuffix("_open").removesuffix("_close")
        if name in _INLINE:
            if child.nesting > 0:
                styles.append(_INLINE[name])
            elif _INLINE[name] in styles:
                styles.remove(_INLINE[name])
        elif child.type == "link_open":
            link, words_from = sanitize(str(child.attrs.get("href", "")), one_line=True), len(spans)
            styles.append("link")
        elif child.type == "link_close":
            if "link" in styles:
                styles.remove("link")
            if plain(spans[words_from:]) != link and link:
                spans.append(Span(f" ({link})", " ".join([*styles, "dim"]), _linkable(link)))
            link = ""
        elif child.type == "image":
            alt = sanitize(child.content, one_line=True)
            source = sanitize(str(child.attrs.get("src", "")), one_line=True)
            spans.append(Span(f"[image: {alt or source}]", " ".join([*styles, "dim"])))
        elif child.type in ("softbreak", "hardbreak"):
            spans.append(Span("\n" if child.type == "hardbreak" else " "))
        elif child.type == "code_inline":
            spans.append(Span(child.content, " ".join([*styles, "inline-code"]), _linkable(link)))
        elif child.content:
            spans += _words(child.content, styles, _linkable(link))
    return spans


def _words(text: str, styles: list[str], link: str) -> Iterator[Span]:
    """Words, with the addresses in them marked as the links they are."""
    style = " ".join(styles)
    if link or "://" not in text:
        yield Span(text, style, link)
        return
    at = 0
    for found in ADDRESS.finditer(text):
        if found.start() > at:
            yield Span(text[at : found.start()], style)
        yield Span(found.group(), f"{style} link".strip(), _linkable(found.group()))
        at = found.end()
    if at < len(text):
        yield Span(text[at:], style)


def _linkable(target: str) -> str:
    return target if target.startswith(LINKABLE) and target.isprintable() and " " not in target else ""
