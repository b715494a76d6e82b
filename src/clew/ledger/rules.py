"""Standing rules: what the user wants always, never, or from now on, in their own words."""

import re
from collections.abc import Iterable

from clew.ledger.facts import Sources, StandingRule
from clew.ledger.words import sentences

MAX_RULES = 40
_MAX_CHARS = 300

_HINTS = (
    "always", "never", "from now on", "every time", "don't ever", "do not ever", "make sure to", "remember to",
    "in future", "in the future",
    "总是", "總是", "永远", "永遠", "始终", "始終", "从不", "從不", "绝不", "絕不", "从现在", "從現在",
    "以后", "以後", "今后", "今後", "每次",
    "必ず", "常に", "いつも", "決して", "絶対に", "今後", "これから", "毎回",
    "всегда", "никогда", "отныне", "впредь", "каждый раз", "с этого момента", "теперь всегда",
    "siempre", "nunca", "jamás", "a partir de ahora", "de ahora en adelante", "cada vez",
    "immer", "niemals", "nie ", "ab jetzt", "ab sofort", "von nun an", "jedes mal", "künftig", "in zukunft",
    "toujours", "jamais", "désormais", "dorénavant", "à partir de maintenant", "chaque fois",
)  # fmt: skip

# A rule speaks to the agent. "It always fails" or "why does it never stop" report something.
_RULE = re.compile(
    r"""
    (?:^|[,;:.—-]\s*|\b(?:and|but|also|please|so|you\s+(?:should|must|can)|we|und|bitte|et|y|и)\s+)
      (?:always|never)\s+(?!(?:again|worked|works|fails?|been|mind|seen|had|gets?|happens?|returns?|was|were|is)\b)\w
    | \b(?:must|should|shall|you'll)\s+(?:always|never)\b
    | \b(?:do\s+not|don't)\s+ever\b
    | \bfrom\s+now\s+on\b | \bfrom\s+here\s+on\b
    | \bin\s+(?:the\s+)?future,?\s+(?:please|always|never|use|do|don't|run|write|keep)\b
    | \bevery\s+time\s+(?:you|we)\b | \bremember\s+to\s+always\b
    | (?:请|請)?(?:总是|總是|永远|永遠|始终|始終|绝不|絕不|从不|從不)
      (?:要|用|使用|不|在|先|把|会|會|提交|运行|運行|写|寫|加|保持|能|可以|修改|删|刪)
    | (?:从现在|從現在|从今|從今|以后|以後|今后|今後)(?:开始|開始|起)?[,，]?\s*(?:请|請|都|每|不|用|使用|要|所有|你|先)
    | 每次.{0,20}(?:都|要|前|后|後|时|時)
    | (?:必ず|常に|いつも|決して|絶対に).{0,40}(?:ください|こと|しない|ない|なさい|して|使|書|実行|する|ように)
    | (?:今後|これから|毎回)(?:は|、|も).{0,40}(?:ください|こと|して|使|しない)
    | (?:^|[,;:.—-]\s*|\b(?:и|но|пожалуйста|а)\s+)(?:всегда|никогда)\s+(?!раньше|было|не\s+работа|работал|падает)\w
    | \b(?:отныне|впредь|с\s+этого\s+момента)\b | \bкаждый\s+раз[,]?\s+(?:когда\s+ты|перед|после)
    | (?:^|[,;:.¡—-]\s*|\b(?:y|pero|por\s+favor)\s+)(?:siempre|nunca|jamás)\s+(?!ha|había|funciona|falla|fue)\w
    | \b(?:a\s+partir\s+de\s+ahora|de\s+ahora\s+en\s+adelante)\b
    | \b(?:ab\s+jetzt|ab\s+sofort|von\s+nun\s+an|künftig|in\s+zukunft)\b
    | (?:^|[,;:.—-]\s*|\b(?:und|aber|bitte)\s+)(?:immer|nie|niemals)\s+(?!noch|wieder|funktioniert|geklappt)\w
    | \b(?:benutze?|verwende|nutze|schreibe?|mache?|führe|committe|lass)\s+(?:\w+\s+){0,3}(?:immer|nie|niemals)\b
    | \b(?:désormais|dorénavant|à\s+partir\s+de\s+maintenant)\b
    | \bne\s+\w+\s+jamais\b | \bn'\w+\s+jamais\b
    | \b(?:utilise[sz]?|écris|fais|lance[sz]?|mets|garde[sz]?|écrivez|faites)\s+(?:\w+\s+){0,2}toujours\b
    | (?:^|[,;:.—-]\s*|\b(?:et|mais)\s+)toujours\s+(?!pas|en\b|le\s+même)\w
    """,
    re.IGNORECASE | re.VERBOSE,
)


def rules_in(text: str, source: Sources) -> list[StandingRule]:
    """The standing rules in one message; questions hold none."""
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return []
    found: list[StandingRule] = []
    for sentence in sentences(text):
        if sentence.endswith(("?", "？")) or len(sentence) > _MAX_CHARS * 2:
            continue
        if _RULE.search(sentence):
            found.append(StandingRule(text=sentence[:_MAX_CHARS], source=source))
    return found


class RulesFold:
    """Rules in the order they were given, each once."""

    def __init__(self) -> None:
        self._rules: dict[str, StandingRule] = {}

    def feed(self, text: str, source: Sources) -> None:
        """Take the rules of one message of the user."""
        for rule in rules_in(text, source):
            key = rule.text.casefold()
            if key not in self._rules and len(self._rules) < MAX_RULES:
                self._rules[key] = rule

    def before(self, rules: Iterable[StandingRule]) -> None:
        """Rules from before all that was fed."""
        earlier = {rule.text.casefold(): rule for rule in rules}
        self._rules = dict(list((earlier | self._rules).items())[:MAX_RULES])

    def rules(self) -> tuple[StandingRule, ...]:
        """All of them."""
        return tuple(self._rules.values())
