"""What would leave in a request is told by kind and name, never by value."""

import pytest

from clew.text.redact import MAX_FOUND, find_secrets, register_secrets

R = "8f3Kq9ZxV2mN7bT4cLwE1rYhU6sDpA0gJ5iOxC3v"  # forty random letters and digits

FOUND = [
    ("sk-" + "ant-api03-" + R, "Anthropic key"),
    ("sk-" + "proj-" + R, "API key"),
    ("AKIA" + "IOSFODNN7EXAMPLQ", "AWS key"),
    ("ghp_" + R[:36], "GitHub token"),
    ("github_pat_" + R[:22] + "_" + R, "GitHub token"),
    ("glpat-" + R[:20], "GitLab token"),
    ("xoxb-" + "123456789012-" + R[:24], "Slack token"),
    ("AIza" + R[:35], "Google key"),
    ("sk_live_" + R[:24], "Stripe key"),
    ("npm_" + R[:36], "npm token"),
    ("hf_" + R[:34], "Hugging Face token"),
    ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + R, "signed token (JWT)"),
    ("-----BEGIN RSA PRIVATE KEY-----\n" + R + "\n" + R, "private key"),
    ("postgres://me:hunter2pass@db/x", "password in a URL"),
]
NAMED = [
    ("DB_PASSWORD=hunter2pass", "DB_PASSWORD"),
    ('password: "hunter2pass"', "password"),
    ("STRIPE_SECRET='abc-123-def'", "STRIPE_SECRET"),
    ('{"api_key": "' + R + '"}', "api_key"),
    ("export MY_TOKEN=" + R, "MY_TOKEN"),
    ("curl --token " + R, "--token"),
    ("clientSecret = '" + R + "'", "clientSecret"),
]
HARMLESS = [
    "password = os.environ['PASSWORD']",
    "def token(self) -> str: ...",
    "API_KEY=${API_KEY}",
    "the password must be changed",
    "commit 8f3c9d2a1b4e5f60718293a4b5c6d7e8f9012345",
    "https://example.com/a/b?c=d",
    "-----BEGIN CERTIFICATE-----",
    "token: string",
    "",
    "SECRET_KEY = get_secret()",
]


@pytest.mark.parametrize(("text", "kind"), FOUND)
@pytest.mark.parametrize("frame", ["{}", "a line\nanother {}\n", '"{}"', "x = {} # note"])
def test_kinds(text: str, kind: str, frame: str) -> None:
    found = find_secrets(frame.format(text))
    assert [one.kind for one in found] == [kind]
    assert R[:12] not in str(found)
    assert "hunter2" not in str(found)


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_names(text: str, name: str) -> None:
    (found,) = find_secrets("first line\n" + text)
    assert found.name.lstrip("-") == name.lstrip("-")
    assert found.line == 2
    assert R[:12] not in str(found)
    assert "hunter2" not in str(found)


@pytest.mark.parametrize("text", HARMLESS)
def test_nothing_is_found_where_nothing_is(text: str) -> None:
    assert find_secrets(text) == ()


def test_known_values_are_found_whatever_their_shape() -> None:
    register_secrets(["correct horse battery staple 7"])
    assert [one.kind for one in find_secrets("it is correct horse battery staple 7!")] == [
        "secret from your environment"
    ]


def test_each_kind_and_name_once_and_not_without_end() -> None:
    assert len(find_secrets("\n".join(["DB_PASSWORD=hunter2pass"] * 50))) == 1
    many = "\n".join(f"V{number}_PASSWORD=hunter2pass" for number in range(200))
    assert len(find_secrets(many)) == MAX_FOUND
