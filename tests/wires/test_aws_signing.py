"""Signature Version 4 against recorded vectors: AWS's published requests and Bedrock's own, signed by botocore 1.44."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.llm.keys.credentials import AwsKeys, signed_headers
from clew.llm.models.target import Secret

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("vectors_sigv4.json").read_text())
PUBLISHED = {
    "get-vanilla": "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    "post-vanilla": "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    "get-query": "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
}
"""Signatures as AWS's test suite prints them: the recording itself is right."""


def signed(vector: dict[str, Any], **changes: Any) -> dict[str, str]:
    vector = vector | changes
    keys = AwsKeys(
        access_key_id=vector["key"], secret_key=Secret(vector["secret"]), session_token=Secret(vector["token"])
    )
    return dict(
        signed_headers(
            method=vector["method"],
            url=vector["url"],
            headers=[(name, value) for name, value in vector["headers"]],
            body=vector["body"].encode(),
            keys=keys,
            region=vector["region"],
            service=vector["service"],
            now_s=vector["now"],
        )
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_signature_is_botocores(vector: dict[str, Any]):
    assert signed(vector) == vector["expected"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_recording_has_the_published_signatures(name: str):
    (vector,) = [vector for vector in VECTORS if vector["name"] == name]
    assert vector["expected"]["authorization"].endswith(f"Signature={PUBLISHED[name]}")


@pytest.mark.parametrize(
    "change",
    [{"body": "x"}, {"method": "PUT"}, {"region": "eu-west-1"}, {"now": 1}, {"secret": "other"}, {"service": "s3"}],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_matters_is_in_it(change: dict[str, Any]):
    plain = VECTORS[0]
    assert signed(plain, **change)["authorization"] != signed(plain)["authorization"]


def test_no_secret_is_in_the_headers_but_the_session_token():
    vector = VECTORS[-1]
    assert vector["secret"] not in json.dumps(signed(vector))
    assert signed(vector)["x-amz-security-token"] == vector["token"]
