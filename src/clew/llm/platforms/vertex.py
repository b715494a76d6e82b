"""Google Vertex AI: Gemini in its own dialect and Claude in Anthropic's, below a project and a location."""

from collections.abc import Mapping

from clew.config.schema import Provider
from clew.llm.models.providers import ProviderRow
from clew.llm.models.target import Endpoint
from clew.llm.platforms.base import PLACE, Need, Placement, lacking, own_address, required, segment, spoken

CLAUDE_VERSION = "vertex-2023-10-16"
MULTI_REGIONS = ("us", "eu")
PROJECT = Need(
    what="a project",
    variables=("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"),
    setting="project",
    pattern=r"[A-Za-z0-9][A-Za-z0-9.:_-]*",
)
LOCATION = Need(
    what="a location",
    variables=("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"),
    setting="location",
    pattern=PLACE,
    default="global",
)


def placed(row: ProviderRow, model: str, override: Provider, env: Mapping[str, str]) -> Placement:
    """The publisher follows from the model's name: Claude speaks Anthropic's dialect, all others Gemini's."""
    project = required(PROJECT, override.project, row, env)
    location = required(LOCATION, override.location, row, env)
    base_url = own_address(row, override, env) or f"https://{host_of(location)}"
    parent = f"projects/{segment(project, safe=':')}/locations/{location}/publishers"
    wanted = spoken(row, override, ("gemini", "anthropic"))
    if wanted == "anthropic" or (wanted is None and model.lower().startswith("claude")):
        # Claude's ids carry their date behind an @, which stands in a path as it is.
        path = f"v1/{parent}/anthropic/models/{segment(model, safe='@')}"
        endpoint = Endpoint(
            whole=f"{path}:rawPredict",
            stream=f"{path}:streamRawPredict",
            opening=(("anthropic_version", CLAUDE_VERSION),),
        )
        return Placement(base_url=base_url, dialect="anthropic", endpoint=endpoint)
    path = f"v1beta1/{parent}/google/models/{segment(model)}"
    endpoint = Endpoint(whole=f"{path}:generateContent", stream=f"{path}:streamGenerateContent?alt=sse")
    return Placement(base_url=base_url, dialect="gemini", endpoint=endpoint)


def host_of(location: str) -> str:
    """One host for the whole world, one for each multi-region, one for each region."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in MULTI_REGIONS:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def lacks(row: ProviderRow, override: Provider, env: Mapping[str, str]) -> tuple[str, ...]:
    """What must be set besides the token."""
    return lacking(((PROJECT, override.project), (LOCATION, override.location)), row, env)
