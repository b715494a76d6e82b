"""The user's language, from the script and the commonest words of what they typed."""

import re

_SAMPLE = 1500
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+|\S*[/\\_.]\w+\S*", re.DOTALL)

_STOPWORDS = {
    "en": "the and to of is in it you that for on with this are be can not please do we i add fix make what how "
    "should from a an all "
    "run use update so have write why",
    "de": "der die das und ist nicht ich du ein eine zu mit auf für den im bitte kann wir auch es sich dass wie "
    "aber noch soll mach "
    "warum wenn alle von werden",
    "fr": "le la les et est pas je tu un une des du que pour dans avec sur ce il nous vous s'il fais mais aussi "
    "ne au qui comment "
    "pourquoi faire veux peux toujours jamais",
    "es": "el la los las y es no de que un una por para con en se lo como pero está este esta más hacer quiero "
    "puedes añade siempre "
    "nunca cuando porque corrige falla también",
    "pt": "o os as e é não um uma para com em que se por mas como isso está este esta mais fazer quero você pode "
    "adicione sempre "
    "nunca do da no na ao",
    "it": "il lo gli e è non un una per con in che si ma come questo questa più fare voglio puoi aggiungi sempre "
    "mai del della di",
}
_TABLE: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _STOPWORDS.items()}
_TRADITIONAL = frozenset(
    "們個這來時過說對還後點麼為與專檔請刪測試錯應該會將開關設實數據據庫變傳種選項進執環現無從動題問檢查畫幫寫讀確認優"
)
_SIMPLIFIED = frozenset(
    "们个这来时过说对还后点么为与专档请删测试错应该会将开关设实数据库变传种选项进执环现无从动题问检查画帮写读确认优"
)
_UKRAINIAN = frozenset("іїєґІЇЄҐ")
_RANGES = (
    ("ja", 0x3040, 0x30FF),
    ("zh", 0x3400, 0x9FFF),
    ("ko", 0xAC00, 0xD7AF),
    ("ru", 0x0400, 0x04FF),
    ("ar", 0x0600, 0x06FF),
    ("he", 0x0590, 0x05FF),
    ("el", 0x0370, 0x03FF),
    ("hi", 0x0900, 0x097F),
    ("th", 0x0E00, 0x0E7F),
)


class LanguageFold:
    """Weights per language, added up over the user's messages."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}

    def feed(self, text: str) -> None:
        """Weigh one message."""
        for code, weight in weigh(text).items():
            self._weights[code] = self._weights.get(code, 0.0) * 0.9 + weight

    def language(self) -> str:
        """The language of most weight; English when nothing was told."""
        if not self._weights:
            return "en"
        return max(self._weights.items(), key=lambda item: (item[1], item[0]))[0]


def detect(text: str) -> str:
    """The language of one text."""
    fold = LanguageFold()
    fold.feed(text)
    return fold.language()


def weigh(text: str) -> dict[str, float]:
    """How much speaks for each language, between 0 and about 30."""
    sample = _CODE.sub(" ", text[:_SAMPLE])
    if sample.isascii():
        return _weigh_latin(sample.lower(), 1.0)
    counts: dict[str, int] = {}
    for char in sample:
        code_point = ord(char)
        if code_point < 0x0370:
            continue
        for code, low, high in _RANGES:
            if low <= code_point <= high:
                counts[code] = counts.get(code, 0) + 1
                break
    weights = _weigh_latin(sample.lower(), 1.0)
    for code, count in _merged(counts, sample).items():
        weights[code] = min(30.0, count / 2) + 1
    return weights


def _merged(counts: dict[str, int], sample: str) -> dict[str, int]:
    """Kana decide for Japanese, traditional forms for Taiwan and Hong Kong, four letters for Ukrainian."""
    merged = dict(counts)
    kana, han = merged.get("ja", 0), merged.get("zh", 0)
    if kana and kana * 6 >= han:
        merged["ja"] = kana + han
        merged.pop("zh", None)
    elif han:
        merged.pop("ja", None)
        chars = set(sample)
        if len(chars & _TRADITIONAL - _SIMPLIFIED) > len(chars & _SIMPLIFIED - _TRADITIONAL):
            merged["zh-TW"] = merged.pop("zh")
    if merged.get("ru") and _UKRAINIAN & set(sample):
        merged["uk"] = merged.pop("ru")
    return merged


def _weigh_latin(sample: str, factor: float) -> dict[str, float]:
    words = _WORD.findall(sample)[:200]
    if not words:
        return {}
    weights: dict[str, float] = {}
    for code, known in _TABLE.items():
        hits = sum(word in known for word in words)
        if hits:
            weights[code] = min(20.0, hits * factor * 20 / (len(words) + 5))
    if not weights and len(words) >= 2:
        weights["en"] = 0.5
    return weights


_NAMED = re.compile(r"`[^`]*`|[\w./-]*[\w-]\.[A-Za-z]{1,5}\b")
"""Code and files have no language."""


def spoken(text: str, language: str) -> bool:
    """The text is in that language; either way of writing Chinese counts as one, any Latin script as English."""
    if language == "en":
        letters = [char for char in text if char.isalpha()]
        return sum(map(str.isascii, letters)) * 2 >= len(letters)
    found = detect(_NAMED.sub(" ", text))
    return found == language or (found.startswith("zh") and language.startswith("zh"))
