"""Which key does what where: defaults as data, the user's changes from `keys.json`, and the list that /keys shows."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.composing.default_keys import ACTIONS, DEFAULTS, KEY_NAMES, MODIFIERS

FILE_NAME = "keys.json"
UNBOUND = "none"
MAX_FILE_BYTES = 200_000
MAX_STROKES = 3


class KeymapError(Exception):
    """`keys.json` cannot be used; says which file, which key and why."""


class KeyRow(Struct, frozen=True, kw_only=True):
    """One line of the list of keys."""

    context: str
    action: str
    summary: str
    keys: tuple[str, ...]
    changed: bool = False
    """By the user."""


class Keymap:
    """Actions by context and key. A key may be several strokes: `ctrl+x ctrl+e`."""

    def __init__(self, changes: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._tables: dict[str, dict[tuple[str, ...], str]] = {
            context: {strokes_of(key): action for key, action in keys.items()} for context, keys in DEFAULTS.items()
        }
        self._changed: set[tuple[str, str]] = set()
        for context, keys in (changes or {}).items():
            for key, action in keys.items():
                self._change(context, strokes_of(key), action)

    def _change(self, context: str, strokes: tuple[str, ...], action: str) -> None:
        table = self._tables[context]
        before = table.pop(strokes, None)
        if before is not None:
            self._changed.add((context, before))
        if action != UNBOUND:
            table[strokes] = action
            self._changed.add((context, action))

    def action(self, contexts: Sequence[str], strokes: tuple[str, ...]) -> str | None:
        """What these strokes do in the first of the contexts that knows them."""
        return next((found for context in contexts if (found := self._tables[context].get(strokes))), None)

    def begins(self, contexts: Sequence[str], strokes: tuple[str, ...]) -> bool:
        """Whether more strokes could make an action of these."""
        count = len(strokes)
        return any(
            len(known) > count and known[:count] == strokes for context in contexts for known in self._tables[context]
        )

    def keys_for(self, context: str, action: str) -> tuple[str, ...]:
        """The keys of an action, as people read them."""
        return tuple(shown(strokes) for strokes, known in self._tables[context].items() if known == action)

    def rows(self) -> Iterator[KeyRow]:
        """Every action there is with its keys, in the order of the defaults; also those without a key."""
        for context, actions in ACTIONS.items():
            for action, summary in actions.items():
                yield KeyRow(
                    context=context,
                    action=action,
                    summary=summary,
                    keys=self.keys_for(context, action),
                    changed=(context, action) in self._changed,
                )


def key_lines(keymap: Keymap) -> tuple[str, ...]:
    """The list that /keys shows: each context, then its actions with their keys."""
    lines: list[str] = []
    context = ""
    for row in keymap.rows():
        if row.context != context:
            context = row.context
            lines.append(f"{context.capitalize()}:")
        keys = ", ".join(row.keys) or "no key"
        lines.append(f"  {keys} - {row.summary} ({row.action}{', yours' if row.changed else ''})")
    return (*lines, f'Change them in {FILE_NAME} of CLEW_HOME, as {{"prompt": {{"ctrl+s": "send"}}}}.')


def load_keymap(home: Path) -> Keymap:
    """The defaults with the changes of `$CLEW_HOME/keys.json`, if there is one. KeymapError names file and key."""
    path = home / FILE_NAME
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return Keymap()
    except OSError as error:
        raise KeymapError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise KeymapError(f"{path}: is larger than {MAX_FILE_BYTES:,} bytes")
    try:
        tree: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise KeymapError(f"{path}: is not JSON: {error}") from error
    return Keymap(_checked(path, tree))


def _checked(path: Path, tree: Any) -> dict[str, dict[str, str]]:
    try:
        contexts = msgspec.convert(tree, dict[str, dict[str, str]])
    except msgspec.ValidationError as error:
        wanted = '{"context": {"key": "action"}}'
        raise KeymapError(f"{path}: must have the form {wanted}: {error}") from error
    for context, keys in contexts.items():
        if context not in ACTIONS:
            raise KeymapError(f'{path}: there is no context "{context}"; there are {", ".join(ACTIONS)}')
        for key, action in keys.items():
            problem = key_problem(key)
            if problem:
                raise KeymapError(f'{path}: key "{key}" in "{context}": {problem}')
            if action != UNBOUND and action not in ACTIONS[context]:
                known = ", ".join(ACTIONS[context])
                raise KeymapError(
                    f'{path}: key "{key}" in "{context}": there is no action "{action}"; there are {known}'
                )
    return contexts


def key_problem(key: str) -> str:
    """Why this is no key; empty when it is one."""
    strokes = key.split()
    if not strokes:
        return "it is empty"
    if len(strokes) > MAX_STROKES:
        return f"at most {MAX_STROKES} strokes"
    for stroke in strokes:
        *modifiers, name = _parts(stroke)
        unknown = [modifier for modifier in modifiers if modifier not in MODIFIERS]
        if unknown:
            return f'"{unknown[0]}" is no modifier; there are {", ".join(MODIFIERS)}'
        if len(name) != 1 and name not in KEY_NAMES:
            return f'there is no key "{name}"'
    first = _parts(strokes[0])
    if len(first) == 1 and len(first[0]) == 1 and len(strokes) > 1:
        return "a plain character cannot begin a sequence: it could not be typed any more"
    return ""


def strokes_of(key: str) -> tuple[str, ...]:
    """A key as written, in the form that keys arrive in: modifiers in order, names in lower case."""
    strokes: list[str] = []
    for stroke in key.split():
        *modifiers, name = _parts(stroke)
        if modifiers and len(name) == 1 and name.isupper():
            # Terminals tell Alt with a capital as Alt-Shift; with Ctrl they do not tell capitals at all.
            modifiers = modifiers if "ctrl" in modifiers else [*modifiers, "shift"]
            name = name.lower()
        strokes.append("+".join((*sorted(set(modifiers)), _CHARACTERS.get(name, name))))
    return tuple(strokes)


def _parts(stroke: str) -> list[str]:
    """`ctrl+x` into its parts; a plus sign is `+` or ends the stroke: `ctrl++`."""
    if stroke == "+":
        return ["+"]
    if stroke.endswith("++"):
        return [*stroke[:-2].lower().split("+"), "+"]
    *modifiers, name = stroke.split("+")
    return [*(modifier.lower() for modifier in modifiers), name if len(name) == 1 else name.lower()]


def shown(strokes: tuple[str, ...]) -> str:
    """Strokes as people read them: `Ctrl-X Ctrl-E`, `Alt-Enter`."""
    return " ".join("-".join(map(_shown_part, stroke.split("+"))) if len(stroke) > 1 else stroke for stroke in strokes)


def _shown_part(part: str) -> str:
    """A letter alone is told as it is typed, `n` or `N`; behind a modifier it is a capital, as on the key."""
    plain = _NAMES.get(part, part)
    return plain if plain != part else plain.upper() if len(plain) == 1 else plain.capitalize()


_CHARACTERS = {
    "/": "slash",
    "?": "question_mark",
    "_": "underscore",
    "-": "minus",
    "+": "plus",
    ".": "full_stop",
    ",": "comma",
    ":": "colon",
    ";": "semicolon",
    "#": "number_sign",
    "!": "exclamation_mark",
    "@": "at",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "\\": "backslash",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "=": "equals_sign",
    "*": "asterisk",
    "$": "dollar_sign",
    "%": "percent_sign",
    "&": "ampersand",
    "^": "circumflex_accent",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    "|": "vertical_line",
    "~": "tilde",
    "'": "apostrophe",
    '"': "quotation_mark",
    "`": "grave_accent",
}
_NAMES = {name: char for char, name in _CHARACTERS.items()} | {"pageup": "PageUp", "pagedown": "PageDown"}
