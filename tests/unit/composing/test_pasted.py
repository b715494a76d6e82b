"""Long pastes: folded, whole again when sent, and what happens to a token that was touched."""

from hypothesis import given
from hypothesis import strategies as st

from clew.composing.pasted import MAX_KEPT_CHARS, Pastes, as_pasted, is_long, is_showable
from fakes.effort import calls_in

LONG = "\n".join(f"line {number}" for number in range(4812))


def test_a_long_paste_is_one_token_and_whole_when_sent() -> None:
    pastes = Pastes()
    token = pastes.fold(LONG)
    assert token == "[pasted #1: 4,812 lines]"
    assert pastes.expand(f"look: {token} why?") == f"look: {LONG} why?"
    assert pastes.fold("x" * 5000) == "[pasted #2: 5,000 characters]"


def test_the_same_text_is_kept_once() -> None:
    pastes = Pastes()
    assert pastes.fold(LONG) == pastes.fold(LONG)
    assert len(pastes) == 1


def test_a_token_that_was_edited_or_typed_by_hand_is_only_text() -> None:
    pastes = Pastes()
    pastes.fold(LONG)
    for text in ("[pasted #1: 4,812 line]", "[pasted #1: 9 lines]", "[pasted #2: 4,812 lines]", "[pasted #1"):
        assert pastes.expand(text) == text


def test_a_paste_that_holds_a_token_is_not_unfolded_twice() -> None:
    pastes = Pastes()
    first = pastes.fold(LONG)
    second = pastes.fold(f"{first}\n" * 20)
    assert pastes.expand(second) == f"{first}\n" * 20


def test_a_range_that_touches_a_token_takes_all_of_it() -> None:
    pastes = Pastes()
    line = f"ab {pastes.fold(LONG)} cd"
    end = 3 + len("[pasted #1: 4,812 lines]")
    assert pastes.widened(line, end - 1, end) == (3, end)
    assert pastes.widened(line, 1, 5) == (1, end)
    assert pastes.widened(line, 0, 3) == (0, 3)
    assert pastes.widened(line, end, end + 1) == (end, end + 1)


def test_what_cannot_be_kept_is_told_in_words_that_are_no_token() -> None:
    pastes = Pastes()
    told = pastes.told(f"see {pastes.fold(LONG)}")
    assert told == "see (4,812 lines of pasted text, not kept)"
    assert pastes.expand(told) == told


def test_a_draft_of_another_session_gets_tokens_of_this_one() -> None:
    before, now = Pastes(), Pastes()
    text = f"a {before.fold(LONG)}"
    now.fold("something else\n" * 20)
    here = now.adopt(text, before.used(text))
    assert here == "a [pasted #2: 4,812 lines]"
    assert now.expand(here) == f"a {LONG}"


def test_memory_is_bounded_and_the_newest_paste_stays() -> None:
    pastes = Pastes()
    tokens = [pastes.fold(str(number) * (MAX_KEPT_CHARS // 2)) for number in range(4)]
    assert len(pastes) <= 2
    assert pastes.expand(tokens[-1])[0] == "3"
    assert pastes.expand(tokens[0]) == tokens[0]


def test_what_is_folded() -> None:
    assert not is_long("a short\npaste")
    assert is_long("x" * 1001)
    assert is_long("\n" * 10)
    assert is_long("red \x1b[31m text"), "a terminal would obey it"
    assert is_long("hidden \u202e text")
    assert not is_showable("x" * 20_001)
    assert not is_showable("x" * 4001)
    assert is_showable("x\n" * 9000)


def test_line_ends_and_lone_surrogates_become_ours() -> None:
    assert as_pasted("a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert as_pasted("a\ud800b😀") == "a\ufffdb😀"


def test_five_megabytes_cost_no_more_steps_than_five_lines() -> None:
    def work(text: str) -> int:
        pastes = Pastes()
        return calls_in(lambda: pastes.expand(f"x {pastes.fold(as_pasted(text))} y"))

    assert work("some words\r" * 500_000) <= work("some words\r" * 5) + 50  # beside it the collector may run


@given(st.lists(st.text(min_size=1, max_size=40), max_size=5), st.text(max_size=20))
def test_folding_and_unfolding_gives_the_same_text(parts: list[str], between: str) -> None:
    pastes = Pastes()
    between = between.replace("[", "(")
    folded = between.join(pastes.fold(part) for part in parts)
    assert pastes.expand(folded) == between.join(parts)
