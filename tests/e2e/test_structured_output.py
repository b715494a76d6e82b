"""`--json-schema` through the real command (HL-5): models that never comply, comply late, or answer in words."""

import json
from typing import Any

import pytest

from e2e.command import Serve

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
GIVEN = ["--json-schema", json.dumps(SCHEMA)]
GOOD = {"city": "Turin", "people": 841600}


def output(**arguments: Any) -> dict[str, Any]:
    return {"call": "StructuredOutput", "arguments": arguments}


def test_the_call_is_the_answer_and_ends_the_run(serve: Serve) -> None:
    place, server = serve([{"parts": [{"text": "Let me see."}, output(**GOOD)]}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.err) == (0, "")
    assert (done.result["subtype"], done.result["structured_output"]) == ("success", GOOD)
    assert json.loads(done.result["result"]) == GOOD
    assert len(server.requests) == 1, "nobody reads words after it"
    (told,) = [tool for tool in server.requests[0].body["tools"] if tool["name"] == "StructuredOutput"]
    assert told["input_schema"] == SCHEMA


def test_in_text_format_stdout_is_the_value(serve: Serve) -> None:
    place, _ = serve([{"calls": [output(**GOOD)]}])
    assert json.loads(place.run("-p", "how many?", *GIVEN).out) == GOOD


def test_hl_5_a_model_that_never_complies_has_five_tries(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "About 800 thousand, I think."}})
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["subtype"]) == (1, "error_max_structured_output_retries")
    assert done.result["stop_reason"] == "no_structured_output"
    assert done.result["is_error"] is True
    assert "structured_output" not in done.result
    assert len(server.requests) == 5
    assert "5 tries" in done.err
    asked_again = server.requests[1].body["messages"][-1]
    assert "StructuredOutput" in str(asked_again)
    assert [entry["type"] for entry in place.entries()].count("assistant") >= 5


def test_calls_of_the_wrong_shape_are_tries_too_and_are_told_what_is_wrong(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"calls": [output(city=7, people="many")]}})
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["subtype"]) == (1, "error_max_structured_output_retries")
    assert len(server.requests) == 5
    refusal = str(server.requests[1].body["messages"][-1])
    assert "output.city must be string" in refusal
    assert "output.people must be integer" in refusal


def test_the_third_try_counts(serve: Serve) -> None:
    place, server = serve([{"text": "Many."}, {"calls": [output(city="Turin")]}, {"calls": [output(**GOOD)]}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "stream-json")
    result = done.lines[-1]
    assert (done.code, result["subtype"], result["structured_output"]) == (0, "success", GOOD)
    assert (len(server.requests), result["num_turns"]) == (3, 3)
    assert [line["type"] for line in done.lines].count("result") == 1


@pytest.mark.parametrize("text", [json.dumps(GOOD), f"```json\n{json.dumps(GOOD, indent=2)}\n```"])
def test_words_that_are_json_of_the_shape_count(serve: Serve, text: str) -> None:
    place, server = serve([{"text": text}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["structured_output"], len(server.requests)) == (0, GOOD, 1)


def test_words_that_are_json_of_another_shape_do_not(serve: Serve) -> None:
    place, server = serve([{"text": '{"city": "Turin"}'}, {"calls": [output(**GOOD)]}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["structured_output"]) == (0, GOOD)
    assert "must have the property" in str(server.requests[1].body["messages"][-1])


def test_two_calls_are_one_output(serve: Serve) -> None:
    place, server = serve([{"calls": [output(city="Rome", people=1), output(**GOOD)]}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["structured_output"], len(server.requests)) == (0, GOOD, 1)


def test_of_two_calls_the_one_with_the_shape_counts(serve: Serve) -> None:
    place, server = serve([{"calls": [output(**GOOD), output(city=3)]}])
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json")
    assert (done.code, done.result["structured_output"], len(server.requests)) == (0, GOOD, 1)


def test_work_comes_before_the_output(serve: Serve) -> None:
    place, server = serve(
        [{"calls": [{"call": "Read", "arguments": {"file_path": "a.txt"}}]}, {"calls": [output(**GOOD)]}]
    )
    (place.project / "a.txt").write_text("841600")
    done = place.run("-p", "how many?", *GIVEN, "--output-format", "json", "--tools", "Read")
    assert (done.code, done.result["structured_output"]) == (0, GOOD)
    assert [tool["name"] for tool in server.requests[0].body["tools"]] == ["Read", "StructuredOutput"]


def test_a_shape_that_is_no_object(serve: Serve) -> None:
    place, _ = serve([{"calls": [output(output=[1, 2])]}, {"text": "[3, 4]"}])
    schema = ["--json-schema", '{"type": "array", "items": {"type": "integer"}}', "--output-format", "json"]
    assert place.run("-p", "count", *schema).result["structured_output"] == [1, 2]
    assert place.run("-p", "count", *schema).result["structured_output"] == [3, 4]


def test_the_session_goes_on_after_an_output(serve: Serve) -> None:
    place, server = serve([{"calls": [output(**GOOD)]}, {"text": "Because I looked."}])
    session = place.run("-p", "how many?", *GIVEN, "--output-format", "json").result["session_id"]
    empty = place.run("-p", "", "--resume", session)
    assert empty.code == 2, "the turn ended in order: there is nothing to go on with"
    assert place.run("-p", "why?", "--resume", session).out == "Because I looked.\n"
    results = [part for part in server.requests[1].body["messages"][2]["content"] if part["type"] == "tool_result"]
    assert len(results) == 1


def test_other_limits_hold(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "no"}})
    done = place.run("-p", "x", *GIVEN, "--output-format", "json", "--max-turns", "2")
    assert (done.result["subtype"], len(server.requests)) == ("error_max_turns", 2)


def test_a_rule_against_it_leaves_words_as_the_only_way(serve: Serve) -> None:
    place, _ = serve([{"calls": [output(**GOOD)]}, {"text": json.dumps(GOOD)}])
    done = place.run("-p", "x", *GIVEN, "--output-format", "json", "--disallowed-tools", "StructuredOutput")
    assert done.result["structured_output"] == GOOD


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{broken", ["--json-schema", "JSON"]),
        ("[]", ["--json-schema", "[]"]),
        ("gone.json", ["--json-schema", "gone.json", "No such file"]),
        ("list.json", ["--json-schema", "not a JSON object"]),
        ('{"type": "strin"}', ["--json-schema", "#/type"]),
        ('{"$ref": "http://127.0.0.1:9/schema"}', ["--json-schema", "$ref"]),
        ('{"properties": {"a": {"pattern": "("}}}', ["--json-schema", "#/properties/a/pattern"]),
        ('{"not": ' * 300 + "{}" + "}" * 300, ["--json-schema", "deep"]),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_before_a_model_is_asked(
    serve: Serve, given: str, words: list[str]
) -> None:
    place, server = serve([])
    (place.project / "list.json").write_text("[1]")
    done = place.run("-p", "x", "--json-schema", given)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert all(word in line for word in words), line
    assert not server.requests
    assert not place.transcripts()


def test_a_schema_from_a_file(serve: Serve) -> None:
    place, _ = serve([{"calls": [output(**GOOD)]}])
    (place.project / "shape.json").write_text(json.dumps(SCHEMA))
    assert (
        place.run("-p", "x", "--json-schema", "shape.json", "--output-format", "json").result["structured_output"]
        == GOOD
    )
