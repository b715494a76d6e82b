"""Text files as bytes: which encoding, which newlines, and back again without losing either."""

import codecs
from typing import Any, NamedTuple, cast

SNIFF_BYTES = 65_536
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Encoding(NamedTuple):
    """How to read a text file and write it back: `bom` stands before the first character."""

    name: str
    bom: bytes = b""

    @property
    def label(self) -> str:
        """For people and models."""
        return self.name.upper() + (" with BOM" if self.bom and self.name == "utf-8" else "")


UTF8 = Encoding("utf-8")


def sniff(head: bytes, *, whole: bool) -> Encoding | None:
    """The encoding of a file from its first bytes; None when they are no text."""
    for bom, name in BOMS:
        if head.startswith(bom):
            return Encoding(name, bom)
    if b"\0" in head:
        return utf16_without_bom(head)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, whole)
    except UnicodeDecodeError:
        return Encoding("latin-1") if mostly_printable(head) else None
    return UTF8 if mostly_printable(head) else None


def utf16_without_bom(head: bytes) -> Encoding | None:
    """ASCII-heavy UTF-16 has a zero in every second byte, on one side only."""
    if len(head) < 4:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > 0.7 * half and even == 0:
        return Encoding("utf-16-le")
    if even > 0.7 * half and odd == 0:
        return Encoding("utf-16-be")
    return None


def mostly_printable(head: bytes) -> bool:
    """Control bytes other than white space, escape and form feed are rare in text."""
    odd = sum(head.count(byte) for byte in (*range(0, 7), *range(14, 27), 28, 29, 30, 31, 127))
    return odd * 50 <= len(head)


def decode(data: bytes) -> tuple[str, Encoding] | None:
    """The whole file as text with its newlines untouched; None when it is no text. Decoding then encoding is exact."""
    encoding = sniff(data[:SNIFF_BYTES], whole=len(data) <= SNIFF_BYTES)
    if encoding is None:
        return None
    body = data[len(encoding.bom) :]
    try:
        return body.decode(encoding.name), encoding
    except UnicodeDecodeError:
        if encoding.name != "utf-8" or b"\0" in data:
            return None
    return data.decode("latin-1"), Encoding("latin-1")


def encode(text: str, encoding: Encoding) -> bytes:
    """Bytes for the disk. Raises UnicodeEncodeError when the file's encoding cannot hold the text."""
    return encoding.bom + text.encode(encoding.name)


def dominant_newline(text: str) -> str:
    """What a new line in this text should end with."""
    crlf = text.count("\r\n")
    lone_lf = text.count("\n") - crlf
    lone_cr = text.count("\r") - crlf
    if crlf > lone_lf and crlf >= lone_cr:
        return "\r\n"
    return "\r" if lone_cr > lone_lf else "\n"


def without_surrogates(value: Any) -> Any:
    """Plain data whose strings can be written as UTF-8: lone surrogates become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value)
        return {without_surrogates(key): without_surrogates(item) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in cast("list[Any]", value)]
    return value
