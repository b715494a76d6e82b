"""Amazon Bedrock: Claude in Anthropic's dialect, signed by region; older models behind AWS's own framing."""

import re
from collections.abc import Mapping

from clew.config.schema import Provider
from clew.llm.models.providers import ProviderRow
from clew.llm.models.target import Endpoint, Secret
from clew.llm.platforms.base import PLACE, Need, Placement, lacking, own_address, required, segment, spoken

INVOKE_VERSION = "bedrock-2023-05-31"
MESSAGES_VERSION = "2023-06-01"
REGION = Need(what="a region", variables=("AWS_REGION", "AWS_DEFAULT_REGION"), setting="location", pattern=PLACE)
DATED = r".*-v\d+(?::\d+)?|arn:.*"
"""Ids with a version of their own, and profiles by ARN, are known to InvokeModel; newer ids to the Messages API."""


def placed(row: ProviderRow, model: str, override: Provider, env: Mapping[str, str]) -> Placement:
    """Which of the two ways follows from the model's id."""
    spoken(row, override, ("anthropic",))
    region = required(REGION, override.location, row, env)
    base_url = own_address(row, override, env) or f"https://bedrock-runtime.{region}.amazonaws.com"
    parts = tuple(
        Secret(value)
        for variable in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        if (value := env.get(variable, "").strip())
    )
    if re.fullmatch(DATED, model) is None:
        path = "anthropic/v1/messages"
        headers = (("anthropic-version", MESSAGES_VERSION),)
        endpoint = Endpoint(whole=path, stream=path)
    else:
        path = f"model/{segment(model, safe=':')}"
        headers = (("accept", "*/*"),)
        endpoint = Endpoint(
            whole=f"{path}/invoke",
            stream=f"{path}/invoke-with-response-stream",
            opening=(("anthropic_version", INVOKE_VERSION),),
            says_stream=False,
            framing="aws-event-stream",
        )
    return Placement(
        base_url=base_url, dialect="anthropic", endpoint=endpoint, headers=headers, region=region, key_parts=parts
    )


def lacks(row: ProviderRow, override: Provider, env: Mapping[str, str]) -> tuple[str, ...]:
    """What must be set besides the key."""
    found = lacking(((REGION, override.location),), row, env)
    half = env.get("AWS_ACCESS_KEY_ID", "").strip() and not env.get("AWS_SECRET_ACCESS_KEY", "").strip()
    if half and not env.get("AWS_BEARER_TOKEN_BEDROCK", "").strip() and not override.auth.command:
        found = (*found, "the secret of AWS_ACCESS_KEY_ID: set AWS_SECRET_ACCESS_KEY")
    return found
