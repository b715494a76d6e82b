"""D: credential files cannot be read by commands, by the list that tools use; what is withheld is told and offered."""

from pathlib import Path

import pytest

from clew.system.environment import tool_environment
from clew.system.sandbox import tree
from clew.system.sandbox.policy import Sandbox
from clew.text.guarded_names import secret_name
from unit.sandbox.cases import HOME_SECRETS, PROJECT_SECRETS, PUBLIC_FILES, READS, SECRET_VARIABLES
from unit.sandbox.world import KINDS, World

SECRET = "TOKEN=CANARY-4f9a\n_authToken=CANARY-4f9a\nnpmAuthToken: CANARY-4f9a\n"


def plant(top: Path, name: str, text: str = SECRET) -> Path:
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", PROJECT_SECRETS)
async def test_credential_files_of_the_project(world: World, name: str):
    plant(world.ws, name)
    assert secret_name(name)
    result = await world.run(f"cat '{name}'; grep -rs CANARY . ; python3 -c \"print(open('{name}').read())\"")
    assert "CANARY" not in result.text
    assert (world.ws / name).read_text() == SECRET, "the user's own file is as it was"


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", [".env", "package/deep/.env.local", "certs/server.key"])
async def test_every_way_to_read_one(world: World, name: str, read: str):
    plant(world.ws, name)
    result = await world.run(read.replace("FILE", name))
    assert "CANARY" not in result.text


@pytest.mark.parametrize("name", HOME_SECRETS)
async def test_credential_files_of_the_home(world: World, name: str):
    path = plant(world.home, name)
    result = await world.run(f"cat '{path}'; ls '{path.parent}'; find '{world.home}' -type f -exec cat {{}} + 2>&1")
    assert "CANARY" not in result.text


@pytest.mark.parametrize("name", sorted(PUBLIC_FILES))
async def test_public_files_stay_readable(world: World, name: str):
    plant(world.ws, name, PUBLIC_FILES[name])
    plant(world.ws, "certs/.env")
    result = await world.run(f"cat '{name}'")
    assert "CANARY" in result.text
    assert not result.is_error


@pytest.mark.parametrize("name", SECRET_VARIABLES)
async def test_variables_that_nobody_named(world: World, name: str):
    world.session.env[name] = "CANARY-4f9a"
    result = await world.run("env; set; cat /proc/self/environ | tr '\\0' '\\n'")
    assert "CANARY" not in result.text
    assert name not in tool_environment({name: "x"})
    world.session.keep_variables = frozenset({name})
    assert "CANARY" in (await world.run("env")).text


async def test_what_is_withheld_is_named_and_offered(world: World):
    plant(world.ws, ".env")
    plant(world.ws, "package/api/.env.test.local")
    result = await world.run("cat .env")
    assert "Withheld from commands because they may hold secrets: .env." in result.text
    assert [offer.rule for offer in result.offers] == ["Read(.env)"]
    script = "import os\nopen('package/api/.env.test.local')\n"
    plant(world.ws, "src/t.py", script)
    failing = await world.run("python3 src/t.py")
    assert [offer.rule for offer in failing.offers] == ["Read(package/api/.env.test.local)"]
    assert "package/api/.env.test.local" in failing.text


async def test_a_failure_without_a_word_names_the_likeliest(world: World):
    plant(world.ws, ".env")
    plant(world.ws, "certs/server.key")
    silent = await world.run("exit 3")
    assert [offer.rule for offer in silent.offers] == ["Read(.env)"]
    assert (await world.run("true")).offers == ()
    assert (await world.run("false || true")).offers == ()


async def test_what_the_user_allowed_can_be_read(world: World):
    plant(world.ws, ".env")
    plant(world.ws, ".env.local")
    allowed = str(world.ws / ".env")
    world.session.sandbox = Sandbox(
        lambda: KINDS[world.kind], home=str(world.home), allowed=lambda path: path == allowed
    )
    result = await world.run("cat .env .env.local")
    assert "CANARY-4f9a" in result.text
    assert "TOKEN=CANARY" in result.text
    assert [offer.rule for offer in result.offers] == ["Read(.env.local)"]
    assert "CANARY" not in (await world.run("cat .env.local")).text


async def test_a_link_to_a_secret_and_a_secret_that_is_a_link(world: World, tmp_path: Path):
    store = plant(tmp_path, "store/values")
    plant(world.ws, ".env.real")
    (world.ws / ".env").symlink_to(store)
    (world.ws / "plain.txt").symlink_to(world.ws / ".env.real")
    result = await world.run(f"cat .env plain.txt {store}")
    assert "CANARY" not in result.text


async def test_a_secret_made_between_two_commands(world: World):
    assert not (await world.run("true")).is_error
    plant(world.ws, "src/new/.env")
    assert "CANARY" not in (await world.run("cat src/new/.env")).text


async def test_the_login_of_a_repository_is_not_shown(world: World):
    config = world.ws / ".git" / "config"
    with config.open("a") as file:
        file.write(
            '[remote "origin"]\n\turl = https://me:CANARY-4f9a@host/x.git\n[http]\n\textraheader = A: CANARY-4f9a\n'
        )
    result = await world.run("cat .git/config; git config -l; git remote -v; git log --oneline")
    assert "CANARY" not in result.text
    if world.kind != "landlock":
        assert not result.is_error, result.text
        assert "host/x.git" in result.text


async def test_recursive_reads_say_what_they_left_out(world: World):
    plant(world.ws, ".env")
    result = await world.run("grep -r TOKEN .")
    assert "CANARY" not in result.text
    assert ".env" in result.text


async def test_a_background_command_reads_none_either(world: World):
    plant(world.ws, "src/.env")
    await world.run("cat src/.env > src/a.py 2>&1", background=True)
    (shell,) = world.session.shells.background.values()
    assert shell.task is not None
    await shell.task
    assert "CANARY" not in (world.ws / "src" / "a.py").read_text()


async def test_moving_the_directory_around_a_secret_does_not_show_it(world: World):
    """Installed packages are not searched, so a command may try to make one of the user's directories."""
    plant(world.ws, "certs/server.key")
    plant(world.ws, "app/deep/.env")
    (world.ws / "node_modules").mkdir()
    await world.run("mv certs node_modules/; mv app/deep node_modules/; mv node_modules/certs node_modules/c2")
    result = await world.run("find . -type f -exec cat {} + 2>&1; cat node_modules/*/.env node_modules/*/server.key")
    assert "CANARY" not in result.text
    again = await world.run("mv node_modules vendor; cat vendor/*/.env vendor/*/server.key")
    assert "CANARY" not in again.text
    assert "CANARY" not in (await world.run("cat */*/.env */*/server.key")).text


async def test_drowning_the_search_does_not_show_a_secret(world: World, monkeypatch: pytest.MonkeyPatch):
    plant(world.ws, "zz/deep/er/.env")
    assert "CANARY" not in (await world.run("cat zz/deep/er/.env")).text
    monkeypatch.setattr(tree, "MAX_DIRECTORIES", 3)
    assert "CANARY" not in (await world.run("cat zz/deep/er/.env")).text
    assert not world.sandbox.searched_all


async def test_a_key_in_an_installed_package_is_no_secret_of_the_user(world: World):
    plant(world.ws, "node_modules/tls/test.key")
    plant(world.ws, ".venv/lib/python3/site-packages/certifi/cacert.pem")
    result = await world.run("cat node_modules/tls/test.key .venv/lib/python3/site-packages/certifi/cacert.pem")
    assert result.text.count("TOKEN=CANARY") == 2
