"""What both front ends say about a call that waits for a person."""

from clew.presentation.approval_text import Bounds, cautions, is_cut, origin, untold_arguments, usual_offers
from clew.protocol.events import ApprovalRequested, RuleOffer
from clew.protocol.ids import CallId, RequestId
from clew.protocol.messages import ToolCallPart


def asks(subject: str, warnings: tuple[str, ...] = ()) -> ApprovalRequested:
    return ApprovalRequested(
        request_id=RequestId("q"), call_id=CallId("c"), tool="Bash", subject=subject, why="w", warnings=warnings
    )


def call(**arguments: object) -> ToolCallPart:
    return ToolCallPart(id=CallId("c"), name="Bash", arguments=arguments)


def test_arguments_that_the_subject_tells_are_not_told_again() -> None:
    given = call(path="/a b", other="/c", flag=True, empty="")
    assert untold_arguments(asks("write /a b"), given) == [("other", "/c"), ("flag", "true")]
    assert untold_arguments(asks("write /a b"), None) == []


def test_cautions_come_once_and_name_what_they_are_about() -> None:
    found = cautions(asks("ls \u200b", ("it deletes", "it deletes")), [("note", "\x1b")], Bounds())
    assert found[0] == "it deletes"
    assert found.count("it deletes") == 1
    assert any(text.startswith("the text holds invisible") for text in found)
    assert any(text.startswith("note holds control characters") for text in found)


def test_what_is_cut_is_known() -> None:
    bounds = Bounds(subject_chars=5, argument_chars=3, arguments=1)
    assert is_cut(asks("123456"), [], bounds)
    assert is_cut(asks("1"), [("a", "1234")], bounds)
    assert is_cut(asks("1"), [("a", "1"), ("b", "1")], bounds)
    assert not is_cut(asks("12345"), [("a", "123")], bounds)


def test_of_the_rules_for_one_part_the_narrowest_is_usual() -> None:
    offers = tuple(RuleOffer(rule=rule, covers=covers) for rule, covers in (("A", "x"), ("B", "y"), ("AA", "x")))
    assert usual_offers(offers) == [0, 1]


def test_who_asks() -> None:
    assert origin("", "m") == "the main agent, model m"
    assert origin("", "") == "the main agent"
    assert origin('main > worker "count\u202e"', "m") == 'main > worker "count\\u{202E}", model m'
