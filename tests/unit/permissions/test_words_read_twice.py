"""Words that the program reads otherwise than its row: they ask, and their plain forms run."""

import subprocess

import pytest

from unit.permissions.world import World

# Files of further words, scripts that split their words again, names that are looked up, verbs that come too late.
ASKS = """
nm -t @a.txt a.bin
objdump -d -j @a.txt a.bin
readelf -p @a.txt a.bin
size --radix @a.txt a.bin
strings -n @a.txt a.bin
zdiff -U "3';touch pwned;'" a.gz a.gz
bzgrep -m '9 . .env' x a.gz
bzgrep --context='1 x .env' x a.gz
zstdgrep -A '9 . .env' x a.gz
lsof -n -i @abc.attacker.example
lsof -n -i tcp@attacker.example
lsof -n -i@attacker.example:80
lsof +r README.md
ss dst cafe.be
ss state established dst dead.be
ss "( dst cafe.de )"
ip route get cafe.be
ip -fa link l set lo down
ip -fam link l add dummy0 type dummy
git stash -p list
git stash -- list
git stash --include-untracked list
git shortlog --group=format:%GK HEAD
git config sendemail.smtpPass
git config imap.pass
git config http.proxy
jq -n '(def env: 1; 2), env'
jq -n 'def env(f): 1; env'
"""

# What a tree holds and nobody named.
SHOWS_THE_SECRET = """
ls | grep -r ''
cat a.txt | grep -rh KEY
grep -r --exclude='*.env' --include='*' '' .
rg -tsh ''
rg -tall ''
rg --type-add 'x:.env' -tx ''
rg --iglob='.ENV' ''
rg --glob-case-insensitive -g '.ENV' ''
rg -g '.{env,x}' ''
rg -tpy -g '.env' ''
rg --hidden -g '!.env' -g '*' ''
rg --hidden -g '!x/y.py' ''
rg --hidden -l --json ''
git grep -e KEY --or -e -c
git grep -e -l
grep -r '' sub
"""

RUNS = """
nm -t d a.bin
zdiff -U 3 a.gz a.gz
zgrep -m 3 'two words' a.gz
bzgrep -A 2 'two words' a.gz
lsof -n -i :8080
lsof -nP -iTCP:8080
ss dst 10.0.0.1
ss dst 10.0.0.1:443
ss dst ::1
ip route get 1.1.1.1
ip -f inet addr
ip -family inet6 route show
git stash list
git stash show -p
git config user.name
jq 'def f: .a; f' data.json
ls | grep -i a
rg -tpy x
rg -l KEY
git grep -l KEY
grep -r --include='*.py' x .
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.fixture
def project(world: World) -> World:
    (world.workspace / ".git").rmdir()
    (world.workspace / ".env").write_text("API_KEY=sk-0123456789abcdef\n")
    (world.workspace / "sub" / ".ssh").mkdir()
    (world.workspace / "sub" / ".ssh" / "deploy").write_text("key\n")
    for words in (("init", "-q"), ("add", "-A")):
        subprocess.run(["git", *words], cwd=world.workspace, check=True, capture_output=True)
    return world


@pytest.mark.parametrize("command", lines(ASKS) + lines(SHOWS_THE_SECRET))
def test_a_word_that_means_more_asks(project: World, command: str):
    assert project.command(command) == "ask"


@pytest.mark.parametrize("command", lines(RUNS))
def test_the_plain_form_runs(project: World, command: str):
    assert project.command(command) == "allow"
