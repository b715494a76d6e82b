"""Exit codes and JSON: what each moment makes of them. A wrong type is a failure that names its field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.hooks.answers import HookAnswer, combined
from clew.hooks.definitions import MOMENTS
from clew.hooks.reading import BLOCKABLE, TEXT_IS_CONTEXT, answer_of, answer_of_json

SHOWN_ONLY = [moment for moment in MOMENTS if moment not in BLOCKABLE]


def read(moment: str, code: int | None = 0, out: str = "", err: str = "", *, may_allow: bool = True) -> HookAnswer:
    return answer_of(moment, "./hook.sh", code, out, err, may_allow=may_allow)


def said(moment: str, output: dict[str, Any], *, may_allow: bool = True) -> HookAnswer:
    return read(moment, 0, json.dumps(output), may_allow=may_allow)


def specific(moment: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": moment, **fields}}


@pytest.mark.parametrize("moment", MOMENTS)
def test_silence_leaves_everything_as_it_is(moment: str) -> None:
    for out in ("", "  \n", "{}", '{"continue": true, "suppressOutput": true, "unknown": [1]}'):
        assert read(moment, out=out) in (
            HookAnswer(hook="./hook.sh"),
            HookAnswer(hook="./hook.sh", may_allow=True),
        )


@pytest.mark.parametrize("moment", MOMENTS)
def test_text_is_context_where_the_reference_has_it_so(moment: str) -> None:
    answer = read(moment, out=" remember this \n")
    assert answer.outcome == "ok"
    if moment in ("UserPromptSubmit", "SessionStart", "PreCompact"):
        assert (answer.context, answer.detail) == ("remember this", "")
    else:
        assert (answer.context, answer.detail) == ("", "remember this")


@pytest.mark.parametrize("moment", BLOCKABLE)
def test_exit_code_2_blocks_and_stderr_is_the_reason(moment: str) -> None:
    answer = read(moment, 2, '{"continue": false}', " not on a Friday \n")
    assert (answer.outcome, answer.leaning, answer.reason) == ("blocked", "deny", "not on a Friday")
    assert answer.detail == "not on a Friday"
    assert answer.stop is None
    assert "gave no reason" in read(moment, 2).reason


@pytest.mark.parametrize("moment", SHOWN_ONLY)
def test_where_nothing_can_be_blocked_the_words_are_shown(moment: str) -> None:
    for answer in (read(moment, 2, "", "no!"), said(moment, {"decision": "block", "reason": "no!"})):
        assert (answer.outcome, answer.leaning, answer.reason) == ("failed", "", "")
        assert "no!" in answer.detail


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("code", [1, 3, 126, 127, 137, 255, -9, None])
def test_any_other_end_is_a_failure_that_blocks_nothing(moment: str, code: int | None) -> None:
    answer = read(moment, code, '{"decision": "block"}', "boom")
    assert (answer.outcome, answer.leaning, answer.context, answer.stop) == ("failed", "", "", None)
    assert "boom" in answer.detail
    assert str(code) in answer.detail or code is None
    assert "printed" in read(moment, code, "printed").detail


@pytest.mark.parametrize("decision", ["allow", "ask", "deny"])
def test_what_is_decided_about_a_call(decision: str) -> None:
    fields = {"permissionDecision": decision, "permissionDecisionReason": "because"}
    answer = said("PreToolUse", specific("PreToolUse", **fields))
    assert (answer.leaning, answer.reason) == (decision, "because")
    assert answer.outcome == ("blocked" if decision == "deny" else "ok")


def test_an_allow_counts_only_from_the_user() -> None:
    output = specific("PreToolUse", permissionDecision="allow")
    assert combined([said("PreToolUse", output)]).leaning == "allow"
    assert combined([said("PreToolUse", output, may_allow=False)]).leaning == ""


def test_to_defer_is_no_decision() -> None:
    answer = said("PreToolUse", specific("PreToolUse", permissionDecision="defer"))
    assert (answer.outcome, answer.leaning) == ("ok", "")
    assert "defer" in answer.detail


def test_the_old_words_about_a_call() -> None:
    assert said("PreToolUse", {"decision": "approve", "reason": "fine"}).leaning == "allow"
    answer = said("PreToolUse", {"decision": "block", "reason": "no"})
    assert (answer.leaning, answer.reason, answer.outcome) == ("deny", "no", "blocked")


def test_the_stricter_of_two_decisions_stands() -> None:
    both = {"decision": "block", "reason": "no", **specific("PreToolUse", permissionDecision="allow")}
    assert said("PreToolUse", both).leaning == "deny"
    both = {"decision": "approve", **specific("PreToolUse", permissionDecision="ask")}
    assert said("PreToolUse", both).leaning == "ask"
    both = {"decision": "approve", **specific("PreToolUse", permissionDecision="deny")}
    assert said("PreToolUse", both).leaning == "deny"


@pytest.mark.parametrize("moment", [moment for moment in BLOCKABLE if moment != "PreToolUse"])
def test_block_at_other_moments(moment: str) -> None:
    answer = said(moment, {"decision": "block", "reason": "tests fail"})
    assert (answer.outcome, answer.leaning, answer.reason) == ("blocked", "deny", "tests fail")
    assert said(moment, {"decision": "approve"}).leaning == ""


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_can_end_the_turn(moment: str) -> None:
    answer = said(moment, {"continue": False, "stopReason": "enough"})
    assert (answer.outcome, answer.stop) == ("blocked", "enough")
    assert said(moment, {"continue": False}).stop == "The hook ./hook.sh ended the turn."


def test_a_changed_input_and_context() -> None:
    answer = said(
        "PreToolUse",
        {"systemMessage": "careful", **specific("PreToolUse", updatedInput={"a": 1}, additionalContext="look")},
    )
    assert (answer.arguments, answer.context, answer.message, answer.leaning) == ({"a": 1}, "look", "careful", "")


def test_a_title_where_a_title_can_be() -> None:
    for moment in ("SessionStart", "UserPromptSubmit"):
        assert said(moment, specific(moment, sessionTitle=" A\n title ")).title == "A title"
    assert said("Stop", specific("Stop", sessionTitle="A title")).title == ""


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ({"stdout": "out", "stderr": "err", "interrupted": False}, "out\nerr"),
        ({"stdout": "", "stderr": ""}, ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"text": "a"}, "a"),
        ({"x": [1, None]}, '{"x":[1,null]}'),
        ([1, 2], "[1,2]"),
        (0, "0"),
        (False, "false"),
    ],
)
def test_what_stands_for_a_result(output: Any, text: str) -> None:
    assert said("PostToolUse", specific("PostToolUse", updatedToolOutput=output)).result == text
    assert said("PostToolUse", specific("PostToolUse", updatedMCPToolOutput=output)).result == text
    assert said("PreToolUse", specific("PreToolUse", updatedToolOutput=output)).result is None


def test_fields_of_other_moments_have_no_effect() -> None:
    fields = {"permissionDecision": "deny", "updatedInput": {"a": 1}}
    answer = said("PostToolUse", specific("PostToolUse", **fields))
    assert (answer.outcome, answer.leaning, answer.arguments) == ("ok", "", None)


def test_an_answer_that_comes_later_is_not_waited_for() -> None:
    answer = said("PreToolUse", {"async": True, "asyncTimeout": 5, "decision": "block"})
    assert (answer.outcome, answer.leaning) == ("ok", "")
    assert "async" in answer.detail


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("Stop", {"continue": "no"}, '"continue"'),
    ("Stop", {"continue": False, "stopReason": 5}, '"stopReason"'),
    ("Stop", {"suppressOutput": 1}, '"suppressOutput"'),
    ("Stop", {"systemMessage": ["x"]}, '"systemMessage"'),
    ("Stop", {"decision": True}, '"decision"'),
    ("Stop", {"async": "yes"}, '"async"'),
    ("Stop", {"hookSpecificOutput": "x"}, '"hookSpecificOutput"'),
    ("Stop", specific("PreToolUse"), "hookEventName"),
    ("Stop", {"hookSpecificOutput": {"hookEventName": 5}}, "hookEventName"),
    ("PreToolUse", specific("PreToolUse", permissionDecision=1), "permissionDecision"),
    ("PreToolUse", specific("PreToolUse", permissionDecisionReason=1), "permissionDecisionReason"),
    ("PreToolUse", specific("PreToolUse", updatedInput=["x"]), "updatedInput"),
    ("PreToolUse", specific("PreToolUse", additionalContext=5), "additionalContext"),
    ("SessionStart", specific("SessionStart", sessionTitle=5), "sessionTitle"),
]


@pytest.mark.parametrize(("moment", "output", "field"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_type_is_a_failure_that_names_the_field(moment: str, output: dict[str, Any], field: str) -> None:
    answer = said(moment, output)
    assert (answer.outcome, answer.leaning, answer.stop, answer.context) == ("failed", "", None, "")
    assert field in answer.detail


@pytest.mark.parametrize(
    ("moment", "output"),
    [
        ("Stop", {"decision": "Block"}),
        ("UserPromptSubmit", {"decision": "block", "reason": {}}),
        ("PreToolUse", specific("PreToolUse", permissionDecision="Deny")),
        ("PreToolUse", specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=1)),
        ("PreToolUse", {"decision": "block", "hookSpecificOutput": 5}),
    ],
)
def test_what_is_plainly_a_no_is_one_although_the_rest_cannot_be_read(moment: str, output: dict[str, Any]) -> None:
    answer = said(moment, output)
    assert (answer.outcome, answer.leaning) == ("blocked", "deny")


@pytest.mark.parametrize("out", ['{"decision": "block",}', "{decision: block}", '{"a": "\\ud800"}'])
def test_what_looks_like_json_and_is_none_is_a_failure(out: str) -> None:
    answer = read("PreToolUse", out=out)
    assert answer.outcome == "failed"
    assert "JSON" in answer.detail


@pytest.mark.parametrize("out", ["[1]", '"text"', "5", "null", "{braces} in text", "note: {}x"])
def test_other_json_and_text_with_braces_is_text(out: str) -> None:
    assert read("SessionStart", out=out).context == out


def test_null_counts_as_not_there() -> None:
    output = {"continue": None, "decision": None, "reason": None, "systemMessage": None, "hookSpecificOutput": None}
    assert said("Stop", output) == HookAnswer(hook="./hook.sh", may_allow=True)


def test_texts_are_bounded() -> None:
    long = "x" * 50_000
    everything = {"systemMessage": long, "continue": False, "stopReason": long, "decision": "block", "reason": long}
    answer = said("PreCompact", {**everything, **specific("PreCompact", additionalContext=long)})
    assert len(answer.context) == 4_000
    assert len(answer.reason) == 10_000
    assert {len(text) for text in (answer.message, answer.stop or "", answer.detail)} == {2_000}
    assert "more characters cut" in answer.context
    start = said("SessionStart", specific("SessionStart", additionalContext=long, sessionTitle=long))
    assert (len(start.context), len(start.title)) == (10_000, 200)
    assert len(read("SessionStart", out=long).context) == 10_000
    assert len(read("Stop", 1, err=long).detail) == 2_000
    assert len(read("PreToolUse", 2, err=long).reason) == 10_000


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
    | st.sampled_from(["block", "approve", "deny", "allow", "PreToolUse", "Stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
NAMES = ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "async"]
INNER = [
    "hookEventName",
    "permissionDecision",
    "updatedInput",
    "additionalContext",
    "updatedToolOutput",
    "sessionTitle",
]
outputs = st.builds(
    lambda outer, inner: {**outer, "hookSpecificOutput": inner},
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), values, max_size=4),
    st.dictionaries(st.sampled_from(INNER), values, max_size=5) | values,
)


@given(st.sampled_from(MOMENTS), outputs, st.booleans())
def test_any_object_gives_an_answer(moment: str, output: dict[str, Any], may_allow: bool) -> None:
    answer = answer_of_json(moment, "h", output, may_allow=may_allow)
    assert answer.outcome in ("ok", "blocked", "failed")
    assert answer.leaning != "deny" or (moment in BLOCKABLE and answer.outcome == "blocked")
    assert answer.outcome != "failed" or (answer.leaning == "" and answer.detail)
    combined([answer, answer])


@given(st.sampled_from(MOMENTS), st.none() | st.integers(-300, 300), st.text(), st.text())
def test_any_output_gives_an_answer(moment: str, code: int | None, out: str, err: str) -> None:
    answer = answer_of(moment, "h", code, out, err, may_allow=True)
    assert (answer.outcome == "blocked") is (code == 2 and moment in BLOCKABLE) or code == 0
    assert not answer.context or (moment in TEXT_IS_CONTEXT and code == 0)


def test_deep_nesting_is_a_failure() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = {"content": deep}
    answer = answer_of_json("PostToolUse", "h", specific("PostToolUse", updatedToolOutput=deep), may_allow=True)
    assert answer.outcome == "failed"
    assert read("Stop", out="{" + '"a":{' * 100_000 + "}" * 100_001).outcome == "failed"
