"""Compaction through the real command: what the server received and what the file holds, not what clew says of itself."""

import re
from pathlib import Path
from typing import Any

from e2e.compaction_lab import Lab, good, text_of, tokens_of
from fakes.fault_script import Place
from fakes.model_server import Recorded

Json = dict[str, Any]
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
LONG = "some words of a long answer "


def words(count: int, about: str = LONG) -> str:
    """About so many tokens."""
    return (about * (count * 4 // len(about) + 1))[: count * 4]


def fill(lab: Lab, person: Any, turns: int, tokens: int = 700) -> None:
    """Turns until the window is well used; each prompt has a word of its own."""
    begin = len(lab.asked)
    for number in range(begin, begin + turns):
        lab.last = {"text": f"say{number:03d} {words(tokens)}"}
        lab.turn(person, f"ask{number:03d} please explain")


def test_cp1_a_boundary_is_written_before_the_request_that_relies_on_it(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start()
        fill(lab, person, 2)
        lab.last = {"text": f"say777 {words(3_000)}"}
        lab.turn(person, "ask777 now the long one")
        lines: list[list[str]] = []

        def look(request: Recorded) -> Json:
            lines.append([entry.get("subtype", entry["type"]) for entry in lab.entries()])
            return good(request)

        lab.summariser = look
        lab.last = {"text": "fine", "hold": Place("before", 0, "asked")}
        person.say("ask778 go on")
        person.wait(lambda: "asked" in lab.server.reached, "the request")
        entries = lab.entries()
        kinds = [entry.get("subtype", entry["type"]) for entry in entries]
        assert kinds.count("compact_boundary") == 1
        assert all("compact_boundary" not in seen for seen in lines)
        assert lines
        (boundary,) = lab.boundaries()
        assert boundary["compactMetadata"]["trigger"] == "auto"
        sent = text_of(lab.asked[-1].request)
        assert "ask778" in sent
        assert "say000" not in sent
        assert tokens_of(lab.asked[-1].request) < tokens_of(lab.asked[-2].request) + 3_000
        lab.server.release("asked")
        person.wait(person.idle, "the end")
        assert len(lab.boundaries()) == 1


def test_cp2_three_attempts_and_one_word_that_it_is_off(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        lab.summariser = lambda request: {"status": 400, "parts": []}
        person = lab.start()
        fill(lab, person, 5, tokens=720)
        attempts: list[int] = []
        lab.last = {"text": "ok"}
        shown = ""
        for number in range(5):
            before = len(lab.summaries)
            shown += lab.turn(person, f"ask9{number:02d} go on")
            attempts.append(len(lab.summaries) - before)
        assert attempts == [1, 1, 1, 0, 0]
        assert shown.count("automatic compaction failed 3 times in a row and is off now") == 1
        assert not lab.boundaries()
        for way in ("/compact", "/clear", "/context"):
            assert way in shown


def test_cp3_a_full_window_without_automatic_compaction_sends_nothing(tmp_path: Path) -> None:
    with Lab(tmp_path, settings={"compaction": {"auto": False}}) as lab:
        person = lab.start()
        fill(lab, person, 5, tokens=900)
        before = len(lab.server.deliveries)
        shown = lab.turn(person, "ask900 go on")
        assert len(lab.server.deliveries) == before
        for way in ("/compact", "/clear", "/context"):
            assert way in shown
        lab.last = {"text": "fine"}
        lab.ask(person, "/compact", r"Compacted \(manual\)")
        lab.turn(person, "ask901 and now")
        sent = text_of(lab.asked[-1].request)
        assert "ask901" in sent
        assert "ask900" in sent  # what was asked and never sent is not lost
        assert "say000" not in sent


def test_cp4_predictive_compaction_fires_and_is_in_the_file(tmp_path: Path) -> None:
    with Lab(tmp_path, window=20_000, output=8_192) as lab:
        person = lab.start()
        fill(lab, person, 2)
        lab.last = {"text": f"say777 {words(8_500)}"}
        lab.turn(person, "ask777 now the long one")
        assert not lab.boundaries()
        lab.last = {"text": "fine"}
        lab.turn(person, "ask778 go on")
        (receipt,) = lab.events("compaction.ended")
        assert receipt["kind"] == "predictive"
        assert receipt["tokens_before"] < 17_000  # below the threshold of the automatic kind
        assert len(lab.boundaries()) == 1


def test_cp5_a_session_too_long_for_its_summariser(tmp_path: Path) -> None:
    with Lab(tmp_path, window=12_000) as lab:
        refused: list[int] = []

        def small(request: Recorded) -> Json:
            if tokens_of(request) > 2_500:
                refused.append(tokens_of(request))
                return {"status": 400, "message": "prompt is too long: 99999 tokens > 2500 maximum", "parts": []}
            return good(request)

        lab.summariser = small
        person = lab.start()
        fill(lab, person, 7)
        shown = lab.ask(person, "/compact", r"ompacted")
        assert "Compacted (manual)" in shown
        assert 1 <= len(refused) <= 3


def test_cp6_the_focus_reaches_the_summary_request(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start()
        fill(lab, person, 4)
        lab.ask(person, "/compact focus on auth", r"Compacted")
        assert lab.summaries
        assert all("focus on auth" in text_of(one.request) for one in lab.summaries)
        (receipt,) = lab.events("compaction.ended")
        assert receipt["focus"] == "focus on auth"


def test_cp7_after_two_compactions_only_the_last_is_sent_and_all_is_shown(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start()
        for _ in range(2):
            fill(lab, person, 4)
            lab.ask(person, "/compact", r"Compacted")
        lab.last = {"text": "fine"}
        person.leave()
        resumed = lab.start("--continue")
        lab.turn(resumed, "ask900 go on")
        sent = text_of(lab.asked[-1].request)
        assert len(lab.boundaries()) == 2
        assert sent.count("say007") == 1  # the kept tail
        assert not any(f"say00{number}" in sent for number in range(6))
        resumed.leave()
        shown = lab.clew("show", lab.path.stem)
        exported = lab.clew("export", lab.path.stem, "--to", "jsonl")
        for number in range(8):
            assert f"say00{number}" in shown
            assert f"say00{number}" in exported


def test_cp9_originals_stay_in_the_log_when_outputs_are_cleared(tmp_path: Path) -> None:
    with Lab(tmp_path, window=32_000, settings={"compaction": {"keepRecent": 1}}) as lab:
        person = lab.start()
        for number in range(4):
            name = f"ink{number:03d}.txt"
            (lab.project / name).write_text(f"inside-{number} " + "x" * 2_000)
            lab.replies = [
                {"calls": [{"call": "Read", "arguments": {"file_path": name}}]},
                {"text": f"say{number:03d}"},
            ]
            lab.turn(person, f"ask{number:03d} read it")
        lab.ask(person, "/compact fast", r"Cleared 3 old outputs")
        lab.last = {"text": "fine"}
        lab.turn(person, "ask900 go on")
        sent = text_of(lab.asked[-1].request)
        assert [f"inside-{number}" in sent for number in range(4)] == [False, False, False, True]
        log = lab.path.read_text()
        assert all(f"inside-{number}" in log for number in range(4))
        shown = lab.clew("export", lab.path.stem, "--to", "jsonl")
        assert all(f"inside-{number}" in shown for number in range(4))


def test_cp10_plan_mode_is_still_told(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start("--permission-mode", "plan")
        fill(lab, person, 4)
        lab.ask(person, "/compact", r"Compacted")
        lab.last = {"text": "fine"}
        lab.turn(person, "ask900 go on")
        assert re.search(r"plan mode|mode.{0,20}plan", text_of(lab.asked[-1].request).casefold())


def test_cp11_media_is_stripped_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    with Lab(tmp_path, window=32_000, settings=None) as lab:
        (lab.project / "shot.png").write_bytes(__import__("base64").b64decode(PICTURE))
        person = lab.start()
        lab.replies = [
            {"calls": [{"call": "Read", "arguments": {"file_path": "shot.png"}}]},
            {"status": 413, "message": "image exceeds 5 MB maximum", "parts": []},
            {"text": "say001 I could not see it"},
        ]
        shown = lab.turn(person, "ask001 look at shot.png")
        bodies = [one.request.raw.decode() for one in lab.asked]
        assert [PICTURE[:40] in body for body in bodies] == [False, True, False]
        assert "say001" in shown
        assert len(lab.events("context.trimmed")) == 1
        lab.last = {"text": "fine"}
        lab.turn(person, "ask002 go on")
        assert PICTURE[:40] not in lab.asked[-1].request.raw.decode()
