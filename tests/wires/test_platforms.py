"""Vertex AI, Azure OpenAI and Bedrock: the vendors' SDKs must build the same requests, and replies must be read."""

import json
import warnings
from typing import Any, NamedTuple

import anthropic
import httpx2
import msgspec
import openai
import pytest
from anthropic._models import FinalRequestOptions
from anthropic.lib.bedrock._client import _prepare_options
from anthropic.lib.vertex import AnthropicVertex
from google import genai
from google.oauth2.credentials import Credentials

from clew.config.schema import ModelFacts, Provider
from clew.llm.errors import LLMError, MissingCredential, RateLimited, StreamBroken, UnknownModel
from clew.llm.models.connect import configured_providers, default_model, key_variables, target_of
from clew.llm.models.profiles import profile_of
from clew.llm.models.target import Target
from clew.llm.remote import RemoteModel
from clew.llm.reply import reply_of
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy
from clew.llm.wires.registry import wire_for
from clew.protocol.messages import ToolCallPart, UserMessage
from fakes.event_frames import chunk, exception
from fakes.model_server import ModelServer
from wires.support import KEY, READ, Sleeps, ask, call, collect, failure, result, said

VERTEX = {"GOOGLE_OAUTH_ACCESS_TOKEN": KEY, "GOOGLE_CLOUD_PROJECT": "my-proj", "GOOGLE_CLOUD_LOCATION": "us-east5"}
AZURE = {"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/"}
BEDROCK = {"AWS_BEARER_TOKEN_BEDROCK": KEY, "AWS_REGION": "eu-central-1"}
SIGNED = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s" * 40, "AWS_REGION": "eu-central-1"}
DATED = "2025-04-01-preview"
CHAT = {"azure": Provider(dialect="openai-chat")}


class Sent(NamedTuple):
    """A request, as far as both sides decide it."""

    url: str
    body: dict[str, Any]
    auth: str


def conversation(model: str) -> ModelRequest:
    """Words, a call, its result, words: whatever the platforms might say differently."""
    history = (said("I look.", call("call_1", file_path="a.py"), model=model), result("call_1", "text"))
    return ask("hi", history[0], UserMessage(content=(history[1],)), tools=(READ,), max_output_tokens=100, effort="low")


def ours(target: Target, *, stream: bool, request: ModelRequest | None = None) -> Sent:
    encoded = wire_for(target.dialect).encode(request or conversation(target.name), target, stream=stream)
    headers = dict(target.auth_headers())
    return Sent(encoded.url, msgspec.json.decode(encoded.body), headers.get("authorization") or headers["api-key"])


def recorder() -> tuple[list[Sent], httpx2.Client]:
    """A client of the SDKs that sends nothing anywhere."""
    seen: list[Sent] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        auth = request.headers.get("api-key") or request.headers.get("authorization", "")
        seen.append(Sent(str(request.url), json.loads(request.content), auth))
        return httpx2.Response(418, json={"error": {"message": "enough"}})

    return seen, httpx2.Client(transport=httpx2.MockTransport(answer))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("location", ["us-east5", "global", "eu", "us"])
def test_claude_on_vertex_is_asked_as_its_sdk_asks(location: str, stream: bool):
    target = target_of(
        "vertex/claude-sonnet-4-5@20250929", providers={}, env=VERTEX | {"GOOGLE_CLOUD_LOCATION": location}
    )
    mine = ours(target, stream=stream)
    seen, client = recorder()
    sdk = AnthropicVertex(region=location, project_id="my-proj", access_token=KEY, http_client=client, max_retries=0)
    with pytest.raises(anthropic.APIStatusError):
        sdk.messages.create(**_for_sdk(mine.body, "claude-sonnet-4-5@20250929"))
    assert seen == [mine]
    assert mine.body["anthropic_version"] == "vertex-2023-10-16"
    assert mine.url.endswith(":streamRawPredict" if stream else ":rawPredict")


def _for_sdk(body: dict[str, Any], model: str) -> Any:
    """The SDK gets the words of the dialect, and the version that older servers know too."""
    kept = {name: value for name, value in body.items() if name != "anthropic_version"}
    return kept | {"model": model, "extra_body": {"anthropic_version": body["anthropic_version"]}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("location", ["us-central1", "global", "eu"])
def test_gemini_on_vertex_is_asked_as_its_sdk_asks(location: str, stream: bool):
    target = target_of("vertex/gemini-3.8-flash", providers={}, env=VERTEX | {"GOOGLE_CLOUD_LOCATION": location})
    mine = ours(target, stream=stream)
    seen, client = recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK warns about its own arguments
        sdk = genai.Client(
            vertexai=True,
            project="my-proj",
            location=location,
            credentials=Credentials(token=KEY),
            http_options=genai.types.HttpOptions(httpx_client=client),
        )
        config: Any = {
            "system_instruction": {"parts": mine.body["systemInstruction"]["parts"]},
            "tools": mine.body["tools"],
            "max_output_tokens": 100,
            "thinking_config": mine.body["generationConfig"]["thinkingConfig"],
        }
        asking: Any = {"model": "gemini-3.8-flash", "contents": mine.body["contents"], "config": config}
        method = sdk.models.generate_content_stream if stream else sdk.models.generate_content
        with pytest.raises(genai.errors.APIError):
            list(method(**asking))
    (theirs,) = seen
    assert (mine.url, mine.auth) == (theirs.url, theirs.auth)
    assert _levelled(mine.body) == _levelled(theirs.body)


def _levelled(value: Any) -> Any:
    """The SDK spells three things its own way, which mean the same to protobuf: names of fields with underscores,
    levels in capitals, and a role for what the system says."""
    if isinstance(value, dict):
        plain = {_camel(name): _levelled(item) for name, item in value.items() if name != "role" or item != "user"}
        if isinstance(plain.get("thinkingLevel"), str):
            plain["thinkingLevel"] = plain["thinkingLevel"].lower()
        return plain
    return [_levelled(item) for item in value] if isinstance(value, list) else value


def _camel(name: str) -> str:
    known = {"include_thoughts", "thinking_level", "parameters_json_schema", "function_declarations"}
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest) if name in known else name


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("version", ["", DATED])
@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_azure_is_asked_as_the_sdk_asks(dialect: str, version: str, stream: bool):
    settings = Provider(dialect=msgspec.convert(dialect, type=Any), api_version=version)
    target = target_of("azure/gpt-5-mini", providers={"azure": settings}, env=AZURE)
    mine = ours(target, stream=stream)
    seen, client = recorder()
    if version:
        sdk: openai.OpenAI = openai.AzureOpenAI(
            azure_endpoint="https://res.openai.azure.com",
            api_version=version,
            api_key=KEY,
            http_client=client,
            max_retries=0,
        )
    else:
        base = "https://res.openai.azure.com/openai/v1"
        sdk = openai.OpenAI(base_url=base, api_key=KEY, http_client=client, max_retries=0)
    fields: Any = mine.body
    with pytest.raises(openai.APIStatusError):
        sdk.chat.completions.create(**fields) if dialect == "openai-chat" else sdk.responses.create(**fields)
    (theirs,) = seen
    assert (mine.url, mine.body) == (theirs.url, theirs.body)
    assert mine.auth == KEY
    assert theirs.auth.removeprefix("Bearer ") == KEY


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-opus-4-6-v1",
        "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-6",
    ],
)
def test_bedrocks_invoke_is_asked_as_the_sdk_asks(model: str, stream: bool):
    mine = ours(target_of(f"bedrock/{model}", providers={}, env=BEDROCK), stream=stream)
    fields = _for_sdk(mine.body, model)
    theirs = _prepare_options(
        FinalRequestOptions(
            method="post",
            url="/v1/messages",
            json_data={name: value for name, value in fields.items() if name != "extra_body"}
            | fields["extra_body"]
            | {"stream": stream},
        )
    )
    assert mine.url == f"https://bedrock-runtime.eu-central-1.amazonaws.com{theirs.url}"
    assert mine.body == theirs.json_data
    assert mine.body["anthropic_version"] == "bedrock-2023-05-31"
    assert "stream" not in mine.body
    assert "model" not in mine.body


def test_newer_models_of_bedrock_are_asked_in_the_dialects_own_way():
    target = target_of("bedrock/anthropic.claude-opus-4-8", providers={}, env=BEDROCK)
    mine = ours(target, stream=True)
    assert mine.url == "https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic/v1/messages"
    assert (mine.body["model"], mine.body["stream"]) == ("anthropic.claude-opus-4-8", True)
    assert ("anthropic-version", "2023-06-01") in target.headers


PLATFORMS = {
    "vertex claude": ("vertex/claude-sonnet-4-5@20250929", VERTEX, {}),
    "vertex gemini": ("vertex/gemini-3.8-flash", VERTEX, {}),
    "azure responses": ("azure/gpt-5-mini", AZURE, {}),
    "azure chat": ("azure/gpt-5-mini", AZURE | {"OPENAI_API_VERSION": DATED}, CHAT),
    "bedrock invoke": ("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", SIGNED, {}),
    "bedrock messages": ("bedrock/anthropic.claude-opus-4-8", SIGNED, {}),
}


def at(server: ModelServer, kind: str, **env: str) -> RemoteModel:
    """The model of a platform whose host is the fake server."""
    name, facts, providers = PLATFORMS[kind]
    here = dict.fromkeys(("VERTEX_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"), server.url)
    target = target_of(name, providers=providers, env=facts | here | env)
    return RemoteModel(target, RetryPolicy(), sleep=Sleeps(), random=lambda: 0.0, now_s=lambda: 0.0)


@pytest.mark.parametrize("kind", PLATFORMS)
async def test_replies_are_read_streamed_and_whole(kind: str):
    reply = {"parts": [{"text": "Grüße"}, {"call": "Read", "arguments": {"file_path": "a.py"}}], "usage": {"input": 7}}
    with ModelServer([reply, reply]) as server:
        model = at(server, kind)
        streamed, whole = reply_of(await collect(model, ask("hi", tools=(READ,)))), await model.complete(ask("hi"))
        await model.close()
    assert [type(part) for part in streamed.parts] == [type(part) for part in whole.parts]
    read = next(part for part in streamed.parts if isinstance(part, ToolCallPart))
    assert (read.name, read.arguments) == ("Read", {"file_path": "a.py"})
    assert streamed.stop_reason == whole.stop_reason == "tool_use"
    assert streamed.usage is not None
    assert streamed.usage.input_tokens == 7


async def test_a_signed_request_names_what_it_signs_and_never_the_secret():
    with ModelServer([{"text": "hi"}]) as server:
        model = at(server, "bedrock invoke", AWS_SESSION_TOKEN="session-token-0123456789")
        await collect(model, ask("hi"))
        await model.close()
    (request,) = server.requests
    assert "Credential=AKIDEXAMPLE/" in request.headers["authorization"]
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "session-token-0123456789"
    assert "s" * 40 not in json.dumps(request.headers) + request.raw.decode()
    assert "x-api-key" not in request.headers


async def test_a_failure_inside_bedrocks_stream_is_told_as_what_it_is():
    started = chunk({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 1}}})
    body = started + exception("throttlingException", "Too many tokens")
    raw = {"body": body, "content_type": "application/vnd.amazon.eventstream"}
    with ModelServer([raw] * 10) as server:
        error = await failure(at(server, "bedrock invoke"), ask("hi"))
    assert isinstance(error, RateLimited)
    assert "Too many tokens" in str(error)


async def test_a_damaged_stream_is_asked_for_again():
    damaged = bytearray(chunk({"type": "message_start", "message": {"id": "m"}}))
    damaged[20] ^= 1
    raw = {"body": bytes(damaged), "content_type": "application/vnd.amazon.eventstream"}
    with ModelServer([raw, {"text": "whole"}]) as server:
        model = at(server, "bedrock invoke")
        reply = reply_of(await collect(model, ask("hi")))
        await model.close()
    assert len(server.requests) == 2
    assert reply.stop_reason == "end_turn"


async def test_an_event_stream_where_none_is_due_is_not_taken_for_a_reply():
    raw = {"body": "data: {}\n\n", "content_type": "text/event-stream"}
    with ModelServer([raw]) as server:
        error = await failure(at(server, "bedrock invoke"), ask("hi"))
    assert "text/event-stream" in str(error)
    assert not isinstance(error, StreamBroken)


@pytest.mark.parametrize(
    ("name", "env", "words"),
    [
        ("vertex/gemini-3.8-flash", {"GOOGLE_OAUTH_ACCESS_TOKEN": KEY}, "GOOGLE_CLOUD_PROJECT"),
        ("vertex/gemini-3.8-flash", {"GOOGLE_CLOUD_PROJECT": "p"}, "GOOGLE_OAUTH_ACCESS_TOKEN"),
        ("vertex/gemini-3.8-flash", VERTEX | {"GOOGLE_CLOUD_LOCATION": "evil.example/x?"}, "not a location"),
        ("vertex/gemini-3.8-flash", VERTEX | {"GOOGLE_CLOUD_PROJECT": "../../x"}, "not a project"),
        ("azure/gpt", {"AZURE_OPENAI_API_KEY": KEY}, "AZURE_OPENAI_ENDPOINT"),
        ("azure/gpt", AZURE | {"OPENAI_API_VERSION": "1&x=2"}, "not a version"),
        ("bedrock/anthropic.claude-opus-4-8", {"AWS_BEARER_TOKEN_BEDROCK": KEY}, "AWS_REGION"),
        ("bedrock/anthropic.claude-opus-4-8", BEDROCK | {"AWS_REGION": "a.b"}, "not a region"),
        ("bedrock/anthropic.claude-opus-4-8", {"AWS_REGION": "eu-west-1"}, "AWS_BEARER_TOKEN_BEDROCK"),
    ],
)
def test_what_is_missing_is_named(name: str, env: dict[str, str], words: str):
    with pytest.raises(MissingCredential, match=words):
        target_of(name, providers={}, env=env)


async def test_half_of_awss_keys_is_told_before_anything_is_sent():
    env = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_REGION": "eu-west-1"}
    (status,) = [one for one in configured_providers(env, {}) if one.name == "bedrock"]
    assert not status.ready
    assert "AWS_SECRET_ACCESS_KEY" in " ".join(status.lacks)
    model = RemoteModel(target_of("bedrock/x-v1", providers={}, env=env), RetryPolicy())
    error = await failure(model, ask("hi"))
    assert isinstance(error, MissingCredential)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [("vertex/x", "openai-chat"), ("azure/x", "anthropic"), ("azure/x", "gemini"), ("bedrock/x-v1", "openai-chat")],
)
def test_a_dialect_that_a_platform_is_not_asked_in_is_refused(name: str, dialect: Any):
    providers = {name.partition("/")[0]: Provider(dialect=dialect)}
    with pytest.raises(UnknownModel, match="dialect may be"):
        target_of(name, providers=providers, env=VERTEX | AZURE | BEDROCK)


def test_a_cloud_without_a_model_is_told_how_to_name_one():
    with pytest.raises(UnknownModel, match="write vertex/MODEL"):
        target_of("vertex", providers={}, env=VERTEX)


@pytest.mark.parametrize("name", ["vertex/..", "vertex/.", "bedrock/...-v1", "azure/.."])
def test_a_model_cannot_walk_up_the_path(name: str):
    env = VERTEX | AZURE | BEDROCK | {"OPENAI_API_VERSION": DATED}
    try:
        target = target_of(name, providers=CHAT, env=env)
    except UnknownModel:
        return
    assert "/../" not in ours(target, stream=True).url.replace("%2F", "/")


@pytest.mark.parametrize("model", ["a/b", "a?x=1", "a#b", "a b", "ü"])
def test_a_models_name_stays_one_segment(model: str):
    url = ours(target_of(f"vertex/{model}", providers={}, env=VERTEX), stream=False).url
    assert url.startswith("https://us-east5-aiplatform.googleapis.com/v1beta1/projects/my-proj/locations/us-east5/")
    assert url.count("/") == 11
    assert "?" not in url
    assert url.isascii()


def test_settings_place_a_provider_too_and_go_before_the_clouds_variables():
    mine = Provider(project="other", location="europe-west1")
    target = target_of("vertex/gemini-3.8-flash", providers={"vertex": mine}, env=VERTEX)
    assert target.base_url == "https://europe-west1-aiplatform.googleapis.com"
    assert "/projects/other/locations/europe-west1/" in target.endpoint.whole
    moved = Provider(base_url="https://gate.corp.example/vertex", project="p")
    assert target_of("vertex/x", providers={"vertex": moved}, env=VERTEX).base_url == "https://gate.corp.example/vertex"
    short = Provider(base_url="res.openai.azure.com/openai/v1/")
    assert (
        target_of("azure/d", providers={"azure": short}, env={"AZURE_OPENAI_API_KEY": KEY}).address(
            "responses", stream=True
        )
        == "https://res.openai.azure.com/openai/v1/responses"
    )


def test_a_cloud_is_never_chosen_unasked():
    """People have these logins for other reasons."""
    everything = VERTEX | AZURE | BEDROCK | SIGNED
    assert default_model(everything, {}) is None
    named = {"azure": Provider(models={"prod": ModelFacts()})}
    assert default_model(everything, named) == "azure/prod"


def test_logins_of_a_whole_cloud_are_the_users_to_pass_on_and_keys_of_models_are_not():
    names = key_variables({})
    assert {"AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "CEREBRAS_API_KEY"} <= names
    assert not {"AWS_ACCESS_KEY_ID", "GOOGLE_OAUTH_ACCESS_TOKEN"} & names


def test_platform_names_of_claude_have_its_profile():
    plain = profile_of("claude-sonnet-4-5")
    for name in (
        "claude-sonnet-4-5@20250929",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ):
        assert profile_of(name) == plain, name


async def test_a_deployment_that_is_not_there_is_told():
    with ModelServer([{"fault": "status", "status": 404, "message": "The API deployment does not exist"}]) as server:
        error = await failure(at(server, "azure chat"), ask("hi"))
    assert isinstance(error, LLMError)
    assert "deployment does not exist" in str(error)


async def test_azures_first_chunk_without_choices_is_no_reply():
    chunks = [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"id": "c", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 1}},
    ]
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
    with ModelServer([{"body": body, "content_type": "text/event-stream"}]) as server:
        model = at(server, "azure chat")
        reply = reply_of(await collect(model, ask("hi")))
        await model.close()
    assert reply.stop_reason == "end_turn"
    assert reply.usage is not None
    assert server.requests[0].path == f"/openai/deployments/gpt-5-mini/chat/completions?api-version={DATED}"
    assert server.requests[0].headers["api-key"] == KEY
    assert "authorization" not in server.requests[0].headers
