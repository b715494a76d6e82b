"""Skills and custom commands through the real command: what the model gets, what people see, what ends with a turn."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.screen_terminal import ScreenTerminal

from e2e.command import CLEW, Place
from e2e.driver import Driven, Json, is_asked
from fakes.model_server import ModelServer

LAST = {"replies": [], "last": {"text": "Fine."}}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Place, ModelServer]]:
    with ModelServer(LAST) as server:
        yield Place(tmp_path, server.url), server


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def command(place: Place, name: str, text: str) -> Path:
    return put(place.clew_home / "commands" / f"{name}.md", text)


def skill(folder: Path, name: str, text: str) -> Path:
    return put(folder / "skills" / name / "SKILL.md", text)


def texts(request: Any) -> list[str]:
    """All that a request says in the user's name, in order."""
    found: list[str] = []
    for message in request.body["messages"]:
        parts = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        found += [part["text"] for part in parts if message["role"] == "user" and "text" in part]
    return found


def write_call(name: str) -> Json:
    return {"calls": [{"call": "Write", "arguments": {"file_path": name, "content": "x"}}]}


def test_a_command_becomes_its_prompt_and_the_log_has_both(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    put(place.project / "notes.txt", "remember the milk\n")
    command(
        place, "git/fix", "---\ndescription: Fix: one\n---\nFix $1, all of: $ARGUMENTS.\n!`echo out-$2`\n@notes.txt."
    )
    assert place.run("-p", "/git:fix 42 now", "--trust").out == "Fine.\n"
    typed, stands_for = texts(server.requests[0])
    assert typed == "/git:fix 42 now"
    for words in ("Fix 42, all of: 42 now.", "out-now", "remember the milk"):
        assert words in stands_for
    (path,) = place.transcripts()
    prompts = [entry for entry in place.entries() if entry["type"] == "user"]
    place.run("-p", "go on", "--resume", path.stem)
    place.run("-p", "go on", "--resume", path.stem, "--fork-session")
    for request in server.requests[1:]:
        assert texts(request)[:2] == [typed, stands_for]
    assert (prompts[0]["message"]["content"], prompts[0].get("isMeta", False)) == (typed, False)
    assert (prompts[1]["message"]["content"], prompts[1]["isMeta"]) == (stands_for, True)
    shown = place.run("show", path.stem).out
    assert "/git:fix 42 now" in shown
    assert "remember the milk" not in shown
    assert "git:fix" in place.run("recap", path.stem).out


def test_what_arguments_say_is_neither_run_nor_read(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    put(place.project / "secret.txt", "the treasure\n")
    command(place, "say", "Say: $ARGUMENTS")
    place.run("-p", "/say !`touch made` @secret.txt")
    assert texts(server.requests[0])[1].endswith("Say: !`touch made` @secret.txt")
    assert not (place.project / "made").exists()


def test_what_is_not_allowed_keeps_all_of_a_command_from_being_sent(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    command(place, "risky", "One.\n!`touch made`\nTwo.")
    command(place, "outside", "See @/etc/hostname")
    done = place.run("-p", "/risky", "--output-format", "json")
    assert (done.code, done.result["stop_reason"]) == (1, "not_sent")
    assert "touch made" in done.result["errors"][0]
    assert place.run("-p", "/outside").code == 1
    assert not server.requests
    assert not (place.project / "made").exists()


def test_nothing_of_a_command_is_run_before_all_of_it_is_allowed(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    make = "!`touch made`"
    for name, rest in {
        "secret": "@~/.ssh/id_rsa",
        "denied": "!`curl http://x`",
        "gone": "@unreadable",
        "late": "@made",
    }.items():
        command(place, name, f"First {make}, then {rest}")
    put(place.home / ".ssh" / "id_rsa", "key")
    put(place.project / "unreadable", "\x00" * 100)
    rules = ("--allowed-tools", "Bash(touch made)", "--disallowed-tools", "Bash(curl *)")
    for name in ("secret", "denied", "gone"):
        done = place.run("-p", f"/{name}", *rules)
        assert (done.code, (place.project / "made").exists()) == (1, False), (name, done.err)
    done = place.run("-p", "/late", *rules, "--tools", "Read")
    assert (done.code, "was not run. There is no tool named 'Bash'" in done.err) == (1, True), done.err
    assert not server.requests
    assert place.run("-p", "/late", *rules).code == 0
    assert (place.project / "made").exists()
    assert "then @made" in texts(server.requests[0])[1], "what is there is looked at before anything runs"


def test_a_yes_is_asked_for_once_and_before_anything_runs(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    command(place, "two", "!`touch one && echo 1` and !`touch two && echo 2`")
    with Driven(place, "--permission-prompt-tool", "stdio") as run:
        for answers in (["allow", "deny"], ["allow", "allow"]):
            run.say("/two")
            for answer in answers:
                asked = run.until(is_asked("can_use_tool"))
                assert not (place.project / "one").exists()
                run.answer(asked, {"behavior": answer, "message": "no"})
            result = run.result()
        assert result["subtype"] == "success"
        assert run.end() == 0
    assert len(run.of("control_request")) == 4
    assert (place.project / "two").exists()
    assert texts(server.requests[0])[1].endswith("1 and 2")


def test_a_program_is_asked_for_a_command_in_a_command(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    command(place, "risky", "Look: !`echo asked > a.txt; cat a.txt`")
    with Driven(place, "--permission-prompt-tool", "stdio") as run:
        run.say("/risky")
        asked = run.until(is_asked("can_use_tool"))
        assert asked["request"]["input"] == {"command": "echo asked > a.txt; cat a.txt"}
        run.ask("i1", "interrupt")
        assert run.result()["terminal_reason"] != "completed"
        assert not server.requests
        run.say("/risky")
        asked = run.until(is_asked("can_use_tool"))
        run.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
        assert run.result()["result"] == "Fine."
        assert run.end() == 0
    assert "Look: asked" in texts(server.requests[0])[-1]


def test_al_13_what_a_skill_brings_ends_with_its_turn(tmp_path: Path) -> None:
    """Effort, extra tools: for that turn, and not after its end, an interrupt, an error or a resume."""
    broken = {"fault": "status", "status": 400, "message": "no"}
    streaming = {"parts": [{"text": "words "}, {"wait": "never"}]}
    replies = [write_call("a"), {"text": "1"}, write_call("b"), {"text": "2"}, broken, write_call("c"), {"text": "4"}]
    replies += [streaming, write_call("d"), {"text": "6"}, write_call("e"), {"text": "7"}]
    with ModelServer(replies) as server:
        place = Place(tmp_path)
        place.env |= {"CLEW_MODEL": "openai/gpt-5", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1"}
        skill(place.clew_home, "quick", "---\ndescription: Quick\nallowed-tools: Write\neffort: low\n---\nBe quick.")
        with Driven(place, "--include-partial-messages") as run:
            turns = []
            for text in ("/quick", "go on", "/quick", "go on"):
                run.say(text)
                turns.append(run.result())
            run.say("/quick")
            run.until(lambda line: line["type"] == "stream_event" and "words" in str(line))
            run.ask("i1", "interrupt")
            run.result()
            run.say("go on")
            turns.append(run.result())
            run.end()
        place.run("-p", "go on", "--resume", run.lines[0]["session_id"])
    made = sorted(path.name for path in place.project.iterdir())
    assert made == ["a"]
    assert [len(turn["permission_denials"]) for turn in turns] == [0, 1, 0, 1, 1]
    lent = [request.body.get("reasoning_effort") == "low" for request in server.requests]
    assert lent == [True, True, False, False, True, False, False, True, False, False, False, False]
    first = server.requests[0].body
    for request in server.requests:
        assert request.body["tools"] == first["tools"]
        assert request.body["messages"][0] == first["messages"][0]


def test_al_13_a_model_that_reads_a_skill_has_what_it_brings_for_that_turn(tmp_path: Path) -> None:
    use = {"calls": [{"call": "Skill", "arguments": {"name": "quick", "arguments": "now"}}]}
    with ModelServer([use, write_call("a"), {"text": "1"}, write_call("b"), {"text": "2"}]) as server:
        place = Place(tmp_path, server.url)
        text = "---\ndescription: Quick\nallowed-tools: [Write]\neffort: low\n---\nBe quick: $ARGUMENTS"
        file = skill(place.home / ".claude", "quick", text)
        put(file.parent / "more.md", "more words")
        with Driven(place) as run:
            run.say("go")
            assert not run.result()["permission_denials"]
            run.say("go on")
            assert len(run.result()["permission_denials"]) == 1
            run.end()
    assert [path.name for path in place.project.iterdir()] == ["a"]
    told = json.dumps(server.requests[1].body["messages"])
    assert "Be quick: now" in told
    assert str(file.parent) in told
    assert "for this turn, by quick: allowed without asking: Write; effort low" in json.dumps(run.lines)
    assert "- quick: Quick" in json.dumps(server.requests[0].body["system"])
    assert "Be quick" not in json.dumps(server.requests[0].body["system"])


def test_files_of_a_users_skill_are_read_without_asking_once_it_is_used(tmp_path: Path) -> None:
    place = Place(tmp_path)
    file = skill(place.clew_home, "pdf", "---\ndescription: PDF\n---\nSee more.md")
    more, out = put(file.parent / "more.md", "more words"), file.parent / "out.md"
    out.symlink_to(put(tmp_path / "elsewhere.md", "not yours"))
    reads = {"calls": [{"call": "Read", "arguments": {"file_path": str(path)}} for path in (more, out)]}
    with ModelServer([reads, {"text": "no"}, reads, {"text": "read"}]) as server:
        place.env["ANTHROPIC_BASE_URL"] = server.url
        assert len(place.run("-p", "hi", "--output-format", "json").result["permission_denials"]) == 2
        denied = place.run("-p", "/pdf", "--output-format", "json").result["permission_denials"]
        assert [denial["tool_input"]["file_path"] for denial in denied] == [str(out)]
        told = json.dumps(server.requests[3].body["messages"])
        assert "more words" in told
        assert "not yours" not in told


def test_a_name_that_nobody_brought_is_answered_and_never_sent(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        done = place.run("-p", "/nothing  of the\nkind")
        assert (done.code, done.out) == (2, "")
        assert "Unknown command /nothing" in done.err
        assert "type it twice: //nothing" in done.err
        for typed, meant in (("/comit", "/commit"), ("/setup", "/init"), ("/changes now", "/diff")):
            done = place.run("-p", typed)
            assert done.code == 2
            assert f"Did you mean {meant}?" in done.err
        done = place.run("-p", "/nothing", "--output-format", "json")
        assert (done.code, done.result["is_error"], done.result["num_turns"]) == (2, True, 0)
        assert "Unknown command /nothing" in done.result["error"]
        assert server.requests == []
        assert place.transcripts() == []


def test_words_that_only_begin_with_a_slash_are_sent(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        said = {
            "/tmp/x.py is broken": "/tmp/x.py is broken",
            "//review it": "/review it",
            "// a comment": "// a comment",
            "/ what": "/ what",
            "no /name": "no /name",
        }
        for prompt in said:
            assert place.run("-p", prompt).code == 0
        assert [texts(request) for request in server.requests] == [[words] for words in said.values()]


def test_help_of_a_skill_is_shown_and_runs_nothing(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        skill(place.clew_home, "pdf", "---\ndescription: Makes a PDF\nargument-hint: FILE\n---\nMake it.")
        for arguments in ("--help", "-h"):
            done = place.run("-p", f"/pdf {arguments}")
            assert (done.code, done.out.splitlines()[0]) == (0, "Usage: /pdf FILE")
            assert "Makes a PDF" in done.out
        assert "Usage: /review" in place.run("-p", "/review --help", "--output-format", "json").result["result"]
        assert server.requests == []
        assert place.transcripts() == []


def test_a_program_that_sends_an_unknown_name_gets_an_error_and_no_model_does(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        with Driven(place) as run:
            run.say("/nothing at all")
            result = run.result()
            run.end()
        assert result["is_error"]
        assert "there is no command or skill /nothing here, so nothing was sent" in result["error"]
        assert server.requests == []


def test_nothing_of_a_project_counts_before_trust_and_it_loosens_nothing_after(tmp_path: Path) -> None:
    with ModelServer([{"text": "as words"}, write_call("a"), {"text": "done"}]) as server:
        place = Place(tmp_path, server.url)
        put(place.project / ".claude" / "commands" / "go.md", "---\nallowed-tools: Write\nmodel: other/x\n---\nGo!")
        skill(place.project / ".clew", "mine", "---\ndescription: of the project\n---\nx")
        done = place.run("-p", "/go", "--output-format", "stream-json", "--verbose")
        assert "is not read: the directory is not trusted" in done.out
        assert "go" not in done.lines[0]["slash_commands"]
        assert done.code == 2
        assert "those of this directory are not read before it is trusted" in done.err
        assert server.requests == []
        place.run("-p", "hi")
        assert "mine" not in json.dumps(server.requests[0].body["system"])
        done = place.run("-p", "/go", "--trust", "--output-format", "json")
        assert len(done.result["permission_denials"]) == 1
        assert texts(server.requests[1])[1].endswith("Go!")
        assert server.requests[1].body["model"] == "claude-sonnet-4-5"
        assert "- mine: of the project" in json.dumps(server.requests[1].body["system"])
    listed = place.run("-p", "/commands", "--trust").out
    assert "its allowed-tools do not count" in listed
    assert "(project)" in listed


def test_names_that_clash_are_told_with_what_hides_them(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        put(place.project / ".clew" / "commands" / "same.md", "Of the project.")
        command(place, "same", "Of the user.")
        command(place, "help", "Not help.")
        skill(place.clew_home, "review", "---\ndescription: My review\n---\nMine.")
        listed = place.run("-p", "/commands", "--trust").out
        assert "the command of the user has the same name" in listed
        assert "/help is a command of clew's own" in listed
        assert "the skill of the user has the same name" in place.run("-p", "/skills", "--trust").out
        for typed, words in (
            ("/same", "user."),
            ("/project:same", "project."),
            ("/review", "Mine."),
            ("/SAME", "user."),
        ):
            place.run("-p", typed, "--trust")
            assert texts(server.requests[-1])[1].endswith(words), typed
        assert "Commands:" in place.run("-p", "/help").out


def test_a_changed_file_counts_at_its_next_use_and_new_skills_are_told(tmp_path: Path) -> None:
    with ModelServer(LAST) as server:
        place = Place(tmp_path, server.url)
        skill(place.clew_home, "one", "---\ndescription: First\n---\nold words")
        with Driven(place) as run:
            run.say("/one")
            run.result()
            skill(place.clew_home, "one", "---\ndescription: First\n---\nnew words, longer")
            skill(place.clew_home, "two", "---\ndescription: Second\n---\nx")
            run.say("/one")
            run.result()
            run.say("on")
            run.result()
            assert "two" in run.of("system", "init")[-1]["skills"]
            run.end()
        said = texts(server.requests[1])
        assert any("new words" in text for text in said)
        assert any("There are new skills:" in text and "- two: Second" in text for text in said)
        system = json.dumps(server.requests[0].body["system"])
        place.run("-p", "on", "--resume", run.lines[0]["session_id"])
        assert json.dumps(server.requests[3].body["system"]) == system
        assert server.requests[3].body["tools"] == server.requests[0].body["tools"]


def test_the_first_skill_of_a_session_is_told_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".clew" / "skills" / "late" / "SKILL.md"
    reads = {"calls": [{"call": "Read", "arguments": {"file_path": str(file)}}]}
    with ModelServer([{"text": "one"}, reads, {"text": "two"}, {"text": "three"}, {"text": "four"}]) as server:
        place = Place(tmp_path, server.url)
        with Driven(place, "--disallowed-tools", "Skill(secret)") as run:
            run.say("on")
            run.result()
            assert file == skill(place.clew_home, "late", "---\ndescription: Came late\n---\nthe late words")
            skill(place.clew_home, "secret", "---\ndescription: Not for you\n---\nx")
            run.say("on")
            assert run.result()["permission_denials"] == [], "a person's own skill is read without asking"
            shutil.rmtree(file.parent)
            run.say("on")
            run.result()
            run.say("on")
            run.result()
            run.end()
        told = [text for text in texts(server.requests[1]) if "There are new skills" in text]
        assert [text for text in told if f"- late: Came late ({file})" in text]
        assert "Not for you" not in json.dumps(server.requests[2].body)
        assert "the late words" in json.dumps(server.requests[2].body)
        last = texts(server.requests[4])
        assert sum("There are new skills" in text for text in last) == 1
        assert sum("no longer there: late" in text for text in last) == 1
        assert server.requests[4].body["tools"] == server.requests[0].body["tools"]
        assert server.requests[4].body["system"] == server.requests[0].body["system"]


def test_a_broken_file_is_one_warning_and_the_others_work(served: tuple[Place, ModelServer]) -> None:
    place, _ = served
    broken = skill(place.clew_home, "broken", "---\nname: broken\nwords\n---\nx")
    skill(place.clew_home, "good", "---\ndescription: Good\n---\nx")
    done = place.run("-p", "/good")
    assert (done.out, done.err.count("broken/SKILL.md, line 3")) == ("Fine.\n", 1)
    assert f"{broken}, line 3: expected" in place.run("-p", "/skills").out
    assert "broken/SKILL.md, line 3" in place.run("doctor").out


def test_a_command_that_includes_itself_is_refused_with_a_line(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    path = command(place, "loop", "")
    path.write_text(f"Again: @{path}")
    done = place.run("-p", "/loop")
    assert done.code == 1
    assert "includes itself" in done.err
    assert not server.requests


def test_a_person_completes_reads_help_and_uses_one(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    command(place, "git/fix", "---\ndescription: Fix an issue\nargument-hint: NUMBER\n---\nFix $1: @/etc/hosts")
    with ScreenTerminal([CLEW, "--plain", "--trust"], {**place.env, "TERM": "xterm"}, place.project) as terminal:
        terminal.until(lambda one: ">" in one.rows())
        terminal.type("/help git:fix\r")
        terminal.shows("Usage: /git:fix NUMBER")
        terminal.type("/git:f\t7\r")
        terminal.shows("read /etc/hosts")
        terminal.shows("Allow?")
        terminal.type("y\r")
        terminal.shows("Fine.")
        terminal.shows("-- ")
        terminal.type("\x04")
        assert terminal.wait() == 0
    typed, stands_for = texts(server.requests[0])
    assert typed == "/git:fix 7"
    assert "localhost" in stands_for


def test_on_the_screen_a_name_is_completed_listed_and_used(served: tuple[Place, ModelServer]) -> None:
    place, server = served
    command(place, "git/fix", "---\ndescription: Fix an issue\n---\nFix $1 now")
    env = {**place.env, "TERM": "xterm-256color"}
    with ScreenTerminal([CLEW, "--trust"], env, place.project) as terminal:
        terminal.shows("ask for something")
        terminal.type("/git:f")
        terminal.shows("Fix an issue (user)")
        terminal.type("\t7\r")
        terminal.shows("Fine.")
        terminal.shows("/git:fix 7")
        terminal.type("/commands\r")
        terminal.shows("git/fix.md")
    assert texts(server.requests[0])[1].endswith("Fix 7 now")
