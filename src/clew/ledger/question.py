"""The agent's open question: what it asked last and nobody answered."""

import re
from typing import Any, cast

from clew.ledger.calls import as_object
from clew.ledger.facts import Said, Sources
from clew.ledger.words import sentences

_LAST = 6
_MAX_CHARS = 300
_COURTESY = re.compile(
    r"anything else|any (?:other )?questions|further (?:help|assistance)|let me know|how can I (?:help|assist)|"
    r"what would you like (?:me )?to (?:do|work on)(?: next| today)?|"
    r"make sense|sound good|还有(?:什么|其他)|還有(?:什麼|其他)|"
    r"需要(?:我)?(?:其他|别的)|他に(?:何か|ご)|что-нибудь ещё|"
    r"чем (?:ещё )?(?:могу )?помочь|"
    r"noch etwas|algo más|autre chose|what'?s next",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"^(?:so,?\s+|if so,?\s+|or\s+)?(?:would you like(?: me)? to|do you want(?: me)? to|want me to|shall I|"
    r"should I|may I|can I|is it ok(?:ay)? (?:if I|to)|"
    r"would you prefer(?: me)? to|ready for me to)\s+(?P<act>.+?)\?*$",
    re.IGNORECASE,
)


_OTHERWISE = re.compile(
    r",?\s+or\s+(?:would\s+you\s+(?:rather|prefer)(?:\s+to)?|should\s+I|do\s+you\s+want(?:\s+me)?\s+to)\s+",
    re.IGNORECASE,
)
"""The second half of an offer put as a question of its own."""


def open_question(texts: list[tuple[str, Sources]]) -> Said | None:
    """The last real question in the closing sentences of the agent's last words."""
    if not texts:
        return None
    text, source = texts[-1]
    tail = text[-2500:]
    if "?" not in tail and "？" not in tail and "؟" not in tail:
        return None
    closing = sentences(tail, limit=200)[-_LAST:]
    for sentence in reversed(closing):
        if not sentence.endswith(("?", "？", "؟")) or _COURTESY.search(sentence):
            continue
        words = sentence.split()
        if len(words) < 3 and len(sentence) < 8:
            continue
        return Said(text=sentence[:_MAX_CHARS], source=source)
    return None


def offered_act(question: str) -> str:
    """What the agent offers to do, from "Would you like me to ...?"; "" for any other question."""
    found = _OFFER.match(question.strip())
    return _OTHERWISE.sub(" or ", found.group("act")).strip(" ?") if found else ""


def asked_by_tool(arguments: dict[str, Any], source: Sources) -> Said | None:
    """The question of an AskUserQuestion call."""
    listed = arguments.get("questions")
    if isinstance(listed, list):
        for value in cast("list[object]", listed):
            item = as_object(value) or {}
            if isinstance(item.get("question"), str):
                return Said(text=item["question"][:_MAX_CHARS], source=source)
    text = arguments.get("question")
    return Said(text=text[:_MAX_CHARS], source=source) if isinstance(text, str) and text else None
