"""The fixed words of a recap, in the languages it speaks."""

from clew.orient.phrase_form import ENGLISH, Phrases
from clew.orient.phrases_east import CHINESE, CHINESE_TW, JAPANESE
from clew.orient.phrases_more import ITALIAN, KOREAN, PORTUGUESE
from clew.orient.phrases_west import FRENCH, GERMAN, RUSSIAN, SPANISH

__all__ = ["Phrases", "phrases", "speaks"]

_TABLE = {
    "en": ENGLISH,
    "zh": CHINESE,
    "zh-TW": CHINESE_TW,
    "ja": JAPANESE,
    "ru": RUSSIAN,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "it": ITALIAN,
    "ko": KOREAN,
}


def phrases(language: str) -> Phrases:
    """The words of a language; English where we have none."""
    return _TABLE.get(language, ENGLISH)


def speaks(language: str) -> bool:
    """Whether we have words of our own for it."""
    return language in _TABLE
