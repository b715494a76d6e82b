"""A new definition from a description: the prompt in a model's words where one can be asked, else a skeleton."""

import msgspec
from msgspec import Struct

from clew.orient.side_query import SideQueries, SideQuery
from clew.prompts.memory import visible
from clew.skills.definitions import one_line

PURPOSE = "agent-draft"
MAX_OUTPUT_TOKENS = 1_200
MAX_DESCRIPTION_CHARS = 1_000
_ASK = (
    "You write the system prompt of a coding agent's helper: an agent that gets one task in its first message, works "
    "through tools in a code base, and whose last message is its report. Write it from the description below, in at "
    "most 250 words of plain Markdown, addressed to the helper as 'you': its role in one sentence, how it works in "
    "three to seven short points, what it must not do, and what its report holds. Answer with the prompt alone: no "
    "front matter, no code fence, no remarks."
)
_SKELETON = """You {description}

- The first message is your whole task. Do that and nothing beside it.
- (How you work: write it here.)
- (What you must not do: write it here.)
- Your last message is the report, and all that is read: the result first, then the evidence as `path:line`.
"""


class DraftedKind(Struct, frozen=True, kw_only=True):
    """The text of a definition's file, and who worded it."""

    name: str
    description: str
    text: str
    model: str = ""
    why: str = ""
    """Why no model worded it; empty: one did."""


async def draft(name: str, description: str, queries: SideQueries) -> DraftedKind:
    """The definition of a new kind. A model gives the prompt only; every field is ours."""
    about = one_line(description)[:MAX_DESCRIPTION_CHARS]
    asked = f"Name: {name}\nDescription: {about}"
    query = SideQuery(purpose=PURPOSE, system=_ASK, text=asked, max_output_tokens=MAX_OUTPUT_TOKENS)
    words = await queries.ask(query) if queries.available else None
    prompt = _prompt(words or "")
    if prompt:
        return DraftedKind(name=name, description=about, text=_file(name, about, prompt), model=queries.model_name)
    why = queries.why_none if queries.available else "no fast model can be asked"
    skeleton = _SKELETON.format(description=about[:1].lower() + about[1:])
    return DraftedKind(name=name, description=about, text=_file(name, about, skeleton), why=why)


def _prompt(words: str) -> str:
    """The model's words without a fence around them and without what people do not see."""
    text = visible(words).strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0].strip()
    return "" if text.startswith("---") else text


def _file(name: str, about: str, prompt: str) -> str:
    described = msgspec.json.encode(about).decode()
    return f"---\nname: {name}\ndescription: {described}\n---\n{prompt.strip()}\n"
