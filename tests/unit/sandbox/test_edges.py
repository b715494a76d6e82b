"""Limits of a command, and what is said where the sandbox keeps git from writing."""

import os

import pytest

from unit.sandbox.world import World


async def test_a_process_gets_no_more_memory_than_its_share(world: World):
    world.sandbox._max_memory = 300_000_000
    result = await world.run("python3 -c 'len(bytearray(900_000_000))' && echo it got it; echo over")
    assert "it got it" not in result.text
    assert "over" in result.text


async def test_a_command_starts_no_more_processes_than_its_share(world: World):
    if os.getuid() == 0:
        pytest.skip("the kernel does not count the processes of root")
    if world.kind == "landlock":
        pytest.skip("without a world of its own the user's other processes would count too")
    world.sandbox._max_processes = 40
    result = await world.run("for n in $(seq 200); do sleep 30 & done; echo started $(jobs -r | wc -l)")
    assert "started 200" not in result.text


async def test_a_commit_inside_a_script_is_told_why_it_fails_and_how_it_works(world: World):
    if world.kind == "landlock":
        pytest.skip("git directories cannot be written in this kind at all")
    (world.ws / "release.sh").write_text("echo b >> README.md\ngit commit -qam release\n")
    failed = await world.run("sh release.sh")
    assert failed.is_error
    assert "does not name git" in failed.text
    worked = await world.run("git status >/dev/null; sh release.sh")
    assert not worked.is_error, worked.text
