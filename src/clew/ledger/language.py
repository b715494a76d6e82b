"""The user's language, from the script and the commonest words of what they typed."""

import re
from collections.abc import Iterable

_SAMPLE = 1500
_FADING = 0.9
"""What a message weighs once another has come."""
_WORD = re.compile(r"\b[^\W\d_]+\b")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+|\S*[/\\_.]\w+\S*", re.DOTALL)
_COMMON = {
    "en": "the a an and to of is in it you that for on with this are be as can not please do we i add fix make what",
    "de": "der die das und ist nicht ich du ein eine zu mit auf für den im bitte kann wir auch es sich dass wie dem",
    "fr": "le la les l de d et est pas je tu un une des du que pour dans avec sur ce il nous vous mais ne au comment",
    "es": "el la los las y es no de que un una por para con en se lo como pero está este más hacer quiero al añade",
    "pt": "o os as e é não um uma de à da para com em que se por mas como isso está mais fazer quero você pode ao do",
    "it": "il lo gli e è non un una per con in che si ma come questo questa più fare voglio puoi aggiungi al di",
}
_TABLE = {code: frozenset(words.split()) for code, words in _COMMON.items()}
_TRADITIONAL = frozenset(
    "們個這來時過說對還後點麼為與專檔請刪測試錯應該會將開關設實數據庫變傳種選項進執環現無從動題問檢查畫幫寫讀確認"
)
_SIMPLIFIED = frozenset(
    "们个这来时过说对还后点么为与专档请删测试错应该会将开关设实数据库变传种选项进执环现无从动题问检查画帮写读确认"
)
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
        self._fed = 0

    def feed(self, text: str) -> None:
        """Weigh one message."""
        self._fed += 1
        for code, weight in weigh(text).items():
            self._weights[code] = self._weights.get(code, 0.0) * _FADING + weight

    def before(self, texts: Iterable[str]) -> None:
        """Weigh messages from before all that was fed."""
        earlier = LanguageFold()
        for text in texts:
            earlier.feed(text)
        for code, weight in earlier._weights.items():
            self._weights[code] = self._weights.get(code, 0.0) + weight * _FADING**self._fed

    def language(self, *, default: str = "en") -> str:
        """The language of most weight; `default` when nothing was told."""
        return max(self._weights.items(), key=lambda item: (item[1], item[0] == "en"))[0] if self._weights else default


def weigh(text: str) -> dict[str, float]:
    """How many characters or common words speak for each language, as a share of 20."""
    sample = _CODE.sub(" ", text[:_SAMPLE])
    words = _WORD.findall(sample.lower())[:200]
    common = {code: [word for word in words if word in known] for code, known in _TABLE.items()}
    weights = {
        code: 20 * len(found) / (len(words) + 5)
        for code, found in common.items()
        if code == "en" or len(words) < 4 or len(set(found)) > 1  # one word of another language says little
    }
    if not sample.isascii():
        for code, low, high in _RANGES:
            weights[code] = min(30.0, sum(low <= ord(char) <= high for char in sample) / 2)
        if weights["ja"] and weights["ja"] * 6 >= weights["zh"]:
            weights["ja"] += weights.pop("zh")
        elif weights["zh"] and _is_traditional(sample):
            weights["zh-TW"] = weights.pop("zh")
        if weights["ru"] and set("іїєґ") & set(sample.lower()):
            weights["uk"] = weights.pop("ru")
    return {code: weight for code, weight in weights.items() if weight}


def _is_traditional(sample: str) -> bool:
    chars = set(sample)
    return len(chars & (_TRADITIONAL - _SIMPLIFIED)) > len(chars & (_SIMPLIFIED - _TRADITIONAL))
