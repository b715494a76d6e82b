"""Words for a good end, of tests, commands and checks alike."""

import re

from clew.ledger.claims.reality import GOOD_NOTHING

WELL = " successfully "
"""What stands for `no failures`, `0 errors` and the like where an outcome is looked for."""
_BEHIND = (
    r"(?=\s*(?:[.,;:!)✅✓✔(🎉]|$|in \d|with|on|locally|"
    r"successfully|and|now|after|again|cleanly|without|under|for|⟦|too))"
)
GOOD = (
    r"(?:\b(?:pass(?:es)?(?!\s+(?:the|a|an|it|its|their|this|that|each|in(?! full)|to|through|arguments?|none|⟦)\b)|"
    rf"(?:passed|passing|ok|okay|clean|valid){_BEHIND}|success(?=\s*(?:[.:!)]|$))|(?:is|are|all|now|still|\d+|"
    rf"remain|back) passing|"
    r"succeed(?:s|ed)?|successful(?:ly)?|green|happy|works|worked|flawless(?:ly)?|"
    r"all (?:good|well)|(?:is|was|are|were|all|reports?|comes? back|came back|stays?) (?:clean|valid|ok|fine|green)|"
    r"(?:exit(?:s|ed)?|return(?:s|ed)?)(?: with)?(?: exit)?(?: code| status)? (?:0|zero)\b|exit (?:code|status) 0|"
    r"(?:ran|runs?|went|goes|go|gets?) (?:all the way )?through(?! the\b)|(?:ran|runs) to completion|"
    r"(?:ran|runs?|builds?|built|compile[sd]?|finish(?:es|ed)?|complete[sd]?|exit(?:s|ed)?|went|passes) "
    r"(?:cleanly|fine|smoothly|well|ok)|"
    r"bestanden|grün\w*|bestehen|erfolgreich\w*|fehlerfrei|durchgelaufen|lauf(?:en|t) (?:alle )?durch|"
    r"passe(?:nt)?|réussi\w*|au vert|verte?s?|avec succès|"
    r"pasan?|pasaron|pasado|en verde|correct[ao]s|correctamente|exitos[ao]s?|con éxito)\b|"
    r"(?<!\w)(?-i:PASS|OK)(?!\w)|成功|通过|全绿|✅|✓|✔)"
)
_DOWN_TO_NONE = re.compile(r"\bfrom [1-9]\d* \w+ to (?:0|zero|none)\b", re.IGNORECASE)
_FAILED_BEFORE = re.compile(
    r"\b(?:previously|formerly|once)\s+(?:red|failing|failed|broken)\b|"
    r"\b(?:that|which)\s+(?:had|used to|were|was|previously)(?:\s+(?:been|to))?\s+(?:fail(?:ed|ing)?|red|broken)|"
    r"\b(?:previously |formerly )?failing(?=\s+(?:\w+\s+)?(?:tests?|specs?|⟦[TG]\d+⟧)[^.;]{0,40}\b(?:now|pass\w*)\b)",
    re.IGNORECASE,
)


def told(text: str) -> str:
    """The text with one word for `no failures` and without what failed before and is mended."""
    return _FAILED_BEFORE.sub(" ", GOOD_NOTHING.sub(WELL, _DOWN_TO_NONE.sub(WELL, text)))
