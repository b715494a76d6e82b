"""Model facts: families, clamped effort, sensible defaults."""

import pytest

from clew.llm.models.profiles import LEVELS, UNKNOWN, UNKNOWN_LOCAL, Profile, is_known, known_models, profile_of, rows


def test_the_longest_pattern_wins_and_spelling_does_not_matter():
    assert profile_of("claude-opus-5-5-20260901").price == profile_of("claude-opus-5-5").price
    assert profile_of("claude-opus-5").price != profile_of("claude-opus-5-5").price
    assert profile_of("anthropic/claude-sonnet-4.5") == profile_of("claude-sonnet-4-5")
    assert profile_of("openai/GPT-6.1-sol") == profile_of("gpt-6.1-sol")


def test_a_new_member_of_a_family_keeps_its_ways_but_has_no_price():
    future = profile_of("claude-next-9")
    assert (future.thinking, future.cache, future.price) == ("adaptive", True, None)
    assert profile_of("gemini-9-ultra").price is None


def test_unknown_models_get_defaults_without_a_price():
    assert profile_of("somebody/else-7b") is UNKNOWN
    assert profile_of("else-7b", local=True) is UNKNOWN_LOCAL
    assert UNKNOWN.price is None
    assert UNKNOWN.default_output is None
    assert not is_known("else-7b")


def test_a_local_model_has_no_price_and_a_careful_window():
    local = profile_of("qwen3-coder:30b", local=True)
    assert (local.price, local.window) == (None, UNKNOWN_LOCAL.window)
    assert profile_of("gemma3:27b", local=True).images


@pytest.mark.parametrize(
    ("efforts", "asked", "sent"),
    [
        (LEVELS, "max", "max"),
        (("low", "medium", "high"), "xhigh", "high"),
        (("low", "medium", "high"), "max", "high"),
        (("high", "max"), "low", "high"),
        (("high", "max"), "xhigh", "high"),
        (("max",), "low", "max"),
        ((), "high", None),
        (LEVELS, None, None),
        (LEVELS, "ultracode", None),
    ],
)
def test_effort_is_clamped_to_what_the_model_takes(efforts: tuple[str, ...], asked: str | None, sent: str | None):
    assert Profile(efforts=efforts).clamp_effort(asked) == sent


def test_every_row_is_sound():
    for pattern, profile in rows():
        assert profile.window >= profile.max_output >= 1, pattern
        assert profile.default_output is None or profile.default_output <= profile.max_output, pattern
        assert all(level in LEVELS for level in profile.efforts), pattern
        if profile.price is not None:
            assert profile.price.output >= profile.price.input >= profile.price.cache_read > 0, pattern
    assert len({pattern for pattern, _ in rows()}) == len(rows())
    assert "claude-opus-5-5" in known_models()
