"""The meter, work ahead of need, and the bytes that were sent: through the real command."""

import json
import random
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.compaction_lab import FAST, Lab, text_of, tokens_of
from e2e.conversation_check import normal
from e2e.conversation_fuzz import view_changes
from e2e.test_compaction import fill, words
from fakes.model_server import Recorded

Json = dict[str, Any]


def resumed_figures(lab: Lab) -> Json:
    """What `clew -p "/context"` says of the session."""
    out = lab.clew("-p", "/context", "-c", "--output-format", "json", "--model", "ollama/small", "--trust")
    return json.loads(out)["context"]


@pytest.mark.parametrize("compacted", [False, True])
def test_a_resumed_session_measures_what_its_next_request_holds(tmp_path: Path, compacted: bool) -> None:
    with Lab(tmp_path, window=16_000) as lab:
        person = lab.start()
        fill(lab, person, 4)
        if compacted:
            lab.ask(person, "/compact", r"Compacted")
        person.leave()
        figures = resumed_figures(lab)
        resumed = lab.start("--continue")
        lab.last = {"text": "fine"}
        lab.turn(resumed, "x")
        counted = tokens_of(lab.asked[-1].request)
        assert figures["estimated"] == compacted
        allowed = 0.12 if compacted else 0.01
        assert abs(figures["tokens"] - counted) <= allowed * counted + 10
        assert sum(share["tokens"] for share in figures["shares"]) == 16_000


@pytest.mark.parametrize("columns", [60, 100])
def test_the_grid_fits_the_screen(tmp_path: Path, columns: int) -> None:
    with Lab(tmp_path) as lab:
        person = lab.start(terminal=True, columns=columns)
        fill(lab, person, 1)
        shown = lab.ask(person, "/context", r"Room is made by itself[^\n]*\n")
        grid = [line for line in shown.splitlines() if re.fullmatch(r"  [SMTYNARCOPZ.]{20,}", line)]
        assert len(grid) == 4
        assert all(len(line) < columns for line in shown.splitlines())
        assert len(grid[0]) > columns - 6


def test_a_server_that_cuts_off_silently_is_told_of_once(tmp_path: Path) -> None:
    with Lab(tmp_path, window=32_000) as lab:
        person = lab.start()
        shown = ""
        for number in range(5):
            lab.last = {"text": f"say00{number} {words(1_500)}", "usage": {"input": min(2_048, 1_500 + number * 400)}}
            shown += lab.turn(person, f"ask00{number} please explain")
        assert shown.count("seems to cut off the beginning of the conversation") == 1
        figures = lab.ask(person, "/context", r"Context: [^\n]*")
        assert int(re.findall(r"about ([\d,]+) of", figures)[0].replace(",", "")) > 6_000


@pytest.mark.parametrize(
    ("hours", "tokens", "settings", "told"),
    [
        (30, 7_000, {}, True),
        (30, 7_000, {"compaction": {"coldReturn": False}}, False),
        (30, 200, {}, False),
        (0, 7_000, {}, False),
    ],
)
def test_a_cold_return_is_told_before_it_costs(
    tmp_path: Path, hours: int, tokens: int, settings: Json, told: bool
) -> None:
    with Lab(tmp_path, window=128_000, settings=settings) as lab:
        person = lab.start()
        fill(lab, person, 3, tokens=tokens)
        person.leave()
        lab.age(timedelta(hours=hours))
        requests = len(lab.server.deliveries)
        resumed = lab.start("--continue")
        resumed.type("/help compact")
        resumed.wait(lambda: "Summarise the older conversation" in resumed.text, "the help")
        assert ("likely cold" in resumed.text) == told
        assert len(lab.server.deliveries) == requests
        if told:
            assert re.search(r"After 30 h[^\n]* reads 2\d,\d{3} tokens anew[^\n]*/compact first", resumed.text)


def test_bytes_already_sent_change_only_by_a_line_in_the_log(tmp_path: Path) -> None:
    """Some 200 requests in a small window: between two that are no continuation stands a change of view."""
    chance = random.Random(11)
    with Lab(tmp_path, window=9_000, settings={"compaction": {"keepRecent": 2}}) as lab:
        changes: list[int] = []
        lab.on_request = lambda request: changes.append(view_changes(lab.home))
        for number in range(20):
            (lab.project / f"ink{number}.txt").write_text(f"inside-{number} " + "some words " * chance.randint(5, 150))
        person = lab.start()
        number = 0
        while len(lab.asked) < 200:
            calls = chance.choice([0, 1, 3, 6])
            name = f"ink{chance.randrange(20)}.txt"
            lab.replies = [{"calls": [{"call": "Read", "arguments": {"file_path": name}}]} for _ in range(calls)]
            lab.last = {"text": f"say{number:03d} {words(chance.randint(10, 700))}"}
            lab.turn(person, f"ask{number:03d} please explain {words(chance.randint(1, 300))}")
            if number % 12 == 11:
                person.order(chance.choice(["/compact fast", "/compact", "/compact undo --force", "/compact snip 1 1"]))
            number += 1
        bodies = [json.dumps(normal("chat", one.request.body))[:-1] for one in lab.asked]
        continued = [later.startswith(earlier) for earlier, later in zip(bodies, bodies[1:], strict=False)]
        recorded = [earlier != later for earlier, later in zip(changes, changes[1:], strict=False)]
        assert len(bodies) == len(changes)
        assert [at for at, whole in enumerate(continued) if not whole and not recorded[at]] == []
        assert 5 <= sum(recorded) <= 60  # compaction came, and it did not come all the time
        assert all(tokens_of(one.request) <= 9_000 for one in lab.asked)


# Work ahead of need


def snapshot_lab(folder: Path, **settings: Any) -> Lab:
    facts = {"window": 16_000, "maxOutputTokens": 1_024}
    priced = facts | {"inputUsdPerMtok": 1.0, "outputUsdPerMtok": 1.0}
    providers = {"ollama": {"models": {"small": facts, "quick": priced}}}
    return Lab(folder, settings={"providers": providers} | settings)


def test_sections_are_written_ahead_with_the_fast_model_and_booked(tmp_path: Path) -> None:
    with snapshot_lab(tmp_path) as lab:
        person = lab.start(CLEW_FAST_MODEL=FAST)
        fill(lab, person, 8)
        person.wait(lambda: bool(lab.events("section.kept")), "a section")
        assert not lab.boundaries()
        assert {one.request.body["model"] for one in lab.summaries} == {"quick"}
        booked = [entry for entry in lab.entries() if entry["type"] == "side-query" and entry["purpose"] == "compaction"]
        assert booked
        assert all(entry["costUsd"] > 0 for entry in booked)
        before = len(lab.summaries)
        shown = lab.ask(person, "/compact", r"Compacted[^\n]*\n")
        assert len(lab.summaries) - before <= 1  # at most what came since
        assert "1 section" in shown or "2 sections" in shown


@pytest.mark.parametrize(
    ("settings", "fast"),
    [
        ({}, "none"),
        ({"compaction": {"snapshot": False}}, FAST),
        ({"compaction": {"auto": False}}, FAST),
        ({"sideQueries": {"dailyCapUsd": 0}}, FAST),
        ({"sideQueries": {"enabled": False}}, FAST),
    ],
)
def test_no_work_in_the_background_without_leave(tmp_path: Path, settings: Json, fast: str) -> None:
    with snapshot_lab(tmp_path, **settings) as lab:
        person = lab.start(CLEW_FAST_MODEL=fast)
        fill(lab, person, 8)
        person.leave()
        assert not lab.summaries
        assert not lab.events("section.kept")
