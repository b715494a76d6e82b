"""Exports of long sessions: what a line costs, and that nothing secret slips through the quick look."""

import json

import pytest

from clew.catalog.exporting import redacted_json
from clew.text.redact import MARK
from fakes.effort import calls_in

LINE = {
    "type": "user",
    "uuid": "d3b07384-d9a0-4c9b-8f8e-1a2b3c4d5e6f",
    "parentUuid": "d3b07384-d9a0-4c9b-8f8e-1a2b3c4d5e60",
    "isSidechain": False,
    "userType": "external",
    "cwd": "/home/somebody/work",
    "version": "0.1.0",
    "sessionId": "d3b07384-d9a0-4c9b-8f8e-1a2b3c4d5e61",
    "timestamp": "2026-11-16T10:00:00.000Z",
    "message": {"role": "user", "content": "go on with the next file"},
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


def test_a_line_without_secrets_costs_little() -> None:
    line = json.dumps(LINE).encode()
    redacted_json(line)
    assert calls_in(lambda: redacted_json(line)) < 500, "twenty megabytes are tens of thousands of such lines"


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=hunter2x",
        "Authorization: Bearer abcdef1234567890abcdef",
        "https://somebody:s3cr3tpw@host/x",
        "AKIAIOSFODNN7EXAMPLE",
        "PASSWORD: correct-horse-9",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq3\n-----END RSA PRIVATE KEY-----",
        "https://h/x?sig=abcdef1234567890abcd",
    ],
)
def test_short_texts_with_a_secret_are_found_in_any_case(text: str) -> None:
    found = redacted_json(json.dumps({**LINE, "content": f"see {text}"}).encode())
    assert MARK in found.decode()


def test_a_telling_name_marks_its_value() -> None:
    line = json.dumps({"apiKey": "abcdef1234567890abcdef", "API_KEY": "abcdef1234567890abcdef"}).encode()
    assert redacted_json(line).decode().count(MARK) == 2
