"""Providers as rows of data: dialect, address, keys, and what is peculiar about each."""

from functools import cache
from typing import Literal

from msgspec import Struct

Dialect = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Auth = Literal["x-api-key", "bearer", "x-goog-api-key", "api-key", "aws-sigv4"]
Framing = Literal["sse", "aws-event-stream"]
Platform = Literal["", "vertex", "azure", "bedrock"]
EffortStyle = Literal["", "reasoning_effort", "reasoning", "thinking", "enable_thinking"]


class Quirks(Struct, frozen=True, kw_only=True):
    """Where an OpenAI-compatible server differs from the others. Decoding is lenient by itself; this steers encoding.

    Reading needs no quirks: ids missing or repeated, arguments as object or string, usage early, late, repeated or
    absent, and reasoning under any of its names are all understood from every server.
    """

    system_role: str = "system"
    max_tokens_field: str = "max_tokens"
    stream_usage: bool = True
    """Ask for usage in the stream; servers that send it anyway may refuse the question."""
    echo_reasoning: str = ""
    """Field that carries reasoning back with its message; empty: never send it."""
    effort_style: EffortStyle = "reasoning_effort"
    """How effort is asked for: a word, OpenRouter's object, a `thinking` switch with a word, or a plain switch."""
    parallel_calls: bool | None = None
    """Value of `parallel_tool_calls`; None: leave the server's default."""
    id_length: int = 0
    """Exact length of alphanumeric call ids that the server insists on; 0: up to 64 of [A-Za-z0-9_-]."""
    object_arguments: bool = False
    """History carries call arguments as an object instead of a string."""
    json_schema: Literal["", "json_object", "json_schema"] = "json_schema"
    files: bool = False
    """Takes documents as `file` parts."""
    think_tags: bool = False
    """Reasoning may arrive inside the text as <think>…</think>."""
    cache_breakpoints: bool = False
    """Passes `cache_control` through to models that know it."""
    text_calls: bool = False
    """A reply that is only a call written as text is taken as the call: small models and their templates do that."""
    reasoning_summary: str = ""
    """Responses API: ask for summaries of this kind. OpenAI refuses the question to unverified organisations."""


class Patience(Struct, frozen=True, kw_only=True):
    """How long a server of this kind may take."""

    begin_s: float = 300.0
    """Silence before the reply begins."""
    side_query_s: float = 15.0
    """A whole side query."""


SLOW = Patience(begin_s=600.0, side_query_s=180.0)
"""A machine of one's own may have to load the model first, and reads a long prompt at a hundred tokens a second."""


class ProviderRow(Struct, frozen=True, kw_only=True):
    """One provider."""

    name: str
    dialect: Dialect
    base_url: str
    label: str = ""
    url_env: tuple[str, ...] = ()
    """Variables that override the base URL, first one set wins."""
    keys: tuple[tuple[str, Auth], ...] = ()
    """Variables that hold a key and how each is sent, first one set wins; none: no key is needed."""
    key_optional: bool = False
    platform: Platform = ""
    """Serves other vendors' dialects at addresses of its own; `llm/platforms/` knows them. Never chosen unasked: people
    have the logins of these clouds for other reasons."""
    command_auth: Auth | None = None
    """How a key that a command prints is sent; None: as that of the first variable."""
    local: bool = False
    """Usually on this machine: no price, small default window, may be probed."""
    headers: tuple[tuple[str, str], ...] = ()
    quirks: Quirks = Quirks()
    patience: Patience = Patience()
    default_model: str = ""
    fast_model: str = ""


def _compatible(
    name: str,
    base_url: str,
    key: str,
    quirks: Quirks,
    *,
    label: str,
    model: str = "",
    fast: str = "",
    more_keys: tuple[str, ...] = (),
) -> ProviderRow:
    stem = key.removesuffix("_API_KEY")
    return ProviderRow(
        name=name,
        dialect="openai-chat",
        base_url=base_url,
        label=label,
        url_env=(f"{stem}_BASE_URL",),
        keys=tuple((variable, "bearer") for variable in (key, *more_keys)),
        quirks=quirks,
        default_model=model,
        fast_model=fast,
    )


def _local(name: str, port: int, stem: str, *, label: str) -> ProviderRow:
    return ProviderRow(
        name=name,
        dialect="openai-chat",
        base_url=f"http://127.0.0.1:{port}/v1",
        label=label,
        url_env=(f"{stem}_BASE_URL",),
        keys=((f"{stem}_API_KEY", "bearer"),),
        key_optional=True,
        local=True,
        quirks=Quirks(think_tags=True, effort_style="", echo_reasoning="reasoning_content", text_calls=True),
        patience=SLOW,
    )


@cache
def rows() -> dict[str, ProviderRow]:
    """All built-in providers by name, in the order in which a default is looked for."""
    table = (
        ProviderRow(
            name="anthropic",
            dialect="anthropic",
            base_url="https://api.anthropic.com",
            label="Anthropic",
            url_env=("ANTHROPIC_BASE_URL",),
            keys=(("ANTHROPIC_API_KEY", "x-api-key"), ("ANTHROPIC_AUTH_TOKEN", "bearer")),
            headers=(("anthropic-version", "2023-06-01"),),
            default_model="claude-opus-5-5",
            fast_model="claude-haiku-5-5",
        ),
        ProviderRow(
            name="openai",
            dialect="openai-responses",
            base_url="https://api.openai.com/v1",
            label="OpenAI",
            url_env=("OPENAI_BASE_URL",),
            keys=(("OPENAI_API_KEY", "bearer"),),
            quirks=Quirks(system_role="developer", max_tokens_field="max_completion_tokens", files=True),
            default_model="gpt-6.1-sol",
            fast_model="gpt-6-luna",
        ),
        ProviderRow(
            name="gemini",
            dialect="gemini",
            base_url="https://generativelanguage.googleapis.com",
            label="Google Gemini",
            url_env=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
            keys=(("GEMINI_API_KEY", "x-goog-api-key"), ("GOOGLE_API_KEY", "x-goog-api-key")),
            default_model="gemini-3.8-flash",
            fast_model="gemini-3.8-flash",
        ),
        _compatible(
            "openrouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            Quirks(effort_style="reasoning", echo_reasoning="reasoning_details", files=True, cache_breakpoints=True),
            label="OpenRouter",
            model="anthropic/claude-sonnet-5.5",
            fast="openai/gpt-6-luna",
        ),
        _compatible(
            "deepseek",
            "https://api.deepseek.com",
            "DEEPSEEK_API_KEY",
            Quirks(effort_style="thinking", echo_reasoning="reasoning_content", json_schema="json_object"),
            label="DeepSeek",
            model="deepseek-v4-pro",
            fast="deepseek-v4-flash",
        ),
        _compatible(
            "dashscope",
            "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            "DASHSCOPE_API_KEY",
            Quirks(effort_style="enable_thinking", json_schema="json_object"),
            label="Alibaba Model Studio (Qwen)",
            model="qwen3.7-max",
            fast="qwen3.7-plus",
            more_keys=("QWEN_API_KEY",),
        ),
        _compatible(
            "moonshot",
            "https://api.moonshot.ai/v1",
            "MOONSHOT_API_KEY",
            Quirks(echo_reasoning="reasoning_content"),
            label="Moonshot (Kimi)",
            model="kimi-k3",
            fast="kimi-k2.6",
            more_keys=("KIMI_API_KEY",),
        ),
        _compatible(
            "zai",
            "https://api.z.ai/api/paas/v4",
            "ZAI_API_KEY",
            Quirks(effort_style="thinking", echo_reasoning="reasoning_content", json_schema="json_object"),
            label="Z.ai (GLM)",
            model="glm-5.3",
            fast="glm-5.3-flash",
            more_keys=("Z_AI_API_KEY", "ZHIPU_API_KEY"),
        ),
        _compatible(
            "mistral",
            "https://api.mistral.ai/v1",
            "MISTRAL_API_KEY",
            Quirks(stream_usage=False, id_length=9, effort_style=""),
            label="Mistral",
            model="mistral-large-latest",
            fast="mistral-small-latest",
        ),
        _compatible(
            "groq",
            "https://api.groq.com/openai/v1",
            "GROQ_API_KEY",
            Quirks(max_tokens_field="max_completion_tokens"),
            label="Groq",
            model="openai/gpt-oss-120b",
            fast="openai/gpt-oss-20b",
        ),
        _compatible(
            "xai",
            "https://api.x.ai/v1",
            "XAI_API_KEY",
            Quirks(max_tokens_field="max_completion_tokens"),
            label="xAI (Grok)",
            model="grok-4.7",
            fast="grok-4.3",
        ),
        _compatible(
            "cerebras",
            "https://api.cerebras.ai/v1",
            "CEREBRAS_API_KEY",
            # `reasoning` comes in a field of its own and is not taken back; unknown fields are answered with a 400.
            Quirks(max_tokens_field="max_completion_tokens", think_tags=True),
            label="Cerebras",
            model="gpt-oss-120b",
            fast="gpt-oss-120b",
        ),
        ProviderRow(
            name="vertex",
            dialect="gemini",
            base_url="",
            label="Google Vertex AI",
            platform="vertex",
            url_env=("VERTEX_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"),
            keys=(("GOOGLE_OAUTH_ACCESS_TOKEN", "bearer"), ("CLOUDSDK_AUTH_ACCESS_TOKEN", "bearer")),
        ),
        ProviderRow(
            name="azure",
            dialect="openai-responses",
            base_url="",
            label="Azure OpenAI",
            platform="azure",
            url_env=("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL"),
            keys=(("AZURE_OPENAI_API_KEY", "api-key"), ("AZURE_OPENAI_AD_TOKEN", "bearer")),
            command_auth="bearer",
            quirks=Quirks(system_role="developer", max_tokens_field="max_completion_tokens"),
        ),
        ProviderRow(
            name="bedrock",
            dialect="anthropic",
            base_url="",
            label="Amazon Bedrock",
            platform="bedrock",
            url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "ANTHROPIC_BEDROCK_BASE_URL"),
            keys=(("AWS_BEARER_TOKEN_BEDROCK", "bearer"), ("AWS_ACCESS_KEY_ID", "aws-sigv4")),
        ),
        _local("ollama", 11434, "OLLAMA", label="Ollama"),
        _local("llamacpp", 8080, "LLAMACPP", label="llama.cpp server"),
        _local("vllm", 8000, "VLLM", label="vLLM"),
        _local("lmstudio", 1234, "LMSTUDIO", label="LM Studio"),
        _local("local", 8080, "LOCAL_MODEL", label="A server on this machine"),
    )
    return {row.name: row for row in table}


ALIASES = {
    "claude": "anthropic",
    "google": "gemini",
    "qwen": "dashscope",
    "kimi": "moonshot",
    "glm": "zai",
    "zhipu": "zai",
    "grok": "xai",
    "llama.cpp": "llamacpp",
    "llama-cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "vertexai": "vertex",
    "azure-openai": "azure",
    "aws": "bedrock",
}
"""Other names that people use for a row."""

CLOUD_LOGINS = frozenset({"GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN", "AWS_ACCESS_KEY_ID"})
"""Logins of a whole cloud, of which models are the smallest part: commands get them where the user says so."""
