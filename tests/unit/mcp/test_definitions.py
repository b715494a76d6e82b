"""What people write about servers: read, checked, expanded, and approved by exactly what it says."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clew.mcp.approvals import McpApprovals, digest_of
from clew.mcp.definitions import BadDefinition, check_name, document_of, read_server, shape_of
from clew.mcp.expansion import MissingVariables, expanded, named_variables, variable_words
from clew.mcp.files import ServerPlaces, change_servers, find_servers, parsed, set_disabled

PROGRAM: dict[str, Any] = {"command": "node", "args": ["./server.js", "${PORT:-1}"], "env": {"TOKEN": "${SECRET}"}}


def places(tmp_path: Path, **more: Any) -> ServerPlaces:
    for name in ("home", "root", "kept"):
        (tmp_path / name).mkdir(exist_ok=True)
    fields: dict[str, Any] = {"trusted": True} | more
    return ServerPlaces(home=tmp_path / "home", root=tmp_path / "root", kept=tmp_path / "kept", **fields)


def write(path: Path, servers: Any) -> None:
    path.write_text(json.dumps({"mcpServers": servers}))


@pytest.mark.parametrize(
    "entry",
    [
        {"command": ""},
        {"command": 3},
        {"command": "x", "args": "y"},
        {"command": "x", "env": {"A": 1}},
        {"command": "x", "env": {"A=B": "1"}},
        {"type": "http"},
        {"type": "http", "url": "file:///etc/passwd"},
        {"type": "http", "url": "javascript:alert(1)"},
        {"type": "http", "url": "http://h", "headers": {"A": "1\r\nB: 2"}},
        {"type": "gopher", "url": "http://h"},
        {"command": "x", "timeout": -1},
        [],
        None,
    ],
)
def test_what_makes_no_sense_is_refused(entry: Any) -> None:
    with pytest.raises(BadDefinition):
        read_server("x", entry, scope="user", source="f")


@pytest.mark.parametrize("name", ["", "a b", "a\n", "a__b", "_a", "a_", "../x", "x" * 65, "ä"])
def test_names_that_could_not_stand_in_a_rule(name: str) -> None:
    assert check_name(name)


def test_a_definition_comes_back_as_it_was_written() -> None:
    for entry in (PROGRAM, {"type": "sse", "url": "https://h/x", "headers": {"A": "b"}}):
        server = read_server("x", entry, scope="user", source="f")
        again = read_server("x", document_of(server), scope="user", source="f")
        assert again == server


def test_unknown_keys_and_bad_servers_are_lines_and_the_rest_works(tmp_path: Path) -> None:
    here = places(tmp_path)
    write(here.file_of("user"), {"good": PROGRAM | {"colour": "red"}, "bad": {"command": 3}, "a b": PROGRAM})
    here.file_of("project").write_text("{ this is no JSON")
    found = find_servers(here)
    assert [server.name for server in found.servers] == ["good"]
    text = "\n".join(found.problems)
    assert len(found.problems) == 4
    assert ".mcp.json" in text
    assert "good.colour" in text
    assert "bad: command" in text


def test_of_two_servers_of_one_name_the_nearer_counts_and_it_is_told(tmp_path: Path) -> None:
    here = places(tmp_path, given=('{"mcpServers": {"b": {"command": "given"}}}',))
    write(here.file_of("user"), {"a": {"command": "user"}, "b": {"command": "user"}})
    write(here.file_of("project"), {"a": {"command": "project"}})
    write(here.file_of("local"), {"a": {"command": "local"}})
    found = find_servers(here)
    assert {server.name: server.command for server in found.servers} == {"a": "local", "b": "given"}
    assert len(found.notes) == 3


def test_a_projects_server_does_not_take_the_place_of_the_users(tmp_path: Path) -> None:
    here = places(tmp_path)
    write(here.file_of("user"), {"a": {"command": "user"}})
    write(here.file_of("project"), {"a": {"command": "project"}})
    found = find_servers(here)
    assert [(server.command, server.scope) for server in found.servers] == [("user", "user")]
    assert len(found.notes) == 1


def test_a_project_that_is_not_trusted_defines_nothing(tmp_path: Path) -> None:
    here = places(tmp_path, trusted=False)
    write(here.file_of("project"), {"a": PROGRAM})
    assert not find_servers(here).servers


def test_a_link_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    here = places(tmp_path)
    write(tmp_path / "elsewhere.json", {"a": PROGRAM})
    here.file_of("project").symlink_to(tmp_path / "elsewhere.json")
    found = find_servers(here)
    assert not found.servers
    assert found.problems


def test_only_what_was_given(tmp_path: Path) -> None:
    here = places(tmp_path, given=('{"mcpServers": {"b": {"command": "x"}}}',), strict=True)
    write(here.file_of("user"), {"a": PROGRAM})
    assert [server.name for server in find_servers(here).servers] == ["b"]


def test_variables_are_named_and_their_values_never_told() -> None:
    server = read_server("x", PROGRAM, scope="project", source="f")
    env = {"SECRET": "s3cret"}
    assert named_variables(server) == ("PORT", "SECRET")
    assert variable_words(server, env) == ("PORT (its default)", "SECRET (set)")
    full = expanded(server, env)
    assert full.args == ("./server.js", "1")
    assert full.env == (("TOKEN", "s3cret"),)
    assert "s3cret" not in shape_of(server)
    assert "TOKEN: ${SECRET}" in shape_of(server)
    with pytest.raises(MissingVariables, match="SECRET"):
        expanded(server, {})


def test_what_the_user_wrote_down_may_be_a_secret() -> None:
    server = read_server("x", {"url": "http://h", "headers": {"Authorization": "Bearer abc"}}, scope="user", source="f")
    assert "abc" not in shape_of(server)


def test_an_approval_is_about_exactly_this(tmp_path: Path) -> None:
    here = places(tmp_path)
    script = here.root / "server.js"
    script.write_text("1")
    write(here.file_of("project"), {"a": PROGRAM})
    approvals = McpApprovals(here.home)
    (server,) = find_servers(here).servers
    assert not approvals.is_approved(server, here.root)
    assert approvals.approve([server], here.root) == 1
    assert McpApprovals(here.home).may_run(server, here.root)
    assert not approvals.is_approved(server, tmp_path / "kept"), "another project"
    script.write_text("2")
    assert not approvals.may_run(server, here.root), "the script is another"
    (again,) = find_servers(here).servers
    assert not approvals.is_approved(again, here.root)
    write(here.file_of("project"), {"a": PROGRAM | {"env": {"TOKEN": "${OTHER}"}}})
    (changed,) = find_servers(here).servers
    assert changed.digest not in (server.digest, again.digest)
    assert approvals.revoke([server], here.root) == 1


@pytest.mark.parametrize("change", [{"command": "deno"}, {"args": []}, {"env": {}}, {"cwd": "sub"}, {"type": "stdio"}])
def test_every_part_of_a_definition_is_in_its_digest(tmp_path: Path, change: dict[str, Any]) -> None:
    before = digest_of(read_server("x", PROGRAM, scope="project", source="f"), tmp_path)
    after = digest_of(read_server("x", PROGRAM | change, scope="project", source="f"), tmp_path)
    assert (before == after) == (change == {"type": "stdio"})


def test_changing_files(tmp_path: Path) -> None:
    here = places(tmp_path)
    path = here.file_of("local")
    change_servers(path, lambda servers: servers.update(a=PROGRAM), private=True)
    assert os.stat(path).st_mode & 0o777 == 0o600
    set_disabled(path, "a", disabled=True)
    (server,) = find_servers(here).servers
    assert server.disabled
    set_disabled(path, "a", disabled=False)
    (server,) = find_servers(here).servers
    assert not server.disabled
    path.write_text("no JSON")
    with pytest.raises(ValueError, match="not JSON"):
        change_servers(path, lambda servers: servers.clear(), private=True)
    assert path.read_text() == "no JSON", "what cannot be read is not overwritten"


def test_half_a_character_in_a_file_is_one_line() -> None:
    """It could be written to no file and no terminal, and made every start in such a project fail."""
    told: list[str] = []
    assert parsed('{"mcpServers": {"a": {"command": "\\ud800"}}}', "x.json", told.append) is None
    assert told == ["x.json: it holds half a character (a lone surrogate); none of its servers is there"]
