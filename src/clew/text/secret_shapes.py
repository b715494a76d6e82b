"""What secrets look like: tokens with a known beginning, and values assigned to names that promise a secret."""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

Span = tuple[int, int]

# Each shape is tried only where its literal beginning occurs, which plain string search finds at memory speed.
_TOKENS: tuple[tuple[str, str], ...] = (
    ("sk-", r"sk-(?:ant-|proj-|or-v1-|svcacct-|admin-)?[A-Za-z0-9_-]{16,}"),
    ("AKIA", r"AKIA[A-Z0-9]{16}"),
    ("ASIA", r"ASIA[A-Z0-9]{16}"),
    ("ghp_", r"ghp_[A-Za-z0-9]{30,}"),
    ("gho_", r"gho_[A-Za-z0-9]{30,}"),
    ("ghu_", r"ghu_[A-Za-z0-9]{30,}"),
    ("ghs_", r"ghs_[A-Za-z0-9]{30,}"),
    ("ghr_", r"ghr_[A-Za-z0-9]{30,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"xapp-[A-Za-z0-9-]{20,}"),
    ("hooks.slack.com/services/", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    ("AIza", r"AIza[A-Za-z0-9_-]{30,}"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("sk_live_", r"sk_live_[A-Za-z0-9]{10,}"),
    ("sk_test_", r"sk_test_[A-Za-z0-9]{10,}"),
    ("rk_live_", r"rk_live_[A-Za-z0-9]{10,}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    ("hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    ("xai-", r"xai-[A-Za-z0-9]{30,}"),
    ("pplx-", r"pplx-[A-Za-z0-9]{30,}"),
    ("r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("tvly-", r"tvly-[A-Za-z0-9-]{20,}"),
    ("dop_v1_", r"dop_v1_[a-f0-9]{40,}"),
    ("SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{30,}"),
    ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)


_KINDS: tuple[tuple[str, str], ...] = (
    ("sk-ant-", "Anthropic key"),
    ("sk-or-v1-", "OpenRouter key"),
    ("sk-", "API key"),
    ("AKIA", "AWS key"),
    ("ASIA", "AWS key"),
    ("gh", "GitHub token"),
    ("github_pat_", "GitHub token"),
    ("glpat-", "GitLab token"),
    ("xox", "Slack token"),
    ("xapp-", "Slack token"),
    ("hooks.slack.com", "Slack webhook"),
    ("AIza", "Google key"),
    ("ya29.", "Google token"),
    ("sk_", "Stripe key"),
    ("rk_", "Stripe key"),
    ("whsec_", "webhook secret"),
    ("npm_", "npm token"),
    ("pypi-", "PyPI token"),
    ("hf_", "Hugging Face token"),
    ("SG.", "SendGrid key"),
    ("AGE-SECRET-KEY", "age key"),
    ("eyJ", "signed token (JWT)"),
)


def token_kind(text: str, start: int) -> str:
    """What the first letters of a token say, in words for people."""
    return next((kind for beginning, kind in _KINDS if text.startswith(beginning, start)), "API key")


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled on first use: most runs never redact anything, and every run imports this."""
    return re.compile(pattern, flags)


def token_spans(text: str) -> Iterator[Span]:
    """Tokens that carry their kind in their first letters."""
    for start, pattern in _TOKENS:
        done = 0
        for at in _occurrences(text, start):
            inside_a_word = at and (text[at - 1].isalnum() or text[at - 1] in "_-") and not _is_escape(text, at - 1)
            match = None if inside_a_word or at < done else _compiled(pattern).match(text, at)
            if match and (start != "sk-" or looks_random(match[0])):
                done = match.end()
                yield match.span()


def _is_escape(text: str, at: int) -> bool:
    """Is this letter the end of `\\n`, `\\t` or `\\r` in escaped text?"""
    return text[at] in "ntr" and at > 0 and text[at - 1] == "\\"


# The body may be broken by real or escaped newlines, quotes and headers, and each line may have its number before it,
# as `cat -n`, `grep -n` and our own tools show files; prose after a bare mark is not a body.
_KEY_BREAK = (
    r"""(?:\\[nr]|[\s"'+,>|])*"""
    r"""(?:(?<=\s)(?:[^\s:]{1,120}:)?\d{1,7}(?: ?[:|\u2502\u2192.)\t-]| )[ \t]*)?"""
)
_KEY_BLOCK = (
    r"""-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"""
    rf"""(?:{_KEY_BREAK}[A-Z][A-Za-z-]+: [^\n\\]*)*"""
    rf"""(?:{_KEY_BREAK}[A-Za-z0-9+/=]{{16,}})+(?:{_KEY_BREAK}[A-Za-z0-9+/=]{{1,15}}(?![A-Za-z0-9]))?"""
    rf"""(?:{_KEY_BREAK}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?"""
)


def key_block_spans(text: str) -> Iterator[Span]:
    """Private keys in armour, also when the end was cut off."""
    if "PRIVATE KEY" in text:
        for match in _compiled(_KEY_BLOCK).finditer(text):
            yield match.span()


_URL_LOGIN = r"://([^/\s:@\"'<>]*):([^/\s@\"'<>]+)@"


def url_spans(text: str) -> Iterator[Span]:
    """Passwords in URLs; the user name stays."""
    if "://" in text:
        for match in _compiled(_URL_LOGIN).finditer(text):
            if not is_placeholder(match[2]):
                yield match.span(2)


# Words in names that promise a secret, and whether a short value already counts.
_NAMES: tuple[tuple[str, bool], ...] = (
    ("password", True),
    ("passwd", True),
    ("passphrase", True),
    ("pwd", True),
    ("secret", True),
    ("token", False),
    ("api_key", False),
    ("api-key", False),
    ("apikey", False),
    ("access_key", False),
    ("accesskey", False),
    ("private_key", False),
    ("privatekey", False),
    ("credential", False),
    ("_key", False),
)
_BARE_REST = r"""[^\s"'`,;&|<>(){}\[\]\\]*"""
_QUERY_VALUE = r"""(?P<bare>[^\s&#"'<>]{16,512})"""
_REFERENCE = r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[!?]?"
# After the word: the rest of the name, an operator, and a value, quoted or bare.
_ASSIGNED = (
    r"""(?P<rest>(?:key|value)?s?(?:(?=[A-Z0-9_-])[A-Za-z0-9_-]*)?)(?![A-Za-z0-9])\\{0,7}["']?\]?"""
    r"""\s{0,3}(?P<op>=>|:=|=|:|\s(?=\S))\s{0,3}"""
    r"""(?:\\{0,7}(?P<quote>["'`])(?P<quoted>[^"'`\r\n]{1,1024}?)\\{0,7}(?P=quote)|(?P<bare>[^\s"'`,;&|<>(){}\[\]\\]{1,512}))"""
)
_AUTHORIZATION = (
    r"""\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?(?P<scheme>[A-Za-z0-9-]{1,32}\s{1,8})?(?P<bare>[^\s"',;\\]{6,512})"""
)
_SCHEMES = frozenset({"bearer", "basic", "token", "digest", "apikey", "negotiate"})
_BEARER = r"\s{1,8}(?P<bare>[A-Za-z0-9._~+/=-]{16,512})"


def assignment_spans(text: str) -> Iterator[Span]:
    """Values that stand behind a telling name: `password=…`, `"api_key": "…"`, `--token …`, `Authorization: …`."""
    lower = ascii_lower(text)
    yield from _judged(text, lower, "authorization", _AUTHORIZATION, _is_authorization)
    yield from _judged(text, lower, "bearer", _BEARER, lambda match: looks_random(match["bare"]))
    for word in ("signature=", "sig=", "key="):
        yield from _judged(text, lower, word, word + _QUERY_VALUE, _is_query_secret)
    for word, short in _NAMES:
        judge = partial(_is_secret, word=word, short=short)
        yield from _judged(text, lower, word, word + _ASSIGNED, judge)


def _judged(text: str, lower: str, word: str, pattern: str, judge: Callable[[re.Match[str]], bool]) -> Iterator[Span]:
    """The values behind a word that the judge finds secret. Only a bounded stretch of each is judged: linear time."""
    done = 0
    matcher = _compiled(f"(?i:{word}){pattern.removeprefix(word)}") if word in lower else None
    for at in _occurrences(lower, word) if matcher else ():
        match = matcher.match(text, at) if matcher and at >= done else None
        if match is None or not judge(match):
            continue
        kind = "bare" if match["bare"] is not None else "quoted"
        start, done = match.span(kind)
        rest = _compiled(_BARE_REST).match(text, done) if kind == "bare" else None
        done = rest.end() if rest else done  # names inside a value are part of it
        yield start, done


def _is_authorization(match: re.Match[str]) -> bool:
    scheme = (match["scheme"] or "").strip().lower()
    return not is_placeholder(match["bare"]) and (scheme in _SCHEMES or looks_random(match["bare"]))


def _is_query_secret(match: re.Match[str]) -> bool:
    return match.string[match.start() - 1 : match.start()] in ("?", "&") and looks_random(match["bare"])


def _is_secret(match: re.Match[str], *, word: str, short: bool) -> bool:
    """Does this assignment hold a secret, rather than a type, a call, a variable or a placeholder?"""
    text, at = match.string, match.start()
    quoted, operator = match["quote"] is not None, match["op"]
    value: str = match["quoted"] if quoted else match["bare"]
    if len(value) < 4 or is_placeholder(value):
        return False
    if not quoted and text[match.end("rest") : match.end("rest") + 8].lstrip("\\")[:1] in ('"', "'"):
        return False  # a number, a word or a variable behind a quoted key: JSON must stay JSON
    begin = at
    while begin > max(0, at - 64) and (text[begin - 1].isalnum() or text[begin - 1] in "_-."):
        begin -= 1
    name = text[begin : match.end("rest")]
    if name.isupper() and match["rest"][:1].isalpha():
        return False  # KEYWORD, TOKENIZER: another word
    if operator.isspace():
        # Only a command-line option takes its value after a blank.
        return name.startswith("-") and not value.startswith("-") and (short or looks_random(value))
    if not quoted and (text[match.end() : match.end() + 1] in ("(", "[") or _compiled(_REFERENCE).fullmatch(value)):
        return False
    if word == "_key" and not name.isupper() and not looks_random(value, strict=True):
        return False
    tight = match.end("rest") == match.start("op") and match.end("op") == match.start("bare")
    env_line = operator == "=" and name.isupper() and tight
    if not short:
        return looks_random(value) or (env_line and len(value) >= 8 and not value.isalpha())
    if quoted:
        return " " not in value and not _repeats_name(value, name)
    if operator == ":" and tight:
        return looks_random(value)
    return env_line or any(not letter.isalpha() and letter not in "_." for letter in value)


def _repeats_name(value: str, name: str) -> bool:
    """`PASSWORD = "password"`, `"secret-name"`: a label made of the name's own words, not a value."""
    words = set(re.findall("[a-z]+", value.lower()))
    telling = {"password", "passwd", "passphrase", "pwd", "secret"}
    return (bool(words & telling) and not any(letter.isdigit() for letter in value)) or value.lower() in name.lower()


def looks_random(value: str, *, strict: bool = False) -> bool:
    """Letters and digits mixed as no word is. `strict` also excludes hashes and uuids, which are rarely secret."""
    value = value[:64]
    if len(value) < 12 or " " in value:
        return False
    digits = sum(letter.isdigit() for letter in value)
    letters = sum(letter.isalpha() for letter in value)
    if digits < 2 or not letters or len(set(value)) < 8:
        return False
    return not (strict and (len(value) < 20 or set(value.lower()) <= set("0123456789abcdef-")))


def is_placeholder(value: str) -> bool:
    """A reference or a stand-in, not a value: `$TOKEN`, `<your key>`, `{{secret}}`, `xxxx`, `****`."""
    if value[:1] in "$<{%*" or value.startswith(("os.", "process.env", "env.", "[redacted")):
        return True
    if value.lower() in ("true", "false", "none", "null", "string", "bytes", "undefined"):
        return True
    return len(set(value.lower())) <= 2 or value.lower().startswith(("your-", "your_", "example", "changeme", "xxx"))


@cache
def _telling() -> str:
    """A pattern for what stands in every text of which a span can be found, in lower case."""
    words = [*(start for start, _ in _TOKENS), *(word for word, _ in _NAMES)]
    words += ["PRIVATE KEY", "://", "authorization", "bearer", "signature=", "sig=", "key="]
    return "|".join(dict.fromkeys(re.escape(word.lower()) for word in words))


def may_hold_secret(text: str) -> bool:
    """A quick look: False where none of the shapes can be found. Worth it for short texts, of which there are many."""
    return _compiled(_telling()).search(ascii_lower(text)) is not None


def ascii_lower(text: str) -> str:
    """Lower case with every offset kept; the full `lower` lengthens a few letters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else re.sub("[A-Z]+", lambda match: match[0].lower(), text)


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))
