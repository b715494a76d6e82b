"""Plain words out of pasted and marked-up text. Nothing inside a word is ever changed."""

import re
import unicodedata

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LEAD = re.compile(r"^\s*(?:#+(?=\s)|[>•●◦▪✅☑✔❌⚠️🔴🟡🔵🎉🚀→❯]+|[*+-](?=\s)|\d{1,2}[.)](?=\s)|\[[ xX]\]|\s)+")
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_BOLD = re.compile(r"(?<![^\s(])\*\*(?=\S)(.+?)(?<=\S)\*\*(?=[\s.,:;!?)，。：]|$)")
_SPLIT = re.compile(r"(?<=[.!?])(?<!\b\d\.)(?<!e\.g\.)(?<!i\.e\.)[\"')\]*]*\s+|(?<=[。！？；])|\n+")
_CODE = re.compile(r"`[^`\n]*`")
_MASK = re.compile("\ue000(\\d+)\ue001")
_WORDLIKE = re.compile(r"[\"'“‘«(\[<*_]*[^\W\d_][\w.'’/&-]*[\"'”’»)\].,:;!?…>*_。，！？：；、]*")


_ENDLESS = 200
"""No word or name is that long: left out rather than cut."""


def prose(text: str) -> str:
    """The text without fenced blocks, tables, quoted lines, and lines of code or logs; all of it when that leaves
    nothing."""
    bare = _FENCE.sub("\n", text) if "```" in text else text
    lines = [line for line in bare.split("\n") if not line.lstrip().startswith(("|", ">", "+++", "---", "@@"))]
    spoken = [line for line in lines if _is_spoken(line)]
    return "\n".join(spoken or lines) if any(map(str.strip, spoken or lines)) else text.replace("```", "\n")


def _is_spoken(line: str) -> bool:
    """Most of what stands in the line are words and names."""
    words = _CODE.sub("code", _LEAD.sub("", line)).split()
    pieces = [word for word in words if not word.rstrip(".,:;)").isdigit() and word not in "–—&+-"]
    return bool(pieces) and sum(_WORDLIKE.fullmatch(piece) is not None for piece in pieces) >= len(pieces) * 0.7


def flat(text: str) -> str:
    """One line without list marks, bold and link targets; words stay as they are."""
    text = _LEAD.sub("", text)
    if "](" in text or "**" in text:
        pieces = re.split(r"(`[^`]*`)", text)
        text = "".join(p if p.startswith("`") else _BOLD.sub(r"\1", _LINK.sub(r"\1", p)) for p in pieces)
    words = text.split()
    return " ".join(word if len(word) <= _ENDLESS else "…" for word in words)


def sentences(text: str, *, limit: int = 60) -> list[str]:
    """The sentences of some prose, flattened, at most `limit` of them."""
    spans: list[str] = []

    def kept(found: re.Match[str]) -> str:
        spans.append(found.group(0))
        return f"\ue000{len(spans) - 1}\ue001"

    masked = _CODE.sub(kept, prose(text)[: limit * 1000].replace("\ue000", ""))  # code is one word, whatever it holds
    pieces = (_MASK.sub(lambda found: spans[int(found.group(1))], flat(piece)) for piece in _SPLIT.split(masked))
    return [piece for piece in pieces if any(map(str.isalnum, piece))][:limit]


def is_wide(char: str) -> bool:
    """Characters of scripts that are written without spaces between words."""
    return "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\U00020000" <= char <= "\U0002fa1f"


def word_cost(text: str) -> int:
    """Length in words, where two Chinese or Japanese characters weigh as one word."""
    wide = 0 if text.isascii() else sum(map(is_wide, text))
    rest = text if not wide else "".join(" " if is_wide(char) else char for char in text)
    return len([word for word in rest.split() if any(map(str.isalnum, word))]) + (wide + 1) // 2


def clip(text: str, words: int) -> str:
    """At most this many words, cut between words and never inside code; a cut is told by an ellipsis of its own."""
    if word_cost(text) <= words:
        return text
    kept: list[str] = []
    cost = 0.0
    for piece in _pieces(text):
        cost += word_cost(piece) if not piece.isspace() and not (len(piece) == 1 and is_wide(piece)) else 0
        cost += 0.5 if len(piece) == 1 and is_wide(piece) else 0
        if cost > words and kept:
            break
        kept.append(piece)
    return "".join(kept).rstrip(" ,;:-–—(，、；：") + " …"


def _pieces(text: str) -> list[str]:
    """Code spans, words, spaces and single wide characters, in order."""
    found: list[str] = []
    for part in re.split(r"(`[^`]{1,200}`\S*|\s+)", text):
        if part and not part.isascii() and "`" not in part and any(map(is_wide, part)):
            found.extend(re.findall(r"[!-~]+|.", part))
        elif part:
            found.append(part)
    return found


def same_words(one: str, other: str) -> bool:
    """Whether one text is in the other, marks and case aside."""
    first, second = (
        "".join(char for char in unicodedata.normalize("NFC", text).casefold() if char.isalnum())
        for text in (one, other)
    )
    return first in second or second in first
