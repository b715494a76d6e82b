"""Prompts that a full window or the provider refused are not in the way, and receipts say what `/context` says."""

import base64
import json
import re
from pathlib import Path

from e2e.command import Place, Serve
from e2e.compaction_lab import Lab, fill, text_of, words

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OFF = {"compaction": {"auto": False}}


def size(lab: Lab) -> int:
    """What `/context` says."""
    out = lab.clew("-p", "/context", "-c", "--output-format", "json", "--model", "ollama/small", "--trust")
    return json.loads(out)["context"]["tokens"]


def figure(text: str) -> int:
    """The tokens in what `/context` shows."""
    found = re.search(r"([\d,]+) (?:of [\d,]+ )?tokens", text)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_prompts_that_were_refused_for_want_of_room_do_not_pile_up(tmp_path: Path) -> None:
    with Lab(tmp_path, settings=OFF) as lab:
        person = lab.start()
        fill(lab, person, 5, tokens=900)
        lab.turn(person, f"ask900 {words(300)}")
        person.leave()
        once = size(lab)
        person = lab.start("--continue")
        for number in range(901, 905):
            shown = lab.turn(person, f"ask{number} {words(300)}")
            assert "/compact" in shown
        person.leave()
        assert size(lab) < once + 60, "the newest took the place of the others"
        person = lab.start("--continue")
        lab.last = {"text": "fine"}
        lab.ask(person, "/compact fast", r"cleared|Not compacted|no old outputs|Cleared")
        lab.ask(person, "/compact", r"Compacted \(manual\)")
        lab.turn(person, "ask905 and now")
        sent = text_of(lab.asked[-1].request)
        assert "ask905" in sent
        assert "ask904" in sent, "what was asked last and never sent is not lost"
        assert "ask901" not in sent


def test_a_paste_that_never_fitted_does_not_refuse_what_comes_after_it(tmp_path: Path) -> None:
    with Lab(tmp_path, settings=OFF) as lab:
        person = lab.start()
        lab.last = {"text": "fine"}
        lab.turn(person, "ask000 hello")
        before = len(lab.asked)
        lab.turn(person, f"ask001 {words(9_000)}")
        assert len(lab.asked) == before, "it was not sent"
        lab.turn(person, "ask002 something short")
        assert len(lab.asked) == before + 1
        sent = text_of(lab.asked[-1].request)
        assert "ask002" in sent
        assert "ask001" not in sent


def test_the_receipt_and_context_say_the_same_to_the_digit(tmp_path: Path) -> None:
    with Lab(tmp_path, window=16_000) as lab:
        person = lab.start()
        fill(lab, person, 6)
        for command, until in (("/compact", r"Compacted \(manual\): [^\n]*"), ("/clear", r"The window is empty")):
            before = lab.ask(person, "/context", r"Room is made by itself[^\n]*\n")
            lab.ask(person, command, until)
            receipt = lab.events("compaction.ended")[-1]
            after = lab.ask(person, "/context", r"Room is made by itself[^\n]*\n")
            figures = [figure(text) for text in (before, after)]
            assert [receipt["tokens_before"], receipt["tokens_after"]] == figures
            fill(lab, person, 1)


REFUSED = {"fault": "status", "status": 400, "message": "Output blocked by content filtering policy"}


def test_a_prompt_that_the_provider_refuses_does_not_refuse_what_comes_after_it(serve: Serve) -> None:
    poison = [{"match": "swordfish", **REFUSED}] * 3
    place, server = serve({"replies": [{"text": "hello"}, *poison], "last": {"text": "fine"}})
    assert place.run("-p", "hi").out == "hello\n"
    assert "content filtering" in place.run("-c", "-p", "swordfish").err
    done = place.run("-c", "-p", "something else")
    assert (done.code, done.out) == (0, "fine\n")
    assert place.run("-c", "-p", "and now").out == "fine\n"
    last = str(server.requests[-1].body["messages"])
    assert "something else" in last
    assert "swordfish" not in last
    assert len(server.requests) == 5, "once with it, then never again"


def test_what_was_left_out_in_vain_is_in_the_view_again(serve: Serve) -> None:
    """An account that is empty is refused as well, and no prompt is to blame for it."""
    broke = {"fault": "status", "status": 400, "message": "Your credit balance is too low"}
    place, server = serve({"replies": [{"text": "hello"}, broke, broke, broke], "last": {"text": "fine"}})
    place.run("-p", "hi")
    assert place.run("-c", "-p", "mend the roof").code == 1
    done = place.run("-c", "-p", "go on")
    assert done.code == 1
    assert "credit balance" in done.err
    assert place.run("-c", "-p", "I have paid, go on").out == "fine\n"
    assert "mend the roof" in str(server.requests[-1].body["messages"])


READ = {"calls": [{"call": "Read", "arguments": {"file_path": "poison.txt"}}]}
"""The fake's reply does not hold the word, so that only the result does."""


def poisoned(place: Place) -> None:
    (place.project / "poison.txt").write_text("swordfish\n")
    (place.project / "fine.txt").write_text("haddock\n")


def test_a_result_that_the_provider_refuses_is_left_out_and_the_turn_goes_on(serve: Serve) -> None:
    poison = [{"match": "swordfish", **REFUSED}] * 3
    place, server = serve({"replies": [{"text": "hello"}, READ, *poison], "last": {"text": "fine"}})
    poisoned(place)
    assert place.run("-p", "hi").out == "hello\n"
    done = place.run("-c", "-p", "read it")
    assert (done.code, done.out) == (0, "fine\n")
    last = json.dumps(server.requests[-1].body["messages"])
    assert "swordfish" not in last
    assert "left out" in last
    assert "content filtering" in last, "the model is told why"
    assert len(server.requests) == 4, "hello, the call, the refusal, the answer"
    assert place.run("-c", "-p", "and now").out == "fine\n"
    assert len(server.requests) == 5


def test_a_refused_result_deep_in_a_turn_blocks_neither_the_turn_nor_the_next_prompt(serve: Serve) -> None:
    fine = {"calls": [{"call": "Read", "arguments": {"file_path": "fine.txt"}}]}
    poison = [{"match": "swordfish", **REFUSED}] * 8
    place, server = serve({"replies": [fine, fine, READ, READ, *poison], "last": {"text": "fine"}})
    poisoned(place)
    stopped = place.run("-p", "read all of it")
    assert "content filtering" in stopped.err, "it read the same once more: one try in a turn is enough"
    done = place.run("-c", "-p", "go on without it")
    assert (done.code, done.out) == (0, "fine\n")
    last = json.dumps(server.requests[-1].body["messages"])
    assert "swordfish" not in last
    assert "haddock" in last, "what was read before is still there"


def test_a_picture_that_the_provider_cannot_read_is_left_out_in_the_middle_of_a_turn(serve: Serve) -> None:
    refused = {"fault": "status", "status": 400, "message": "invalid image: could not process image"}
    shot = {"calls": [{"call": "Read", "arguments": {"file_path": "shot.png"}}]}
    place, server = serve(
        {
            "replies": [shot, {"match": '"type":"image"', **refused}, {"match": '"type": "image"', **refused}],
            "last": {"text": "fine"},
        }
    )
    (place.project / "shot.png").write_bytes(PNG)
    done = place.run("-p", "look at it")
    assert (done.code, done.out) == (0, "fine\n")
    assert '"image"' not in json.dumps(server.requests[-1].body["messages"])
    assert place.run("-c", "-p", "and now").out == "fine\n"


def test_results_that_were_left_out_in_vain_are_in_the_view_again(serve: Serve) -> None:
    broke = {"fault": "status", "status": 400, "message": "Your credit balance is too low"}
    place, server = serve({"replies": [READ, broke, broke], "last": {"text": "fine"}})
    poisoned(place)
    assert "credit balance" in place.run("-p", "read it").err
    assert place.run("-c", "-p", "I have paid, go on").out == "fine\n"
    assert "swordfish" in json.dumps(server.requests[-1].body["messages"])


def test_a_prompt_that_the_provider_found_too_long_does_not_refuse_what_comes_after_it(serve: Serve) -> None:
    too_long = [{"match": "swordfish", "fault": "prompt_too_long"}] * 12
    place, server = serve({"replies": [{"text": "hello"}, *too_long], "last": {"text": "fine"}})
    assert place.run("-p", "hi").out == "hello\n"
    assert place.run("-c", "-p", "swordfish").code == 1
    done = place.run("-c", "-p", "something else")
    assert (done.code, done.out) == (0, "fine\n")
    assert "swordfish" not in json.dumps(server.requests[-1].body["messages"])
