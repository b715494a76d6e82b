"""Bash's `$((...))` where it holds nothing but numbers: what it comes to."""

import re

ARITHMETIC = re.compile(r"\(\(([0-9+\-*/% ()]{1,100})\)\)")
"""Numbers, signs and brackets; a name in it could be a variable, and its value a command."""
_TOKEN = re.compile(r"\s*(\d+|[-+*/%()])")
_MOST = 1 << 31


class _Sum:
    """Reads one expression from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        if "".join(self._tokens) != re.sub(r"\s", "", text) or re.search(r"\d\s+\d|\*\*|\+\+|--", text):
            raise ValueError(text)

    def whole(self) -> int:
        found = self._added()
        if self._at != len(self._tokens):
            raise ValueError(self._tokens)
        return found

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _added(self) -> int:
        found = self._multiplied()
        while (sign := self._next()) in ("+", "-"):
            self._at += 1
            other = self._multiplied()
            found = found + other if sign == "+" else found - other
        return found

    def _multiplied(self) -> int:
        found = self._one()
        while (sign := self._next()) in ("*", "/", "%"):
            self._at += 1
            other = self._one()
            if sign == "*":
                found *= other
            else:
                # Bash cuts off towards zero, and refuses to divide by it.
                whole = abs(found) // abs(other) * (1 if (found < 0) == (other < 0) else -1)
                found = whole if sign == "/" else found - whole * other
            if abs(found) > _MOST:
                raise ValueError(found)
        return found

    def _one(self) -> int:
        token = self._next()
        self._at += 1
        if token == "-":
            return -self._one()
        if token == "+":
            return self._one()
        if token == "(":
            found = self._added()
            if self._next() != ")":
                raise ValueError(token)
            self._at += 1
            return found
        if not token.isdigit() or (len(token) > 1 and token.startswith("0")) or len(token) > 9:
            raise ValueError(token)  # a leading zero makes it octal
        return int(token)


def evaluated(text: str) -> str | None:
    """The number that an expression of plain numbers comes to; None where it is not one."""
    try:
        return str(_Sum(text).whole())
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
