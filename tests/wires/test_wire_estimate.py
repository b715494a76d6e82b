"""Token estimates: close enough before a count exists, corrected by the counts that come."""

import pytest
from msgspec.structs import replace

from clew.llm.estimate import (
    TokenEstimator,
    Weights,
    estimate_message,
    estimate_part,
    estimate_request,
    estimate_text,
    weigh_all,
    weigh_text,
)
from clew.llm.request import ModelRequest
from clew.protocol.ids import CallId
from clew.protocol.meant_calls import ToolSpec
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
    sample = Weights(latin=1000)
    assert not estimator.knows("a/m")
    assert estimator.tokens("a/m", sample) == 1000
    estimator.learn("a/m", sample, actual=1500)
    assert estimator.knows("a/m")
    assert estimator.ratio("a/m") == 1.5
    for _ in range(30):
        estimator.learn("a/m", sample, actual=1200)
    assert estimator.ratio("a/m") == pytest.approx(1.2, abs=0.01)
    assert estimator.ratio("b/m") == 1.0
    estimator.learn("b/m", sample, actual=900_000)
    assert estimator.ratio("b/m") == 3.0
    estimator.learn("c/m", Weights(latin=5), actual=50)
    estimator.learn("c/m", sample, actual=0)
    estimator.learn("c/m", Weights(latin=1000, fixed=5000), actual=9000)
    assert not estimator.knows("c/m")


def test_each_script_learns_from_its_own():
    """A session in English that turns Chinese: the English ratio stays, the Chinese one is found."""
    estimator = TokenEstimator()
    for _ in range(20):
        estimator.learn("a/m", Weights(latin=4000), actual=4000)
    for _ in range(40):
        estimator.learn("a/m", Weights(latin=50, cjk=1500), actual=50 + 2400)
    assert estimator.ratio("a/m", "latin") == pytest.approx(1.0, abs=0.05)
    assert estimator.ratio("a/m", "cjk") == pytest.approx(1.6, abs=0.05)
    assert estimator.ratio("a/m", "other") == 1.0
    assert estimator.tokens("a/m", Weights(latin=1000, cjk=1000, fixed=10)) == pytest.approx(2610, rel=0.03)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("plain words, 123!", "latin"),
        ("caf\u00e9", "latin"),
        ("\u8bf7\u628a\u8fd9\u4e2a", "cjk"),
        ("\u3072\u3089\u304c\u306a\u30ab\u30bf", "cjk"),
        ("\ud55c\uad6d\uc5b4", "cjk"),
        ("\U00020bb7", "cjk"),
        ("\u043f\u0440\u0438\u0432\u0435\u0442", "other"),
        ("\u0627\u0644\u0639", "other"),
        ("\U0001f600", "other"),
    ],
)
def test_the_script_of_a_text(text: str, script: str):
    weights = weigh_text(text)
    assert weights.total > 0
    assert getattr(weights, script) == weights.total


def test_rulers_and_dots_in_a_row_are_few_tokens():
    assert estimate_text("=" * 80) < 10
    assert estimate_text("\u2500" * 80) < 10
    assert estimate_text("." * 3) == pytest.approx(3 * 0.65)


def test_a_text_document_is_its_words_and_broken_arguments_count():
    text = DocumentPart(source=MediaSource(type="text", media_type="text/plain", data="word " * 600))
    assert estimate_part(text) == pytest.approx(600, rel=0.01)
    broken = ToolCallPart(id=CallId("c"), name="Read", arguments={}, raw_arguments="{" + "word " * 600)
    assert estimate_part(broken) > 600


def test_weights_add_up():
    one, two = Weights(1, 2, 3, 4), Weights(10, 20, 30, 40)
    assert one + two == weigh_all([one, two]) == Weights(11, 22, 33, 44)
    assert (one + two) - two == one
    assert one.total == 10
    assert one.written == 6


def test_a_very_long_text_is_weighed_by_samples_of_all_of_it():
    code = "    return self._value + other.count(item)  # why\n" * 2_000
    assert len(code) > 60_000
    half = code[:50_000]
    assert estimate_text(code) == pytest.approx(estimate_text(half) * len(code) / len(half), rel=0.03)
    mixed = "plain words " * 10_000 + "\u8bf7\u628a" * 60_000
    weights = weigh_text(mixed)
    assert weights.latin == pytest.approx(20_000, rel=0.06)
    assert weights.cjk == pytest.approx(90_000, rel=0.06)
