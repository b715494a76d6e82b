"""Loading: the RS cases, and that cost and answer follow the chain, not the file."""

import os
import random
from pathlib import Path

import pytest

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, UserEntry
from clew.protocol.ids import EntryId, SessionId
from clew.protocol.messages import AssistantMessage, text_of
from clew.protocol.usage import Usage
from clew.transcript.chain.view import view
from clew.transcript.errors import describe
from clew.transcript.log.codec import encode
from clew.transcript.past.lookback import MAX_VIEW_BYTES
from clew.transcript.past.reader import iterate, load

from .samples import SESSION, Script, write_lines


def ids(chain: tuple[Entry, ...]) -> list[str]:
    return [entry.uuid for entry in chain if isinstance(entry, ChainEntry)]


def kinds(path: Path) -> list[str]:
    return [problem.kind for problem in load(path).problems]


def test_a_plain_session_loads_in_order(tmp_path: Path) -> None:
    script = Script()
    script.user("fix it")
    script.call("c1")
    script.result("c1", "text")
    script.assistant("done")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "u3", "a4"]
    assert loaded.leaf == "a4"
    assert loaded.problems == ()
    assert loaded.complete


def test_rs1_only_the_live_branch_of_a_rewound_session_is_sent(tmp_path: Path) -> None:
    script = Script()
    first = script.user("one")
    script.assistant("dead answer")
    script.user("dead prompt")
    script.user("two", parent=first)
    script.assistant("live")
    assert ids(load(script.write(tmp_path)).chain) == ["u1", "u4", "a5"]


@pytest.mark.parametrize("seed", range(5))
def test_rs2_reordered_lines_give_the_same_chain(tmp_path: Path, seed: int) -> None:
    script = parallel_session()
    expected = ids(load(script.write(tmp_path)).chain)
    lines = script.lines()
    body = lines[:-1]
    random.Random(seed).shuffle(body)
    shuffled = write_lines(tmp_path / f"{SESSION}.jsonl", [*body, lines[-1]])
    assert ids(load(shuffled).chain) == expected


def test_rs3_a_cycle_gives_a_partial_chain_and_a_warning(tmp_path: Path) -> None:
    script = Script()
    script.user("a", parent="u3", uuid="u1")
    script.assistant("b", parent="u1", uuid="u2")
    script.user("c", parent="u2", uuid="u3")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "u2", "u3"]
    assert [problem.kind for problem in loaded.problems] == ["cycle"]


def parallel_session() -> Script:
    """Four calls in one reply; results come back in another order, and the chain goes on from the last."""
    script = Script()
    script.user("look at four files")
    calls = [script.call(f"c{number}", message="msg_p") for number in range(1, 5)]
    for number in (3, 1, 4, 2):
        script.result(f"c{number}", f"text {number}", parent=calls[number - 1])
    script.assistant("seen all four")
    script.user("thanks")
    return script


def test_rs4_all_parallel_results_are_present_and_adjacent(tmp_path: Path) -> None:
    loaded = load(parallel_session().write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "a3", "a4", "a5", "u7", "u9", "u6", "u8", "a10", "u11"]


def test_rs6_a_segment_with_a_missing_id_loads_the_full_history(tmp_path: Path) -> None:
    script = Script()
    script.user("old")
    script.assistant("older answer")
    head = script.user("keep me")
    script.assistant("kept answer")
    script.boundary(preservedSegment={"headUuid": head, "anchorUuid": "u6", "tailUuid": "nowhere"})
    script.user("go on")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "u3", "a4", "s5", "u6", "u7"]
    assert [problem.kind for problem in loaded.problems] == ["segment"]


def test_a_preserved_segment_is_hung_under_its_anchor_without_its_usage(tmp_path: Path) -> None:
    """RS-7: the usage of the preserved reply would make the engine compact again at once."""
    script = Script()
    script.user("old")
    script.assistant("old answer")
    head = script.user("keep me")
    tail = script.assistant("kept answer", usage=Usage(input_tokens=150_000))
    script.boundary(preservedSegment={"headUuid": head, "anchorUuid": "u6", "tailUuid": tail})
    script.user("go on")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["s5", "u6", "u3", "a4", "u7"]
    kept = loaded.chain[3]
    assert isinstance(kept, AssistantEntry)
    assert kept.message.usage is None


def test_a_later_boundary_makes_an_older_segment_stale(tmp_path: Path) -> None:
    script = Script()
    head = script.user("keep me")
    script.boundary(preservedSegment={"headUuid": head, "anchorUuid": "u3", "tailUuid": head})
    script.user("more")
    script.boundary("second summary")
    assert ids(load(script.write(tmp_path)).chain) == ["s5", "u6"]


def test_rs8_two_snips_look_the_same_live_and_resumed(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.assistant("noise 1")
    script.user("two")
    script.system("snip_boundary", data={"removedUuids": ["a2"]})
    script.assistant("noise 2")
    script.user("three")
    script.system("snip_boundary", data={"removedUuids": ["a5"]})
    script.assistant("end")
    live = view(script.entries)
    assert [text_of(message.content) for message in live] == ["one", "two", "three", "end"]
    assert load(script.write(tmp_path)).messages == live


def test_rs10_a_last_line_cut_inside_json_costs_that_line_only(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.assistant("two")
    lines = script.lines()
    path = write_lines(tmp_path / f"{SESSION}.jsonl", [lines[0], lines[1][:-30]])
    before = path.read_bytes()
    loaded = load(path)
    assert ids(loaded.chain) == ["u1"]
    assert [problem.kind for problem in loaded.problems] == ["torn"]
    assert loaded.problems[0].offset == len(lines[0])
    assert "torn line" in describe(loaded.problems)
    assert path.read_bytes() == before


def test_rs11_a_clock_that_went_back_does_not_choose_the_leaf(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.assistant("two")
    script.user("three", timestamp="2026-11-14T10:00:00.000Z")
    assert load(script.write(tmp_path)).leaf == "u3"


def test_a_boundary_hides_what_is_before_it(tmp_path: Path) -> None:
    script = Script()
    for number in range(20):
        script.user(f"old {number}")
        script.assistant("answer")
    script.boundary("the summary")
    script.user("new")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["s41", "u42", "u43"]
    assert not loaded.complete
    assert [text_of(message.content) for message in loaded.messages] == ["the summary", "new"]


def test_a_boundary_without_its_summary_changes_nothing(tmp_path: Path) -> None:
    """F02: killed between the boundary and the summary; the old view still stands."""
    script = Script()
    script.user("one")
    script.assistant("two")
    script.boundary()
    script.entries.pop()
    assert ids(load(script.write(tmp_path)).chain) == ["u1", "a2"]


def test_tombstoned_parts_leave_the_view(tmp_path: Path) -> None:
    script = Script()
    prompt = script.user("one")
    broken = script.assistant("half an ans")
    script.tombstone(broken)
    assert ids(load(script.write(tmp_path)).chain) == [prompt]
    script.assistant("whole answer", parent=prompt)
    assert ids(load(script.write(tmp_path)).chain) == [prompt, "a3"]


def test_sidechains_are_excluded_and_have_a_view_of_their_own(tmp_path: Path) -> None:
    script = Script()
    script.user("main")
    agent = Script(sidechain=True, agent="x")
    agent.user("sub task", parent=None, uuid="s1")
    agent.assistant("sub answer", uuid="s2")
    path = write_lines(tmp_path / f"{SESSION}.jsonl", [*script.lines(), *agent.lines()])
    assert ids(load(path).chain) == ["u1"]
    assert ids(load(path, sidechain=True).chain) == ["s1", "s2"]


def test_notes_after_the_tip_are_what_the_next_entry_hangs_under(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.assistant("two")
    script.system("away_summary", content="You were here.")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "s3"]
    assert loaded.leaf == "s3"


def test_an_unknown_chain_type_is_a_link_but_no_message(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    alien = b'{"type":"hologram","uuid":"h1","parentUuid":"u1","sessionId":"%s"}\n' % SESSION.encode()
    script.assistant("two", parent="h1")
    lines = script.lines()
    loaded = load(write_lines(tmp_path / f"{SESSION}.jsonl", [lines[0], alien, lines[1]]))
    assert [text_of(message.content) for message in loaded.messages] == ["one", "two"]
    assert loaded.problems == ()


def test_a_missing_parent_ends_the_chain_with_a_warning(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.user("two", parent="nowhere")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u2"]
    assert [problem.kind for problem in loaded.problems] == ["orphan"]


def test_a_parent_lost_in_a_damaged_line_is_bridged(tmp_path: Path) -> None:
    script = Script()
    for number in range(6):
        script.user(f"prompt {number}")
        script.assistant(f"answer {number}")
    lines = script.lines()
    lines[6] = b"\x00garbage{" + lines[6][20:]
    loaded = load(write_lines(tmp_path / f"{SESSION}.jsonl", lines))
    assert len(loaded.chain) == 11
    assert sorted(problem.kind for problem in loaded.problems) == ["not-json", "orphan"]


def test_the_damage_may_lie_far_from_the_end(tmp_path: Path) -> None:
    script = Script()
    for number in range(100):
        script.user(f"prompt {number} " + "x" * 20_000)
        script.assistant(f"answer {number} " + "y" * 20_000)
    lines = script.lines()
    lines[100] = b"not json\n"
    assert len(load(write_lines(tmp_path / f"{SESSION}.jsonl", lines)).chain) == 199


def test_a_rewind_far_back_finds_its_parent_and_its_replacement(tmp_path: Path) -> None:
    script = Script()
    script.user("start")
    script.call("c1")
    result = script.result("c1", "long text")
    script.replacement("c1", "short")
    for number in range(100):
        script.user(f"dead {number} " + "x" * 50_000)
        script.assistant("dead")
    script.user("rewound", parent=result)
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "u3", "u204"]
    assert "short" in repr(loaded.messages)
    assert len(loaded.entries) < 100


def test_history_too_large_for_any_model_is_cut_at_a_prompt_and_stays_cut_there(tmp_path: Path) -> None:
    limit = 200_000
    script = Script()
    for number in range(300):
        script.user(f"prompt {number} " + "x" * 2_000)
        script.call(f"c{number}")
        script.result(f"c{number}")
        script.assistant("ok")
    path = script.write(tmp_path)
    loaded = load(path, max_view_bytes=limit)
    assert isinstance(loaded.chain[0], UserEntry)
    assert "prompt" in str(loaded.chain[0].message.content)
    assert [problem.kind for problem in loaded.problems] == ["cut"]
    start = ids(loaded.chain)[0]
    script.user("one more")
    assert ids(load(script.write(tmp_path), max_view_bytes=limit).chain)[0] == start
    assert MAX_VIEW_BYTES >= 8 * 1024 * 1024


def test_loading_never_writes(tmp_path: Path) -> None:
    path = parallel_session().write(tmp_path)
    before = (path.read_bytes(), os.stat(path).st_mtime_ns, sorted(os.listdir(tmp_path)))
    load(path)
    list(iterate(path))
    assert (path.read_bytes(), os.stat(path).st_mtime_ns, sorted(os.listdir(tmp_path))) == before


def test_a_renamed_file_belongs_to_whoever_spoke_last(tmp_path: Path) -> None:
    script = Script(SessionId("abc"))
    script.user("one")
    path = write_lines(tmp_path / "copy of it.jsonl", script.lines())
    loaded = load(path)
    assert loaded.session_id == "abc"
    assert loaded.leaf == EntryId("u1")


def test_a_missing_file_is_a_problem_not_an_exception(tmp_path: Path) -> None:
    assert kinds(tmp_path / "gone.jsonl") == ["unreadable"]


def test_encoding_survives_the_round_trip(tmp_path: Path) -> None:
    script = parallel_session()
    path = script.write(tmp_path)
    assert [found.entry for found in iterate(path)] == script.entries
    assert b"".join(encode(entry) for entry in script.entries) == path.read_bytes()


def test_a_preserved_segment_is_read_no_further_than_its_head(tmp_path: Path) -> None:
    script = Script()
    for number in range(200):
        script.user(f"old {number}")
        script.assistant("answer")
    head = script.user("keep me")
    tail = script.assistant("kept")
    script.boundary(preservedSegment={"headUuid": head, "anchorUuid": f"u{script.issued + 2}", "tailUuid": tail})
    loaded = load(script.write(tmp_path))
    assert [text_of(message.content) for message in loaded.messages] == ["Summary so far.", "keep me", "kept"]
    assert len(loaded.entries) == 4


def test_servers_that_use_one_message_id_for_all_replies(tmp_path: Path) -> None:
    """Local servers do; and a reply of another process may have the id of an older one."""
    script = Script()
    script.user("one")
    for number in range(3):
        script.call(f"c{number}", message="msg_1")
        script.result(f"c{number}", f"text {number}")
    script.assistant("first answer", message="msg_1")
    script.user("two")
    script.assistant("second answer", message="msg_1")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == [f"{'ua'[number % 2 == 0]}{number}" for number in range(1, 11)]
    assert [message.role for message in loaded.messages] == ["user", "assistant"] * 5
    assert text_of(loaded.messages[-1].content) == "second answer"


def test_a_line_that_only_carries_usage_belongs_to_its_reply(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    first = script.call("c1", message="m")
    script.call("c2", message="m")
    script.result("c1", parent=first)
    script.result("c2", parent="a3")
    script.assistant(message="m", usage=Usage(input_tokens=5))
    script.assistant("done", message="n")
    loaded = load(script.write(tmp_path))
    assert ids(loaded.chain) == ["u1", "a2", "a3", "a6", "u4", "u5", "a7"]
    assert [message.role for message in loaded.messages] == ["user", "assistant", "user", "user", "assistant"]
    reply = loaded.messages[1]
    assert isinstance(reply, AssistantMessage)
    assert reply.usage == Usage(input_tokens=5)


def test_a_result_between_two_parts_of_one_request(tmp_path: Path) -> None:
    script = Script()
    script.user("one")
    script.call("c1", message="m", request_id="req_1")
    script.result("c1")
    script.call("c2", message="m", request_id="req_1")
    script.result("c2")
    script.call("c3", message="m", request_id="req_2")
    assert ids(load(script.write(tmp_path)).chain) == ["u1", "a2", "a4", "u3", "u5", "a6"]
