"""Words as the deny side reads them: variables and tildes filled in where they can be known."""

import re
from typing import NamedTuple

from clew.permissions.shell.words import Word, expand_braces

_DEFAULT = re.compile(r"(\w+)(:?[-=])(.*)", re.DOTALL)


class Value(NamedTuple):
    """One argument. Where `known` is false, `text` is only the part that could be read."""

    text: str
    known: bool = True
    globs: bool = False


class Variables:
    """What assignments in the text itself tell about its variables."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._values: dict[str, list[Value]] = {}

    def bind(self, name: str, values: list[Value]) -> None:
        """Several values: one of them, at some time. A part that is unknown forgets the name."""
        if all(value.known for value in values) and len(values) <= 32:
            self._values[name] = values
        else:
            self._values.pop(name, None)

    def expand(self, word: Word, cwd: str | None) -> list[Value]:
        """The arguments a word may become. An over-estimate: every possible value of a variable appears."""
        words = expand_braces(word) or (word,)
        return [value for one in words for value in self._one(one, cwd)]

    def _one(self, word: Word, cwd: str | None) -> list[Value]:
        if word.known:
            text = word.text
            if word.tilde:
                text, known = self._tilde(text, cwd)
                return [Value(text, known, word.globs)]
            return [Value(text, not word.braces, word.globs)]
        texts = [""]
        known = True
        splits = False
        globs = word.globs
        for piece in word.pieces:
            if piece.kind in ("bare", "quoted"):
                choices = [piece.text]
            elif piece.kind == "var":
                found = self._lookup(piece.text, cwd)
                splits = splits or not word.raw.startswith('"')
                known = known and found is not None
                globs = globs or any(value.globs for value in found or ())
                choices = [value.text for value in found or ()] or [""]
            else:
                known, choices = False, [""]
            texts = [text + choice for text in texts for choice in choices][:64]
        if splits and known:
            texts = [part for text in texts for part in text.split()] or texts[:1]
        globs = globs or (splits and any("*" in text for text in texts))
        return [Value(text, known, globs) for text in texts]

    def _lookup(self, name: str, cwd: str | None) -> list[Value] | None:
        """The value, or for `${name:-default}` the default where the name is not set here."""
        with_default = _DEFAULT.fullmatch(name)
        if with_default is None:
            return self._value(name, cwd)
        return self._value(with_default[1], cwd) or [Value(with_default[3])]

    def _value(self, name: str, cwd: str | None) -> list[Value] | None:
        if name in self._values:
            return self._values[name]
        if name == "HOME":
            return [Value(self._home)]
        if name == "PWD" and cwd is not None:
            return [Value(cwd)]
        if name in ("USER", "LOGNAME"):
            return [Value(self._home.rsplit("/", 1)[-1])]
        return [Value(" ")] if name == "IFS" else None

    def _tilde(self, text: str, cwd: str | None) -> tuple[str, bool]:
        user, slash, rest = text[1:].partition("/")
        if not user:
            return self._home + slash + rest, True
        if user == "+" and cwd is not None:
            return cwd + slash + rest, True
        if user == "root":
            return "/root" + slash + rest, True
        if user.replace("_", "").replace("-", "").isalnum():
            return f"/home/{user}{slash}{rest}", True
        return text, False
