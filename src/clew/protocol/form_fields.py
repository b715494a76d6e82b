"""A flat JSON schema as the fields of a form: what may be typed or chosen for each, and what does not fit."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

FieldKind = Literal["text", "number", "integer", "boolean", "choice", "choices"]
Value = str | int | float | bool | list[str]
MAX_FIELDS = 40
MAX_CHOICES = 200
MAX_TEXT_CHARS = 10_000
_NUMBERS: dict[str, FieldKind] = {"number": "number", "integer": "integer"}
_YES = frozenset({"y", "yes", "true", "1"})
_NO = frozenset({"n", "no", "false", "0"})
_FORMATS = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "an e-mail address"),
    "uri": (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"), "a URI, such as https://example.org"),
    "date": (re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"), "a date like 2026-11-17"),
    "date-time": (
        re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?"),
        "a date and time like 2026-11-17T09:30:00Z",
    ),
}
_SECRET = re.compile(
    r"pass(?:word|wd|phrase|code)|secret|token|credential|api.?key|private.?key|access.?key|\bpin\b|\botp\b|\bcvv\b|"
    r"card.?number",
    re.IGNORECASE,
)


class UnusableForm(ValueError):
    """The schema is not one that a person can be shown as a form."""


class FieldChoice(Struct, frozen=True, kw_only=True):
    """One of the values that may be chosen."""

    value: str
    label: str


class FormField(Struct, frozen=True, kw_only=True):
    """One value that is asked for."""

    name: str
    kind: FieldKind
    title: str
    description: str = ""
    required: bool = False
    choices: tuple[FieldChoice, ...] = ()
    default: Value | None = None
    format: str = ""
    """One of those that are known here; what else a server calls a format means nothing."""
    least: float | None = None
    """The smallest number, the shortest text, or the fewest choices."""
    most: float | None = None

    @property
    def looks_secret(self) -> bool:
        """Whether a password or the like seems to be wanted: a form is no place for one."""
        words = f"{self.name} {self.title} {self.description}".replace("_", " ").replace("-", " ")
        return _SECRET.search(words) is not None


def fields_of(schema: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The fields in the order of the schema. Raises UnusableForm."""
    properties = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(properties, dict):
        raise UnusableForm("it is not a flat object")
    known = cast("dict[str, Any]", properties)
    if len(known) > MAX_FIELDS:
        raise UnusableForm(f"it has more than {MAX_FIELDS} fields")
    wanted = schema.get("required")
    required = cast("list[Any]", wanted) if isinstance(wanted, list) else []
    return tuple(_field(name, one, required=name in required) for name, one in known.items())


def fields_to_show(schema: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The same for a dialog. The host asks nothing that cannot be shown, but an old log may hold anything."""
    try:
        return fields_of(schema)
    except UnusableForm:
        return ()


def _field(name: str, schema: Any, *, required: bool) -> FormField:
    if not isinstance(schema, dict):
        raise UnusableForm(f"{name} has no schema")
    given = cast("dict[str, Any]", schema)
    kind, choices = _kind(name, given)
    low, high = {
        "text": ("minLength", "maxLength"),
        "choices": ("minItems", "maxItems"),
    }.get(kind, ("minimum", "maximum"))
    field = FormField(
        name=name,
        kind=kind,
        title=_text(given.get("title")) or name,
        description=_text(given.get("description")),
        required=required,
        choices=choices,
        format=name_of_format if (name_of_format := _text(given.get("format"))) in _FORMATS else "",
        least=_number(given.get(low)),
        most=_number(given.get(high)),
    )
    default = given.get("default")
    unseen = kind == "text" and isinstance(default, str) and not default.isprintable()  # it is shown to be edited
    if default is None or unseen or problem_with(field, default):
        return field
    return replace(field, default=default)


def _kind(name: str, schema: Mapping[str, Any]) -> tuple[FieldKind, tuple[FieldChoice, ...]]:
    form = schema.get("type")
    if form == "array":
        items = schema.get("items")
        choices = _choices(cast("dict[str, Any]", items)) if isinstance(items, dict) else ()
        if choices:
            return "choices", choices
    elif form == "boolean":
        return "boolean", ()
    elif isinstance(form, str) and form in _NUMBERS:
        return _NUMBERS[form], ()
    elif form == "string":
        choices = _choices(schema)
        return ("choice", choices) if choices else ("text", ())
    raise UnusableForm(f"{name} is neither text, a number, yes or no, nor a choice")


def _choices(schema: Mapping[str, Any]) -> tuple[FieldChoice, ...]:
    titled = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(titled, list):
        options = [cast("dict[str, Any]", one) for one in cast("list[Any]", titled) if isinstance(one, dict)]
        pairs = [(one.get("const"), one.get("title")) for one in options]
    else:
        values, names = _list(schema.get("enum")), _list(schema.get("enumNames"))
        pairs = [(value, names[at] if at < len(names) else None) for at, value in enumerate(values)]
    found = tuple(
        FieldChoice(value=value, label=_text(label) or value) for value, label in pairs if isinstance(value, str)
    )
    if len(found) > MAX_CHOICES:
        raise UnusableForm(f"a field has more than {MAX_CHOICES} choices")
    return found


def read_value(field: FormField, typed: str) -> Value:
    """What somebody typed for a field, as a value. Raises ValueError with words for a person."""
    typed = typed.strip()
    value: Value = typed
    match field.kind:
        case "boolean":
            if typed.casefold() not in _YES | _NO:
                raise ValueError("Answer yes or no.")
            value = typed.casefold() in _YES
        case "number" | "integer":
            try:
                value = int(typed) if field.kind == "integer" else float(typed)
            except ValueError:
                raise ValueError("A whole number." if field.kind == "integer" else "A number.") from None
        case "choice":
            value = _picked(field, [typed])[0]
        case "choices":
            value = _picked(field, typed.replace(",", " ").split())
        case _:
            pass
    problem = problem_with(field, value)
    if problem:
        raise ValueError(problem)
    return value


def _picked(field: FormField, words: Sequence[str]) -> list[str]:
    """The values that numbers, values or labels mean."""
    found: list[str] = []
    for word in words:
        if word.isascii() and word.isdecimal() and 1 <= int(word) <= len(field.choices):
            found.append(field.choices[int(word) - 1].value)
            continue
        fits = [one.value for one in field.choices if word.casefold() in (one.value.casefold(), one.label.casefold())]
        if not fits:
            raise ValueError(f"The choices have numbers 1 to {len(field.choices)}.")
        found.append(fits[0])
    return list(dict.fromkeys(found))


def problem_with(field: FormField, value: Any) -> str:
    """What is wrong with a value, in words for a person; empty: it fits."""
    match field.kind:
        case "boolean":
            return "" if isinstance(value, bool) else "Answer yes or no."
        case "number" | "integer":
            return _number_problem(field, value)
        case "choice":
            return "" if value in [one.value for one in field.choices] else "It is none of the choices."
        case "choices":
            return _choices_problem(field, value)
        case _:
            return _text_problem(field, value)


def problem_with_all(fields: Sequence[FormField], values: Mapping[str, Any]) -> str:
    """The first thing that is wrong with an answer as a whole."""
    known = {field.name: field for field in fields}
    for name in values:
        if name not in known:
            return f"{name} was not asked for"
    for field in fields:
        if field.name not in values:
            if field.required:
                return f"{field.name} is missing"
        elif problem := problem_with(field, values[field.name]):
            return f"{field.name}: {problem}"
    return ""


def _number_problem(field: FormField, value: Any) -> str:
    whole = field.kind == "integer"
    is_number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        return "A whole number." if whole else "A number."
    if field.least is not None and value < field.least:
        return f"At least {field.least:g}."
    if field.most is not None and value > field.most:
        return f"At most {field.most:g}."
    return ""


def _text_problem(field: FormField, value: Any) -> str:
    if not isinstance(value, str):
        return "Text."
    most = min(field.most if field.most is not None else MAX_TEXT_CHARS, MAX_TEXT_CHARS)
    if len(value) > most:
        return f"At most {most:g} characters."
    if field.least is not None and len(value) < field.least:
        return f"At least {field.least:g} characters."
    pattern, words = _FORMATS.get(field.format, (None, ""))
    return f"It must be {words}." if pattern is not None and pattern.fullmatch(value) is None else ""


def _choices_problem(field: FormField, value: Any) -> str:
    known = [one.value for one in field.choices]
    if not isinstance(value, list) or any(one not in known for one in cast("list[Any]", value)):
        return "It is none of the choices."
    count = len(cast("list[Any]", value))
    if field.least is not None and count < field.least:
        return f"Choose at least {field.least:g}."
    if field.most is not None and count > field.most:
        return f"Choose at most {field.most:g}."
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
