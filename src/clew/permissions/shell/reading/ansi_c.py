"""Bash's $'...' strings."""

import re

_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CODE = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)", re.DOTALL)


def decode_ansi_c(text: str, at: int) -> tuple[str, int]:
    """The decoded string whose body starts at `at`, and where reading goes on after the closing quote."""
    out: list[str] = []
    size = len(text)
    while at < size and text[at] != "'":
        char = text[at]
        if char != "\\" or at + 1 >= size:
            out.append(char)
            at += 1
            continue
        code = _CODE.match(text, at + 1)
        if code:
            out.append(_decode(code))
            at = code.end()
        else:
            out.append(_SIMPLE.get(text[at + 1], text[at + 1]))
            at += 2
    return "".join(out), min(at + 1, size)


def _decode(code: re.Match[str]) -> str:
    if code[5]:
        return chr(ord(code[5][0]) & 0x1F)
    number = int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
