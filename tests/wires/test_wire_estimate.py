"""Token estimates: close enough before a count exists, corrected by the counts that come."""

import pytest
from msgspec.structs import replace

from clew.llm.estimate import TokenEstimator, estimate_message, estimate_part, estimate_request, estimate_text
from clew.llm.request import ModelRequest
from clew.protocol.ids import CallId
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    MediaSource,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from clew.protocol.tools import ToolSpec


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("read", 1),
        ("tokenization", 2),
        ("12345", 2),
        ("a b", 2),
        ("x\n\ny", 2.75),
        ("a  b", 3),
        ("()", 1.3),
        ("你好", 1.5),
        ("émile", 1.65),
    ],
)
def test_the_weights_of_pieces(text: str, tokens: float):
    assert estimate_text(text) == pytest.approx(tokens)


def test_chinese_and_logs_are_not_undercounted_as_four_characters_per_token_would():
    chinese = "请把这个函数重构成更小的部分，并保持测试通过。" * 20
    log = "2026-11-15T23:40:01.123Z [INFO] pkg-7.3.1_x86_64: 0x7ffe12 ok\n" * 50
    assert estimate_text(chinese) > 2 * len(chinese) / 4
    assert estimate_text(log) > 1.3 * len(log) / 4


def test_every_kind_of_part_has_a_size():
    source = MediaSource(type="base64", media_type="application/pdf", data="x" * 6_000)
    parts = [
        TextPart(text="hello there"),
        ReasoningPart(text="hmm", signature="s" * 400),
        RedactedReasoningPart(data="x" * 400),
        ToolCallPart(id=CallId("c"), name="Read", arguments={"file_path": "a.py"}),
        ToolResultPart(call_id=CallId("c"), content="some text"),
        ToolResultPart(call_id=CallId("c"), content=(TextPart(text="see"), ImagePart(source=source))),
        ImagePart(source=source),
        DocumentPart(source=source),
    ]
    assert all(estimate_part(part) >= 2 for part in parts)
    assert estimate_message(UserMessage(content="hello there")) > estimate_text("hello there")


def test_a_request_is_its_system_prompt_its_tools_and_its_history():
    bare = ModelRequest(system=("You help.",), messages=(UserMessage(content="hello there"),))
    assert estimate_request(bare) == round(estimate_text("You help.") + estimate_message(bare.messages[0]))
    tool = ToolSpec(name="Read", description="Read a file. " * 50, schema={"type": "object"})
    longer = replace(bare, tools=(tool,), messages=bare.messages * 10)
    assert estimate_request(longer) > estimate_request(bare) + 150 + 9 * 5
    assert estimate_request(ModelRequest(system=(), messages=())) == 0


def test_the_ratio_is_learned_per_model_and_bounded():
    estimator = TokenEstimator()
    assert estimator.tokens("a/m", 1000, margin=False) == 1000
    assert estimator.tokens("a/m", 1000) == 1100
    estimator.learn("a/m", estimated=1000, actual=1500)
    assert estimator.ratio("a/m") == 1.5
    for _ in range(30):
        estimator.learn("a/m", estimated=1000, actual=1200)
    assert estimator.ratio("a/m") == pytest.approx(1.2, abs=0.01)
    assert estimator.ratio("b/m") == 1.0
    estimator.learn("b/m", estimated=1000, actual=900_000)
    assert estimator.ratio("b/m") == 3.0
    estimator.learn("c/m", estimated=5, actual=50)
    estimator.learn("c/m", estimated=1000, actual=0)
    assert estimator.ratio("c/m") == 1.0
