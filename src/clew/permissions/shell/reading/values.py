"""Words as the deny side reads them: braces, variables and tildes filled in where they can be known."""

import re
from typing import NamedTuple

from clew.permissions.shell.reading.braces import expand_braces
from clew.permissions.shell.reading.glob import bash_match
from clew.permissions.shell.reading.words import Word

MAX_VALUE = 4096
_MAX_CHOICES = 32
_DEFAULT = re.compile(r"(\w+)(:?[-=])(.*)", re.DOTALL)
_EDITED = re.compile(r"(\w+)(##?|%%?|//?|\^\^?|,,?|:?[?+]|:)(.*)", re.DOTALL)
_POSITIONAL = frozenset("123456789@*")
_SLICE = re.compile(r"\s*(-?\d{1,4})\s*(?::\s*(-?\d{1,4})\s*)?")


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

    def bind(self, name: str, values: list[Value], *, certain: bool = True) -> None:
        """Several values: one of them, at some time. A part that is unknown forgets the name."""
        if not certain:
            values = [*values, *self._values.get(name, ())]
        fits = len(values) <= _MAX_CHOICES and all(value.known and len(value.text) <= MAX_VALUE for value in values)
        if fits:
            self._values[name] = values
        else:
            self.forget(name)

    def bind_arguments(self, values: tuple[Value, ...]) -> None:
        """The positional parameters: each by its number, and all of them; any of them may be at any place."""
        if not values:
            return
        self.bind("@", list(values))
        self.bind("*", list(values))
        for number in range(min(len(values), 9) + 1):
            self.bind(str(number), list(values))

    def forget(self, name: str) -> None:
        """Something wrote to it that cannot be known."""
        self._values[name] = []

    def text_of(self, name: str, cwd: str | None) -> str:
        """The first value of a variable, or nothing."""
        return next((value.text for value in self._value(name, cwd)), "")

    def expand(self, word: Word, cwd: str | None) -> list[Value]:
        """The arguments a word may become. An over-estimate: every possible value of a variable appears."""
        if len(word.pieces) == 1 and word.pieces[0].kind == "quoted":
            return [Value(word.pieces[0].text)]
        return [value for choice in self.choices(word, cwd) for value in choice]

    def choices(self, word: Word, cwd: str | None) -> list[list[Value]]:
        """The same, apart for each value that a variable may have: only one of them is there at a time."""
        words = expand_braces(word)
        if words is None:
            return [[Value(word.text[:MAX_VALUE], known=False)]]
        if len(words) == 1:
            return self._one(words[0], cwd)
        return [[value for one in words for choice in self._one(one, cwd) for value in choice]]

    def _one(self, word: Word, cwd: str | None) -> list[list[Value]]:
        if word.known:
            text = word.text
            if word.tilde:
                text, known = self._tilde(text, cwd)
                return [[Value(text, known, word.globs)]]
            return [[Value(text, True, word.globs)]]
        texts = [""]
        known = True
        splits = False
        empty = True
        globs = word.globs
        for at, piece in enumerate(word.pieces):
            if at == 0 and word.tilde:
                text, known = self._tilde(piece.text, cwd)
                choices = [text]
            elif piece.kind in ("bare", "quoted"):
                choices = [piece.text]
            elif piece.kind == "var":
                found = self._lookup(piece.text, cwd)
                splits = splits or not word.raw.startswith('"')
                known = known and bool(found)
                empty = empty and (bool(found) or piece.text in _POSITIONAL)
                globs = globs or any(value.globs for value in found)
                choices = [value.text for value in found] or [""]
            else:
                known = empty = False
                choices = [""]
            texts = [text + choice for text in texts for choice in choices][:_MAX_CHOICES]
            if len(texts[0]) > MAX_VALUE:
                return [[Value(texts[0][:MAX_VALUE], known=False)]]
        globs = globs or (splits and any("*" in text for text in texts))
        parts = [one or [text] for text in texts for one in (self._fields(text) if splits and known else [[text]])]
        out = [[Value(part, known, globs) for part in one] for one in parts]
        if not known and empty:
            # Nothing is given to the text, so `$9` is most likely nothing: then this is what the word comes to.
            apart = [one for text in texts for one in (self._fields(text) if splits else [[text]])]
            out += [[Value(part, True, globs) for part in one] for one in apart if one]
        return out

    def _fields(self, text: str) -> list[list[str]]:
        """What an unquoted value falls apart into: by blanks, and by what the text may have made of IFS."""
        found = [text.split()]
        for value in self._values.get("IFS", ())[:4]:
            apart = text
            for separator in value.text[:8]:
                apart = apart.replace(separator, " ")
            if apart.split() not in found:
                found.append(apart.split())
        return found

    def _lookup(self, name: str, cwd: str | None) -> list[Value]:
        """The values; for `${name:-default}` the default where the name is not set here; edited as it says."""
        if with_default := _DEFAULT.fullmatch(name):
            values = self._value(with_default[1], cwd)
            found = [value for value in values if value.text or not with_default[2].startswith(":")]
            return [*found, *([Value(with_default[3])] if len(found) < len(values) or not values else ())]
        if edited := _EDITED.fullmatch(name):
            found = [_edited(value, edited[2], edited[3]) for value in self._value(edited[1], cwd)]
            return [value for value in found if value is not None] if None not in found else []
        return self._value(name, cwd)

    def _value(self, name: str, cwd: str | None) -> list[Value]:
        if name == "IFS":
            return [Value(" ")]
        if name in self._values:
            return self._values[name]
        if name in ("$", "BASHPID"):
            return [Value("self")]  # the shell's own process, as /proc calls it
        if name == "HOME":
            return [Value(self._home)]
        if name == "PWD" and cwd is not None:
            return [Value(cwd)]
        if name in ("USER", "LOGNAME"):
            return [Value(self._home.rsplit("/", 1)[-1])]
        return []

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


def _edited(value: Value, operator: str, rest: str) -> Value | None:
    """`${x%pattern}` and its like, for short values; None where it cannot be told."""
    text = value.text
    if len(text) > 256 or len(rest) > 64:
        return None
    match operator:
        case "^" | "^^" | "," | ",,":
            if rest:
                return None
            changed = text.upper() if operator[0] == "^" else text.lower()
            return value._replace(text=changed if len(operator) == 2 else changed[:1] + text[1:])
        case "?" | ":?":
            return value
        case "+" | ":+":
            return Value(rest)
        case ":":
            found = _SLICE.fullmatch(rest)
            if found is None:
                return None
            start = int(found[1])
            end = None if found[2] is None else int(found[2])
            tail = text[start:] if start >= 0 or rest.startswith(" ") else text
            return value._replace(text=tail if end is None else tail[:end])
        case "/" | "//":
            old, _, new = rest.partition("/")
            if not old or re.search(r"[*?\[#%]", old):
                return None
            return value._replace(text=text.replace(old, new, -1 if operator == "//" else 1))
        case _:
            return value._replace(text=_trimmed(text, operator, rest))


def _trimmed(text: str, operator: str, pattern: str) -> str:
    """Cut off a prefix (`#`) or suffix (`%`) that the pattern takes: the shortest, with a doubled sign the longest."""
    sizes = range(len(text) + 1) if len(operator) == 1 else range(len(text), -1, -1)
    for size in sizes:
        part = text[:size] if operator[0] == "#" else text[len(text) - size :]
        if bash_match(part, pattern):
            return text[size:] if operator[0] == "#" else text[: len(text) - size]
    return text
