"""Azure OpenAI: a resource of one's own, whose deployments stand for models."""

from collections.abc import Mapping

from clew.config.schema import Provider
from clew.llm.models.providers import Dialect, ProviderRow
from clew.llm.models.target import Endpoint
from clew.llm.platforms.base import Need, Placement, lacking, own_address, required, segment, spoken

ADDRESS = Need(what="the address of your resource", variables=("AZURE_OPENAI_ENDPOINT",), setting="baseUrl")
VERSION = Need(
    what="a version",
    variables=("OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"),
    setting="apiVersion",
    pattern=r"[A-Za-z0-9.-]+",
    default="v1",
)
OWN_PATHS = ("/openai/v1", "/openai")
"""What people leave at the end of the address they copy."""


def placed(row: ProviderRow, model: str, override: Provider, env: Mapping[str, str]) -> Placement:
    """`model` is the name of a deployment. Without a dated version the v1 API is used, which names it in the body."""
    base_url = own_address(row, override, env) or required(ADDRESS, "", row, env)
    for path in OWN_PATHS:
        base_url = base_url.removesuffix(path)
    version = required(VERSION, override.api_version, row, env)
    dialect = spoken(row, override, ("openai-responses", "openai-chat")) or row.dialect
    return Placement(base_url=base_url, dialect=dialect, endpoint=endpoint_of(dialect, model, version))


def endpoint_of(dialect: Dialect, deployment: str, version: str) -> Endpoint:
    """With a dated version, chat goes to the deployment's own path; Responses names it in the body, as v1 does."""
    method = "chat/completions" if dialect == "openai-chat" else "responses"
    if version == "v1":
        path = f"openai/v1/{method}"
    elif dialect == "openai-chat":
        path = f"openai/deployments/{segment(deployment)}/{method}?api-version={version}"
    else:
        path = f"openai/{method}?api-version={version}"
    return Endpoint(whole=path, stream=path)


def lacks(row: ProviderRow, override: Provider, env: Mapping[str, str]) -> tuple[str, ...]:
    """What must be set besides the key."""
    return lacking(((ADDRESS, own_address(row, override, env)),), row, env)
