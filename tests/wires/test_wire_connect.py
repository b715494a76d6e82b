"""Names, addresses and keys: what is found, and what is said when it is not."""

from typing import Any

import pytest

from clew.config.schema import ModelFacts, Provider
from clew.llm.errors import MissingCredential, UnknownModel
from clew.llm.models.connect import (
    base_url_of,
    configured_providers,
    connect,
    default_model,
    fast_model,
    resolve,
    target_of,
)
from clew.llm.models.providers import ALIASES, rows
from clew.llm.probe.local_servers import local_servers
from clew.llm.retry import RetryPolicy
from clew.protocol.usage import Usage
from fakes.model_server import ModelServer
from wires.support import KEY

ALL_KEYS = {variable: KEY for row in rows().values() for variable, _ in row.keys}


def found(name: str, env: dict[str, str] | None = None, **providers: Provider) -> Any:
    return target_of(name, providers=providers, env=ALL_KEYS if env is None else env)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("anthropic/claude-opus-5-5", "anthropic", "claude-opus-5-5"),
        ("claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"),
        ("gpt-6.1-sol", "openai", "gpt-6.1-sol"),
        ("o3", "openai", "o3"),
        ("gemini-3.8-flash", "gemini", "gemini-3.8-flash"),
        ("openrouter/anthropic/claude-sonnet-5.5", "openrouter", "anthropic/claude-sonnet-5.5"),
        ("deepseek-v4-pro", "deepseek", "deepseek-v4-pro"),
        ("qwen/qwen3.7-max", "dashscope", "qwen3.7-max"),
        ("kimi-k3", "moonshot", "kimi-k3"),
        ("glm-5.3", "zai", "glm-5.3"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
        ("llama.cpp/anything", "llamacpp", "anything"),
        ("local/my-model", "local", "my-model"),
        ("groq/openai/gpt-oss-120b", "groq", "openai/gpt-oss-120b"),
        ("anthropic", "anthropic", "claude-opus-5-5"),
    ],
)
def test_names_find_their_provider(name: str, provider: str, model: str):
    row, rest = resolve(name, {})
    assert (row.name, rest) == (provider, model)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropc/claude-opus-5-5", "did you mean anthropic"),
        ("claud-opus-5-5", "did you mean claude-opus-5-5"),
        ("gpt6.1-sol", "did you mean gpt-6.1-sol"),
        ("zzzzzzzzzzzzzzzz", "write provider/model"),
        ("anthropic/", "names no model"),
        ("", "names no model"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, words: str):
    with pytest.raises(UnknownModel, match=words):
        resolve(name, {})


@pytest.mark.parametrize(
    "row", [row for row in rows().values() if row.keys and not row.key_optional], ids=lambda r: r.name
)
def test_a_missing_key_names_the_variable(row: Any):
    with pytest.raises(MissingCredential, match=row.keys[0][0]):
        connect(f"{row.name}/x", providers={}, env={})
    with pytest.raises(MissingCredential, match=row.keys[0][0]):
        connect(f"{row.name}/x", providers={}, env={row.keys[0][0]: "  "})


def test_a_key_with_odd_characters_is_told_without_being_shown():
    with pytest.raises(MissingCredential, match="ANTHROPIC_API_KEY holds characters") as caught:
        connect("anthropic/x", providers={}, env={"ANTHROPIC_API_KEY": "sk-gehe\u00efm"})
    assert "geh" not in str(caught.value)


def test_local_servers_need_no_key_and_send_one_if_given():
    assert not found("ollama/x", env={}).key
    assert found("vllm/x", env={"VLLM_API_KEY": KEY}).auth_headers() == [("authorization", f"Bearer {KEY}")]


def test_keys_are_stripped_and_sent_as_each_provider_wants():
    assert found("anthropic/x", {"ANTHROPIC_API_KEY": f" {KEY}\n"}).auth_headers() == [("x-api-key", KEY)]
    assert found("anthropic/x", {"ANTHROPIC_AUTH_TOKEN": KEY}).auth_headers() == [("authorization", f"Bearer {KEY}")]
    assert found("gemini/x", {"GOOGLE_API_KEY": KEY}).auth_headers() == [("x-goog-api-key", KEY)]


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("ANTHROPIC_BASE_URL", "anthropic/x"),
        ("OPENAI_BASE_URL", "openai/x"),
        ("GOOGLE_GEMINI_BASE_URL", "gemini/x"),
        ("DEEPSEEK_BASE_URL", "deepseek/x"),
        ("OLLAMA_BASE_URL", "ollama/x"),
        ("LOCAL_MODEL_BASE_URL", "local/x"),
    ],
)
def test_the_environment_moves_a_provider(variable: str, name: str):
    settings = Provider(base_url="https://settings.example")
    moved = found(name, ALL_KEYS | {variable: "https://env.example/v9"}, **{name.partition("/")[0]: settings})
    assert moved.base_url == "https://env.example/v9"
    assert found(name, ALL_KEYS, **{name.partition("/")[0]: settings}).base_url == "https://settings.example"


def test_openai_speaks_responses_and_a_compatible_server_under_its_name_speaks_chat():
    assert found("openai/gpt-6.1-sol").dialect == "openai-responses"
    moved = found("openai/llama-4", ALL_KEYS | {"OPENAI_BASE_URL": "http://gpu:8000/v1"})
    assert moved.dialect == "openai-chat"
    assert moved.quirks.system_role == "system"
    chosen = Provider(base_url="http://gpu:8000/v1", dialect="openai-responses")
    assert found("openai/llama-4", openai=chosen).dialect == "openai-responses"


def test_a_provider_of_ones_own():
    mine = Provider(
        base_url="https://llm.corp.example/v1",
        key_env="CORP_KEY",
        headers={"X-Team": "tools"},
        models={
            "big": ModelFacts(window=64_000, max_output_tokens=4_000, input_usd_per_mtok=1.0, output_usd_per_mtok=2.0)
        },
    )
    where = target_of("corp/big", providers={"corp": mine}, env={"CORP_KEY": KEY})
    assert (where.dialect, where.base_url) == ("openai-chat", "https://llm.corp.example/v1")
    assert where.auth_headers() == [("authorization", f"Bearer {KEY}")]
    assert ("x-team", "tools") in where.headers
    assert (where.profile.window, where.profile.max_output) == (64_000, 4_000)
    model = connect("big", providers={"corp": mine}, env={"CORP_KEY": KEY})
    assert model.name == "corp/big"
    assert model.cost_usd(Usage(input_tokens=1_000_000, output_tokens=500_000)) == pytest.approx(2.0)
    with pytest.raises(MissingCredential, match="CORP_KEY"):
        target_of("corp/big", providers={"corp": mine}, env={})
    with pytest.raises(UnknownModel, match="baseUrl"):
        target_of("empty/x", providers={"empty": Provider()}, env={})
    assert (
        target_of("open/x", providers={"open": Provider(base_url="host:1/v1")}, env={}).base_url == "http://host:1/v1"
    )


def test_urls_are_joined_without_doubling_the_version():
    table = {
        ("anthropic/x", "https://a.example"): "https://a.example/v1/messages",
        ("anthropic/x", "https://a.example/v1/"): "https://a.example/v1/messages",
        ("gemini/x", "https://g.example"): "https://g.example/v1beta/models",
        ("gemini/x", "https://g.example/v1beta"): "https://g.example/v1beta/models",
    }
    for (name, base), expected in table.items():
        where = found(name, ALL_KEYS, **{name.partition("/")[0]: Provider(base_url=base)})
        path = "v1/messages" if name.startswith("anthropic") else "v1beta/models"
        assert where.url(path) == expected


def test_the_default_is_the_first_provider_with_a_key():
    assert default_model({}, {}) is None
    assert default_model({"GEMINI_API_KEY": KEY}, {}) == "gemini/gemini-3.8-flash"
    assert default_model({"GEMINI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, {}) == "anthropic/claude-opus-5-5"
    mine = {"corp": Provider(base_url="https://c.example", key_env="CORP_KEY", models={"big": ModelFacts()})}
    assert default_model({"CORP_KEY": KEY}, mine) == "corp/big"
    assert default_model({}, mine) is None


def test_the_small_model_of_the_same_provider():
    assert fast_model("anthropic/claude-opus-5-5", {}) == "anthropic/claude-haiku-5-5"
    assert fast_model("ollama/qwen3:8b", {}) is None


def test_every_provider_says_whether_it_is_ready_and_shows_no_key():
    listed = configured_providers({"ANTHROPIC_API_KEY": KEY}, {"odd": Provider()})
    ready = {status.name for status in listed if status.ready}
    assert ready == {"anthropic", "ollama", "llamacpp", "vllm", "lmstudio", "local"}
    assert {status.variable for status in listed if status.name == "openai"} == {"OPENAI_API_KEY"}
    assert KEY not in repr(listed)


def test_no_repr_shows_a_key():
    model = connect("anthropic/x", providers={}, env=ALL_KEYS, retry=RetryPolicy())
    assert KEY not in repr(model.target)
    assert KEY not in repr(vars(model))


def test_all_rows_are_complete():
    for row in rows().values():
        assert row.label
        assert row.url_env
        if row.platform:
            assert not row.default_model, "a cloud is never chosen unasked"
            continue
        assert base_url_of(row, Provider(), {}).startswith(("https://", "http://127.0.0.1"))
        if not row.local:
            assert row.default_model
            assert row.fast_model
    assert set(ALIASES.values()) <= set(rows())


async def test_a_probe_finds_servers_that_answer_and_nothing_else():
    with ModelServer([], models=("qwen3:8b", "llama")) as server, ModelServer([{"fault": "hang"}]) as silent:
        env = {"OLLAMA_BASE_URL": f"{server.url}/v1", "VLLM_BASE_URL": "http://127.0.0.1:9/v1"}
        env |= {"LMSTUDIO_BASE_URL": f"{silent.url}/_nothing", "LLAMACPP_BASE_URL": "https://far.example/v1"}
        env |= {"LOCAL_MODEL_BASE_URL": "http://far.example/v1"}
        servers = await local_servers(env, {}, timeout_s=2.0)
    assert [(one.provider, one.models) for one in servers] == [("ollama", ("qwen3:8b", "llama"))]


def test_side_queries_follow_the_provider():
    hosted = connect("anthropic/claude-haiku-5-5", providers={}, env=ALL_KEYS)
    assert (hosted.side_query_timeout_s, hosted.side_query_chars) == (15.0, 60_000)
    local = connect("ollama/qwen3:8b", providers={}, env={})
    assert local.side_query_timeout_s >= 120
    assert local.side_query_chars == local.window // 4 * 3
    small = Provider(models={"tiny": ModelFacts(window=4_096)})
    assert connect("ollama/tiny", providers={"ollama": small}, env={}).side_query_chars == 3_072
    corp = {"corp": Provider(base_url="http://localhost:9000/v1"), "far": Provider(base_url="https://llm.example/v1")}
    assert connect("corp/m", providers=corp, env={}).side_query_timeout_s == local.side_query_timeout_s
    assert connect("far/m", providers=corp, env={}).side_query_timeout_s == 15.0
