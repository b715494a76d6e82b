"""An edit that waits for a yes, through the real command: the file's own lines with their numbers."""

from e2e.command import Serve
from e2e.screen_person import ScreenPerson


def test_an_edit_is_shown_with_the_lines_around_it(serve: Serve) -> None:
    edit = {"file_path": "weights.py", "old_string": "line 12", "new_string": "line twelve"}
    script = [
        {"calls": [{"call": "Read", "arguments": {"file_path": "weights.py"}}]},
        {"calls": [{"call": "Edit", "arguments": edit}]},
        {"text": "fine"},
    ]
    place, _ = serve({"replies": script, "last": {"text": "fine"}})
    (place.project / "weights.py").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    person = ScreenPerson(place)
    try:
        person.sees("F1")
        person.type("change it\r")
        person.sees("Allow Edit?")
        person.sees("│  9   line 9")
        person.sees("│ 12 − line 12")
        person.sees("│ 12 + line twelve")
        person.sees("│ write weights.py")
    finally:
        person.leave()
