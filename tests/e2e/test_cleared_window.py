"""/clear through the real command: the screen says where the new window begins, and /rewind reaches behind it."""

from e2e.command import Serve
from e2e.screen_person import ScreenPerson


def test_prompts_from_before_a_clear_are_listed_and_gone_back_to(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": "fine"}})
    person = ScreenPerson(place)
    try:
        person.sees("F1")
        person.type("alpha first\r")
        person.sees_word("fine")
        person.type("beta second\r")
        person.until(lambda: sum(row.strip() == "fine" for row in person.rows) == 2)
        person.type("/clear\r")
        person.sees("a new window begins here")
        person.type("gamma third\r")
        person.sees("▌ gamma third")
        person.until(lambda: sum(row.strip() == "fine" for row in person.rows) == 3)
        person.type("/rewind\r")
        person.sees("/clear emptied the window here")
        person.sees("1  alpha first")
        person.sees("3  gamma third")
        person.type("beta\r")
        person.sees("Brings back what was in the window before /clear")
        person.type("c")
        person.until(lambda: not any("gamma third" in row for row in person.rows))
        person.sees("▌ alpha first")
    finally:
        person.leave()
