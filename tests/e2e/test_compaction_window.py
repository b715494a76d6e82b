"""The meter, work ahead of need, and the bytes that were sent: through the real command."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.compaction_lab import FAST, Lab, fill, tokens_of, words
from e2e.compaction_long import long_session

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
        (30, 20_000, {}, True),
        (30, 20_000, {"compaction": {"coldReturn": False}}, False),
        (30, 200, {}, False),
        (0, 20_000, {}, False),
    ],
)
def test_a_cold_return_is_told_before_it_costs(
    tmp_path: Path, hours: int, tokens: int, settings: Json, told: bool
) -> None:
    with Lab(tmp_path, window=128_000, settings=settings) as lab:
        person = lab.start()
        fill(lab, person, 1, tokens=tokens)
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
    """Some 120 requests; `make soak ARGS="--long 1000"` makes as many as one likes."""
    assert long_session(tmp_path, requests=120, seed=11) == []


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
        booked = [
            entry for entry in lab.entries() if entry["type"] == "side-query" and entry["purpose"] == "compaction"
        ]
        assert booked
        assert all(entry["costUsd"] > 0 for entry in booked)
        before = len(lab.summaries)
        shown = lab.ask(person, "/compact", r"Compacted[^\n]*\n")
        assert len(lab.summaries) - before <= 2  # at most what came since, and one that was under way meanwhile
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
