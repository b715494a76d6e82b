"""The official test suite of JSON Schema 2020-12 against the judge of answers and arguments.

Not part of `make test`: `CLEW_JSON_SCHEMA_SUITE=FOLDER make reference` runs it with a checkout of the suite.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clew.tools.schemas.answer_schema import AnswerSchema
from clew.tools.schemas.keywords import SchemaError

SUITE = os.environ.get("CLEW_JSON_SCHEMA_SUITE", "")
pytestmark = pytest.mark.skipif(not SUITE, reason="CLEW_JSON_SCHEMA_SUITE names no checkout of the suite")
DIFFERENT = {
    "format.json": "formats are checked here, as the optional part of the suite asks for",
    "vocabulary.json": "a dialect that nobody knows is read as 2020-12: no other document is fetched",
}


def cases() -> list[tuple[str, dict[str, Any]]]:
    folder = Path(SUITE) / "tests" / "draft2020-12"
    files = sorted(folder.rglob("*.json")) if SUITE else []
    return [(str(file.relative_to(folder)), group) for file in files for group in json.loads(file.read_text("utf-8"))]


def test_every_verdict_is_the_one_of_the_suite() -> None:
    judged, wrong, refused = 0, list[str](), list[str]()
    for file, group in cases():
        schema = group["schema"] if isinstance(group["schema"], dict) else {"allOf": [group["schema"]]}
        try:
            shape = AnswerSchema(schema)
        except SchemaError as error:
            if "localhost:1234" not in str(error):  # where the suite's documents would be fetched from
                refused.append(f"{file}: {group['description']}: {error}")
            continue
        judged += len(group["tests"])
        wrong += [
            f"{file}: {group['description']}: {test['description']}"
            for test in group["tests"]
            if (shape.problems(test["data"]) == "") is not test["valid"] and file not in DIFFERENT
        ]
    assert refused == []
    assert wrong == []
    assert judged > 2000
