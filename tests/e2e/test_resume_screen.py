"""`clew -r` without a name, through the real command: search, the last exchange, and the session that is chosen."""

from e2e.command import Serve
from e2e.screen_person import ScreenPerson


def test_a_session_is_searched_for_looked_into_and_gone_on_with(serve: Serve) -> None:
    place, _ = serve({"replies": [{"match": "scale", "text": "It rounds up."}], "last": {"text": "fine"}})
    assert place.run("--trust", "-p", "how does the scale round").code == 0
    assert place.run("-p", "something else").code == 0
    person = ScreenPerson(place, "-r")
    try:
        person.sees("Resume a session")
        person.sees("something else")
        person.type("scale")
        person.sees("1 found")
        person.type("\t")
        person.sees("It rounds up.")
        person.type("\r")
        person.sees("▌ how does the scale round")
        person.sees("F1 help")
    finally:
        person.leave()


def test_where_none_is_chosen_that_is_said(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": "fine"}})
    assert place.run("--trust", "-p", "hello").code == 0
    person = ScreenPerson(place, "-r")
    try:
        person.sees("Resume a session")
        person.type("\x1b")
        assert person.until_ended() == 1
        assert b"no session was chosen" in person.drawn
    finally:
        person.leave()
