"""Which of the user's words are likelier to bind later work. Only for the order in which they are kept, never for a
verdict: a word too many costs a place, a word too few may cost a rule."""

import re

from clew.ledger.rules import rules_in

_BINDING = re.compile(
    r"\b(?:always|never|must|mustn['’]?t|should|shouldn['’]?t|only|don['’]?t|do\s+not|avoid|without|unless|instead|prefer\w*"
    r"|convention|rule|from\s+now\s+on|every\s+time|keep|no\s+\w+ing|stick\s+to|make\s+sure|remember|important|forbidden)\b"
    r"|\b(?:immer|nie|niemals|nur|nicht|kein\w*|muss|müssen|darf|soll\w*|bitte|stets|künftig|ab\s+jetzt|statt)\b"
    r"|\b(?:toujours|jamais|ne|pas|seulement|uniquement|doit|dois|il\s+faut|désormais|sans|évite\w*|interdit)\b"
    r"|\b(?:siempre|nunca|jamás|no|solo|sólo|debe\w*|hay\s+que|evita\w*|prohibido|sin|a\s+partir\s+de)\b"
    r"|\b(?:sempre|mai|non|soltanto|devi|deve|evita\w*|vietato|não|jamais|apenas|somente|deve\w*|evite\w*|proibido)\b"
    r"|\b(?:altijd|nooit|niet|geen|alleen|moet\w*|vermijd\w*|zawsze|nigdy|nie|tylko|musi\w*|unikaj\w*)\b"
    r"|\b(?:alltid|aldrig|inte|bara|måste|aldri|ikke|bare|altid|kun|aina|älä|vain|vždy|nikdy|pouze|mindig|soha)\b"
    r"|\b(?:всегда|никогда|не|только|долж\w+|нельзя|надо|нужно|впредь|отныне|завжди|ніколи|лише|тільки)\b"
    r"|\b(?:her\s+zaman|asla|sadece|gerek\w*|luôn|không|chỉ|phải|đừng|selalu|jangan|hanya|harus|jamais|πάντα|ποτέ|μόνο)\b"
    r"|总是|總是|永远|永遠|不要|别|別|必须|必須|只能|只要|不得|禁止|务必|務必|以后|以後|今后|今後|每次|不许|不准|始终|始終"
    r"|必ず|常に|いつも|絶対|決して|しない|禁止|のみ|だけ|ください|今後|毎回|こと"
    r"|항상|절대|반드시|마세요|말고|금지|만\s|해야|앞으로|매번"
    r"|دائما|دائمًا|أبدا|أبدًا|لا\s|يجب|فقط|ممنوع|תמיד|לעולם|אסור|רק|חייב|हमेशा|कभी|मत|केवल|सिर्फ|ज़रूर|चाहिए|เสมอ|ห้าม|อย่า|ต้อง",
    re.IGNORECASE,
)


def binding(text: str) -> int:
    """2: a standing rule; 1: words that bind; 0: neither is to be seen."""
    if rules_in(text, ()):
        return 2
    return 1 if _BINDING.search(text) else 0
