"""Secrets leave, everything else stays. Values are made up; their parts are joined so that scanners stay calm."""

import base64
import hashlib
import json
import urllib.parse
import uuid

import pytest
from bench.growth import MOST, REPEATED

from clew.text.redact import MARK, Redactor, redact, register_secrets
from fakes.effort import calls_in, not_hanging

R = "8f3Kq9ZxV2mN7bT4cLwE1rYhU6sDpA0gJ5iOxC3v"  # forty random letters and digits

SHAPES = [
    "sk-" + "ant-api03-" + R,
    "sk-" + "proj-" + R,
    "sk-" + "or-v1-" + R.lower(),
    "sk-" + R[:32],
    "AKIA" + "IOSFODNN7EXAMPLQ",
    "ghp_" + R[:36],
    "gho_" + R[:36],
    "github_pat_" + R[:22] + "_" + R,
    "glpat-" + R[:20],
    "xoxb-" + "123456789012-" + R[:24],
    "https://hooks.slack.com/services/" + "T000/B000/" + R[:24],
    "AIza" + R[:35],
    "ya29." + R,
    "sk_live_" + R[:24],
    "npm_" + R[:36],
    "pypi-" + R + R,
    "hf_" + R[:34],
    "gsk_" + R,
    "xai-" + R + R,
    "SG." + R[:22] + "." + R,
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + R,
]
FRAMES = [
    '{{"t":"line\\n{}"}}',
    "{}",
    "key: {}",
    '"{}"',
    "curl -H 'x-api-key: {}' host",
    "({})",
    "a={}&b=1",
    "\u3000{}\u3002",
    '{{"t":"{}\\n"}}',
]


@pytest.mark.parametrize("secret", SHAPES)
@pytest.mark.parametrize("frame", FRAMES)
def test_tokens_by_shape(secret: str, frame: str) -> None:
    found = redact(frame.format(secret))
    assert secret not in found
    assert R[:12] not in found
    assert MARK in found


ASSIGNED = [
    ("password={}", "hunter2!"),
    ("PASSWORD={}", "correcthorse"),
    ("export DB_PASSWORD={}", "s3cr3t"),
    ("password = '{}'", "hunter2"),
    ('"password": "{}"', "hunter2"),
    ('{{\\"password\\": \\"{}\\"}}', "hunter2"),
    ("password: {}", "hunter2"),
    ("mysql --password {} -u root", "hunter2"),
    ("tool --api-key {} run", R[:24]),
    ("tool --token={}", R[:24]),
    ("api_key: {}", R[:32]),
    ('apiKey: "{}"', R[:32]),
    ("API_KEY={}", "abcdef-12345"),
    ("OPENAI_API_KEY={}", R[:32]),
    ("SECRET_KEY={}", R[:32]),
    ("DJANGO_SECRET_KEY = '{}'", R[:32] + "$#"),
    ("client_secret={}", R[:20]),
    ("clientSecret: '{}'", R[:20]),
    ("access_token={}&expires=3600", R),
    ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzz"),
    ("ENCRYPTION_KEY={}", hashlib.sha256(b"x").hexdigest()),
    ("Authorization: Bearer {}", R[:20]),
    ("authorization: Basic {}", "dXNlcjpwYXNz"),
    ('"Authorization": "token {}"', R[:20]),
    ("-H 'Authorization: Bearer {}'", R),
    ("bearer {}", R),
    ("Proxy-Authorization: Basic {}", "dXNlcjpwYXNz"),
    ("X-Api-Key: {}", R[:24]),
    ("https://ada:{}@example.com/x", "hunter2"),
    ("postgres://ada:{}@db:5432/x", "p%40ss"),
    ("redis://:{}@cache", "hunter2"),
    ("https://h/x?sig={}&y=1", R),
    ("https://h/x?key={}", R[:30]),
    ("passphrase: '{}'", "open sesame"[:4] + "-9-sesame"),
]


@pytest.mark.parametrize(("frame", "secret"), ASSIGNED)
@pytest.mark.parametrize("around", ["{}", "before\n{}\nafter", "\t{}"])
def test_values_behind_telling_names(frame: str, secret: str, around: str) -> None:
    found = redact(around.format(frame.format(secret)))
    assert secret not in found
    assert MARK in found
    if "before" in around:
        assert found.startswith("before\n")
        assert found.endswith("\nafter")


KEY = "\n".join(
    ["-----BEGIN " + "RSA PRIVATE KEY-----", *[R + R[:24]] * 6, R[:9] + "==", "-----END RSA PRIVATE KEY-----"]
)


@pytest.mark.parametrize(
    "text",
    [
        f"a\n{KEY}\nb",
        json.dumps({"key": KEY}),
        "a\n" + KEY.replace("RSA", "OPENSSH") + "\nb",
        "a\n" + KEY.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", 1) + "\nb",
        KEY[:300],
    ],
)
def test_private_keys_also_when_cut(text: str) -> None:
    found = redact(text)
    assert R[:12] not in found
    assert MARK in found
    if text.startswith("a\n"):
        assert found == f"a\n{MARK}\nb"


INNOCENT = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    f"session {uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)}",
    f"sha256:{hashlib.sha256(b'a').hexdigest()}",
    "def login(password: str, token: str | None = None) -> bool:",
    "password = getpass.getpass('Password: ')",
    "token = tokens[index]",
    "token = self.next_token",
    "api_key=os.environ['OPENAI_API_KEY']",
    'api_key = os.environ["OPENAI_API_KEY"]',
    "const token = await getToken(user)",
    "password: string;",
    "max_tokens: 4096, tokens_used=1234567890",
    "max_tokens=300",
    '"input_tokens": 34097, "output_tokens": 30',
    "PASSWORD=$DB_PASSWORD",
    "password=<your password>",
    "export TOKEN=${TOKEN}",
    "api_key: {{ vault.key }}",
    "password: ********",
    "API_KEY=xxxxxxxxxxxxxxxx",
    '<div class="sk-loading-spinner-container-large">',
    "cache_key = 'user-profile-page'",
    "primary_key=True",
    "foreign_key = models.ForeignKey(User)",
    "keyword = 'something'",
    "tokenizer = Tokenizer('gpt2-medium-v1')",
    "the secret is patience",
    "Authorization is required for this resource",
    "see https://example.com:8080/a@b",
    "git@github.com:ada/engine.git",
    "https://github.com/ada/engine/commit/3f786850e387550fdab836ed7e6dc881de23001b",
    "bearer of bad news and more words",
    "eyJust a word",
    "SORT_KEY = sort_key",
    'PASSWORD_FIELD = "password"',
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "if the file has '-----BEGIN RSA PRIVATE KEY-----' then it is a key",
    "İstanbul password: str",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


CANARY = "CANARY/9f+weird value=41"


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        urllib.parse.quote(CANARY, safe=""),
        json.dumps(CANARY),
        base64.b64encode(CANARY.encode()).decode(),
        base64.b64encode(b"user:" + CANARY.encode()).decode(),
        base64.b64encode(b"x" + CANARY.encode() + b"yy").decode(),
        base64.urlsafe_b64encode(b"ab" + CANARY.encode()).decode(),
    ],
)
def test_known_values_in_every_form_they_travel_in(form: str) -> None:
    redactor = Redactor([CANARY])
    found = redactor.redact(f"text {form} more")
    assert MARK in found
    assert "CANARY" not in found
    core = form[8:-8]
    assert core not in found


def test_registered_values_are_known_to_every_sink() -> None:
    value = "plain" + "-canary-" + "value"
    assert redact(f"x {value} y") == f"x {value} y"
    register_secrets([value])
    assert redact(f"x {value} y {value}") == f"x {MARK} y {MARK}"


def test_short_values_and_words_are_not_learned() -> None:
    assert Redactor(["abc", "1234567", "password"]).redact("abc 1234567 password") == "abc 1234567 password"


def test_longer_values_win() -> None:
    assert Redactor(["abcdefgh1", "abcdefgh12345"]).redact("abcdefgh12345") == MARK


def test_redaction_is_stable() -> None:
    text = "\n".join(frame.format(secret) for frame, secret in ASSIGNED) + "\n".join(SHAPES)
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize("unit", REPEATED)
def test_hostile_repetition_takes_linear_work(unit: str) -> None:
    """A search that went back for every match would not come to the end of so much text. Seconds: bench/growth.py."""
    redact(unit * 100)
    small, large = (calls_in(lambda size=size: redact(unit * (size // len(unit)))) for size in (20_000, 40_000))
    assert large <= MOST * small + 2_000
    with not_hanging():
        redact(unit * (2_000_000 // len(unit)))


@pytest.mark.parametrize(
    "value",
    [
        {"password": 123456789, "token": 1234567890123, "secret": None, "api_key": True, "ok": "x"},
        {"password": "hunter2", "nested": [{"Authorization": "Bearer " + R, "n": 1}], "z": 'quote " and \\ back'},
        {"text": f"export TOKEN={R}\nnext line", "private": KEY, "lines": KEY.splitlines(keepends=True)},
        {"a": json.dumps({"password": "hunter2", "b": json.dumps({"token": R})})},
        {"url": "https://ada:hunter2@h/x?sig=" + R, "end": 1},
    ],
)
def test_json_stays_json(value: dict[str, object]) -> None:
    """Exports and debug output are redacted after encoding."""
    found = redact(json.dumps(value))
    assert list(json.loads(found)) == list(value)
    assert "hunter2" not in found
    assert R[:12] not in found
