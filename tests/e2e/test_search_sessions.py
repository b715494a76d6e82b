"""/search through the real command: words of any session, on the screen and line by line."""

from e2e.command import Serve
from e2e.screen_person import ScreenPerson


def test_words_of_another_session_are_found_and_gone_on_with(serve: Serve) -> None:
    place, _ = serve(
        {"replies": [{"match": "scale", "text": "It rounds up at the cantilever."}], "last": {"text": "ok"}}
    )
    assert place.run("--trust", "-p", "how does the scale round").code == 0
    assert place.run("-p", "something else").code == 0
    person = ScreenPerson(place)
    try:
        person.sees("F1")
        person.type("/search cantilever\r")
        person.sees("Sessions that hold these words")
        person.sees("rounds up at the cantilever")
        person.type("\r")
        person.sees("▌ how does the scale round")
    finally:
        person.leave()


def test_two_projects_of_one_name_are_told_apart(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": "fine"}})
    home = place.project.parent
    for folder in ("north/parcels", "south/parcels"):
        place.project = home / folder
        place.project.mkdir(parents=True)
        assert place.run("--trust", "-p", f"hello {folder}").code == 0
    person = ScreenPerson(place)
    try:
        person.sees("F1")
        person.type("/sessions\r")
        person.sees("Resume a session")
        person.sees("north/parcels")
        person.sees("south/parcels")
    finally:
        person.leave()
