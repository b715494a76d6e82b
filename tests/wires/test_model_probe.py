"""The probe against servers that differ: what each does must be what the card says."""

from pathlib import Path
from typing import Any

import pytest

from clew.config.schema import ModelFacts, Provider
from clew.llm.errors import AuthenticationFailed, ConnectionFailed
from clew.llm.models.connect import target_of
from clew.llm.probe.model_probe import PLACES, ModelProbe, long_prompt
from clew.llm.probe.report_card import MAX_CARDS, ProbeFinding, ReportCard, keep_card, report_cards
from clew.llm.retry import system_random
from fakes.model_server import ModelServer
from fakes.quirky_model import QuirkyModel
from wires.support import KEY


def probe_of(server: ModelServer, *, provider: str = "corp", tokens: int = 8_000, window: int = 32_000) -> ModelProbe:
    settings = Provider(base_url=f"{server.url}/v1", models={"quirky": ModelFacts(window=window)})
    target = target_of(f"{provider}/quirky", providers={provider: settings}, env={"MOONSHOT_API_KEY": KEY})
    return ModelProbe(target, tokens=tokens)


async def card(
    provider: str = "corp", *, tokens: int = 8_000, window: int = 32_000, **quirks: Any
) -> dict[str, ProbeFinding]:
    with QuirkyModel(**quirks) as server:
        probing = probe_of(server, provider=provider, tokens=tokens, window=window)
        findings = [finding async for finding in probing.run()]
    found = {finding.name: finding for finding in findings}
    assert len(found) == len(findings), "each thing is told once"
    return found


def grades(found: dict[str, ProbeFinding]) -> dict[str, str]:
    return {name: finding.grade for name, finding in found.items()}


async def test_a_server_that_does_everything_right():
    found = await card(caches=True)
    assert grades(found) == {
        "answer": "ok",
        "usage": "ok",
        "window": "ok",
        "calls": "ok",
        "reasoning": "info",
        "results": "ok",
        "parallel": "ok",
        "cache": "ok",
    }
    assert "8,000 tokens was read whole" in found["window"].summary
    assert "was not tried" in found["window"].summary
    assert not [finding.brief for finding in found.values() if finding.brief and finding.grade == "ok"]


async def test_a_server_that_cuts_long_prompts_without_a_word():
    found = await card(cut_chars=12_000)
    window = found["window"]
    assert window.grade == "problem"
    assert "was cut silently: it lost the system, first and middle words" in window.summary
    assert "providers.corp.models.quirky.window" in window.summary
    assert "2,000 were read whole" in window.summary
    assert "cuts prompts silently" in window.brief


async def test_a_server_that_cuts_and_counts_nothing_is_found_out_too():
    found = await card(cut_chars=12_000, usage=False)
    assert found["window"].grade == "problem"
    assert found["usage"].grade == "warning"


async def test_a_server_that_refuses_long_prompts_says_so():
    found = await card(limit_chars=12_000)
    assert found["window"].grade == "warning"
    assert "is refused" in found["window"].summary
    assert "2,000 were read whole" in found["window"].summary


async def test_a_model_that_forgets_what_the_server_read():
    found = await card(forgets=12_000)
    assert found["window"].grade == "warning"
    assert "loses sight" in found["window"].summary


async def test_a_model_that_does_not_do_as_asked_is_unclear_and_not_blamed():
    found = await card(deaf=True)
    assert found["window"].grade == "info"
    assert "unclear" in found["window"].summary
    assert found["calls"].grade == "problem"


@pytest.mark.parametrize(
    ("provider", "calls", "grade", "words"),
    [
        ("corp", "text", "warning", "takes as calls here"),  # its address is on this machine
        ("moonshot", "text", "problem", "only from servers on this machine"),
        ("corp", "broken", "warning", "cannot be read"),
        ("corp", "none", "problem", "in words"),
    ],
)
async def test_the_shape_of_calls(provider: str, calls: str, grade: str, words: str):
    found = await card(provider, calls=calls)
    assert (found["calls"].grade, words in found["calls"].summary) == (grade, True), found["calls"]


async def test_one_call_at_a_time():
    found = await card(one_at_a_time=True)
    assert (found["parallel"].grade, found["parallel"].brief) == ("info", "one call at a time")


async def test_reasoning_that_is_taken_back():
    found = await card("moonshot", thinks=True)
    assert found["reasoning"].summary == "shown, and taken back with the next request"


async def test_reasoning_that_a_server_has_no_place_for_is_not_sent():
    found = await card("corp", thinks=True)
    assert found["reasoning"].summary == "shown, and not sent back with the next request"


async def test_reasoning_that_is_refused_and_the_results_all_the_same():
    found = await card("moonshot", thinks=True, refuses_reasoning=True)
    assert found["reasoning"].grade == "problem"
    assert "refused when sent back" in found["reasoning"].summary
    assert found["results"].grade == "ok"


async def test_no_usage_and_no_cache():
    found = await card(usage=False)
    assert (found["usage"].grade, found["usage"].brief) == ("warning", "no usage")
    assert (found["cache"].grade, found["cache"].brief) == ("info", "no cache")


async def test_a_small_window_is_not_overfilled_on_purpose():
    found = await card(window=4_096, tokens=24_000)
    assert found["window"].grade == "ok"
    assert "3,276 tokens was read whole" in found["window"].summary
    assert "not tried" not in found["window"].summary


async def test_a_failure_in_the_middle_is_a_finding_and_the_rest_goes_on():
    with QuirkyModel() as server:
        probing = probe_of(server)
        answers = server._take

        def failing(raw: bytes) -> Any:
            return {"fault": "status", "status": 400, "message": "tools?"} if b'"tools"' in raw else answers(raw)

        server._take = failing
        found = {finding.name: finding async for finding in probing.run()}
    assert found["calls"].grade == found["parallel"].grade == "problem"
    assert "tools?" in found["calls"].summary
    assert "cache" in found


@pytest.mark.parametrize(
    ("script", "error"),
    [([{"fault": "unauthorized"}], AuthenticationFailed), ([{"fault": "reset"}] * 3, ConnectionFailed)],
)
async def test_a_model_that_cannot_be_asked_has_no_card(script: list[Any], error: type[Exception]):
    with ModelServer(script) as server:
        probing = probe_of(server)
        with pytest.raises(error):
            _ = [finding async for finding in probing.run()]


def test_the_cost_is_known_before():
    with QuirkyModel() as server:
        probing = probe_of(server, tokens=8_000)
        cost = probing.cost()
    assert cost.usd is None, "nobody knows its price"
    assert 26_000 < cost.input_tokens < 28_000
    dear = target_of("anthropic/claude-opus-5-5", providers={}, env={"ANTHROPIC_API_KEY": KEY})
    assert (ModelProbe(dear).cost().usd or 0) > (ModelProbe(dear, tokens=2_000).cost().usd or 0) > 0


async def test_the_cost_told_before_is_not_exceeded():
    with QuirkyModel(cut_chars=12_000) as server:
        probing = probe_of(server, tokens=20_000)
        _ = [finding async for finding in probing.run()]
    read = sum(len(request.raw) for request in server.requests) / 4
    assert read <= probing.cost().input_tokens * 1.1


def test_a_long_prompt_is_as_long_as_it_says_and_its_words_are_new():
    for tokens in (1_000, 5_000, 40_000):
        prompt = long_prompt(tokens, system_random)
        assert abs(prompt.tokens - tokens) < 0.05 * tokens + 100
        assert len(set(prompt.words)) == len(PLACES)
        assert prompt.missing(" ".join(prompt.words).upper()) == ()
        assert prompt.missing("") == PLACES


def some_card(model: str, address: str = "http://a", brief: str = "") -> ReportCard:
    finding = ProbeFinding(name="window", grade="ok", summary="s", brief=brief)
    return ReportCard(model=model, address=address, at="2026-11-02T10:00:00Z", findings=(finding,))


def test_cards_are_kept_one_for_each_model_at_each_address(tmp_path: Path):
    keep_card(tmp_path, some_card("a/x"))
    keep_card(tmp_path, some_card("a/x", "http://b"))
    keep_card(tmp_path, some_card("a/x", brief="no usage"))
    assert [(one.address, one.brief) for one in report_cards(tmp_path)] == [
        ("http://b", "probed 2026-11-02: as it should be"),
        ("http://a", "probed 2026-11-02: no usage"),
    ]
    for number in range(MAX_CARDS + 5):
        keep_card(tmp_path, some_card(f"a/{number}"))
    assert len(report_cards(tmp_path)) == MAX_CARDS


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cards": 5}', "\xff"])
def test_a_damaged_file_of_cards_counts_as_none(tmp_path: Path, text: str):
    (tmp_path / "model-cards.json").write_text(text, encoding="latin-1")
    assert report_cards(tmp_path) == ()
    keep_card(tmp_path, some_card("a/x"))
    assert len(report_cards(tmp_path)) == 1
