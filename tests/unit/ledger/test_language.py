"""The user's language from what they typed."""

import pytest

from clew.ledger.language import LanguageFold
from unit.ledger.talk import Talk


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please fix the failing test in `src/a.py` and push it", "en"),
        ("请修复登录页面的错误", "zh"),
        ("請幫我檢查一下 go.mod 裡面的版本", "zh-TW"),
        ("ログイン画面のバグを直してください", "ja"),
        ("Исправь ошибку в парсере, пожалуйста", "ru"),
        ("Bitte mach den Test wieder grün, er ist nicht stabil", "de"),
        ("split handlers.py into one module per handler", "en"),
        ("Adicione paginação à lista de clientes", "pt"),
        ("Comment réduire la taille de l'image Docker ?", "fr"),
        ("Corrige le test qui échoue dans le module, s'il te plaît", "fr"),
        ("Corrige la prueba que falla en el módulo de pagos, por favor", "es"),
        ("로그인 버그를 고쳐 주세요", "ko"),
        ("أصلح الخطأ في صفحة الدخول", "ar"),
        ("", "en"),
        ("```\nпривет\n```", "en"),
    ],
)
def test_detect(text: str, language: str) -> None:
    fold = LanguageFold()
    fold.feed(text)
    assert fold.language() == language


def test_a_nod_has_no_language() -> None:
    assert Talk().user("Set x to 2").agent("Shall I?").user("y").ledger().language == "en"
    assert Talk().user("y").ledger().language != "en", "unless it is all there is"


def test_a_letter_beside_a_digit_is_no_word() -> None:
    fold = LanguageFold()
    fold.feed("Run the full e2e suite")
    assert fold.language() == "en"
