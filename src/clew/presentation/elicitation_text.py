"""What a person must know to answer a server: who asks, in whose words, for which values, and where care is due."""

from clew.protocol.events import ElicitationRequested
from clew.protocol.form_fields import FieldChoice, FormField, Value
from clew.text.terminal_text import clip, reveal, sanitize, warnings

SECRET_CARE = "Careful: this looks like a secret. The server would get it as you type it; a form is no place for one."
SHOWN_CHARS = 200


TITLE_COLUMNS = 80
TOLD_COLUMNS = 400
"""Words of a server's beside ours are cut: they must not push away what we say of them."""


def one_line(text: str, *, columns: int = 0) -> str:
    """Safe, on one line, with what is invisible made visible; of at most so many columns."""
    line = " ".join(sanitize(reveal(text), one_line=True).split())
    return clip(line, columns) if columns else line


def server_name(asked: ElicitationRequested) -> str:
    """Who asks."""
    return one_line(asked.server)


def cares(asked: ElicitationRequested) -> list[str]:
    """What should be known before anything is answered."""
    found = [f"Careful: the message {words}" for words in warnings(asked.message)]
    if asked.url:
        found += [f"Careful: the address {words}" for words in warnings(asked.url)]
        if asked.url.lower().startswith("http://"):
            found.append("Careful: the address is not encrypted (http).")
        if "@" in authority_of(asked.url):
            found.append(f"Careful: it leads to {one_line(host_of(asked.url))}; what stands before the @ is no host.")
        if "xn--" in host_of(asked.url):
            found.append("Careful: the host's name is written in another script.")
    return found


def host_of(url: str) -> str:
    """The host an address leads to, whatever stands before an @."""
    return authority_of(url).rpartition("@")[2].lower()


def authority_of(url: str) -> str:
    """What stands between the slashes of an address."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]


def heading_of(field: FormField) -> str:
    """The name of a field as it is asked for."""
    title = one_line(field.title, columns=TITLE_COLUMNS)
    name = one_line(field.name, columns=TITLE_COLUMNS)
    told = title if title == name else f"{title} ({name})"
    return told if field.required else f"{told}, if you like"


def told_of(field: FormField) -> str:
    """What its server says of a field."""
    return one_line(field.description, columns=TOLD_COLUMNS)


def label_of(choice: FieldChoice) -> str:
    """A choice in its server's words."""
    return one_line(choice.label, columns=TITLE_COLUMNS)


def wanted_of(field: FormField) -> str:
    """What may be given, in a few words."""
    kind = {
        "text": field.format or "text",
        "number": "a number",
        "integer": "a whole number",
        "boolean": "yes or no",
        "choice": "one of these",
        "choices": "any of these",
    }[field.kind]
    unit = " characters" if field.kind == "text" else ""
    if field.least is not None and field.most is not None:
        return f"{kind}, {field.least:g} to {field.most:g}{unit}"
    if field.least is not None:
        return f"{kind}, at least {field.least:g}{unit}"
    return f"{kind}, at most {field.most:g}{unit}" if field.most is not None else kind


def value_words(field: FormField, value: Value | None) -> str:
    """A value as it will be sent."""
    if value is None:
        return "(nothing)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels = {one.value: one.label for one in field.choices}
    if isinstance(value, list):
        return ", ".join(one_line(labels.get(one, one), columns=TITLE_COLUMNS) for one in value) or "(none)"
    text = one_line(
        labels.get(value, value) if isinstance(value, str) else f"{value:g}" if value != int(value) else str(int(value))
    )
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text):,} characters)"
