"""Everyday reading runs unasked: substitutions that are only shown, plain arithmetic, and readers that people use."""

from pathlib import Path

import pytest

from unit.permissions.world import World

RUNS = """
echo "today is $(date)"
echo "$(git rev-parse --short HEAD)"
echo "lines: $(wc -l < README.md)"
echo $(ls | wc -l)
echo "a $(echo "b $(date)")"
printf '%s\\n' "$(pwd)"
echo "branch: $(git branch --show-current)"
cd src && echo "$(ls)"
echo "$(< README.md)"
for f in a.txt b.txt; do echo "$f $(wc -l < README.md)"; done
GIT_PAGER=cat git log -5
PAGER=cat git log
GIT_PAGER= git log -3
env GIT_PAGER=cat git log
echo $((1+2))
echo "sum: $(( (10 - 4) / 3 ))"
head -n $((2*5)) README.md
ls; echo $?
git status; echo "exit: $?"
echo {1..3} {a..c}
for i in {1..3}; do echo $i; done
# only a comment
ls -la  # long
< README.md wc -l
2>/dev/null ls src
cat < README.md -n
wc 2>/dev/null -l README.md
sed 's|a|b|g' README.md
sed 's_a_b_' README.md
sed 's!a!b!' README.md
sed 's=a=b=' README.md
nm -C a.bin
objdump -d a.bin
readelf -a a.bin
size a.bin
strings -n 8 a.bin
zgrep -i x a.gz
xzgrep x a.gz
zdiff a.gz a.gz
zcat a.gz
man ls
man 3 printf
man -k copy
whatis ls
lsof -nP -i :8080
lsof README.md
ss -tlnp
ss -t state established
netstat -tlnp
ip addr
ip -br link show
ip route show dev eth0
vmstat 1 2
top -b -n 1
dmesg -T
last -n 5
shuf -n 3 a.txt
docker ps -a
docker images
docker container ls
docker network ls
docker system df
docker stats --no-stream
kubectl config current-context
kubectl version --client
systemctl status nginx
systemctl list-units --type=service
systemctl --user is-active x
systemctl is-enabled x.service
journalctl -u nginx -n 50
journalctl --since today
go env GOPATH
cargo --list
cargo tree --frozen
npm root -g
npm explain x
git shortlog -sn
git submodule
git cherry --verbose
sha256sum -c sums.txt
md5sum --check --quiet sums.txt
lsblk --topology
uname --kernel-version
pstree --show-pids
cut --zero-terminated -f1 data.csv
rm --help
"""
ASKS = """
echo $(cat README.md)
echo "$(touch x)"
echo "$(rm a.txt)"
echo "$(cat /etc/shadow)"
echo "$(cat ~/.ssh/id_rsa)"
echo "$(curl x.example)"
cat "$(echo README.md)"
cat $(ls)
"$(echo ls)"
ls "$(pwd)"
printf "$(cat README.md)"
printf -- "$(cat README.md)" PATH
printf -v PATH "$(date)"
b2sum -c tagged.txt
md5sum -c README.md
nm *.o
strings @*
x="$(date)"; echo hi
LANG="$(date)" ls
ls > "$(date)"
[ "$(touch x)" ]
echo "${x:-$(date)}"
echo "$(cd .. && cat secret)"
echo "$(< ~/.ssh/id_rsa)"
echo "$(cat <<E\n$(touch x)\nE\n)"
cat <(date)
echo $((x+1))
echo $((a[$(touch x)]))
echo $((1/0))
echo $((010))
echo $HOME
echo $AWS_SECRET_ACCESS_KEY
cat $?
GIT_PAGER=less git log
GIT_PAGER='touch x' git log
PAGER=./x git log
GIT_EDITOR=cat git log
echo {1..99999}
cat {1..3}/../../secret
sed 's|a|b|e' README.md
sed 's_a_b_w x' README.md
sed 's!a!b!;w x' README.md
sed 's=a=b=w x' README.md
nm @args
nm --plugin ./x.so a.bin
objdump -S a.bin
objdump @x
objdump --dwarf=follow-links a.bin
readelf -w a.bin
readelf -wK a.bin
strings @list
size @x
zgrep -f x a.gz
man -P ./x ls
man -H./x ls
man ./x.1
man -l x.1
man -C x ls
lsof -i :8080
lsof
ss -K dst 10.0.0.1
ss -r
ss -F x
ss dst example.com
netstat -a
ip link set eth0 down
ip addr add 10.0.0.1/8 dev eth0
ip -b x
ip l s eth0 down
ip link s eth0 up
docker top web e
docker container top web e
ip netns exec a ls
ip route get example.com
ifconfig eth0 down
vmstat 1
top
top -b
dmesg -c
dmesg -C
dmesg -w
last -d
shuf -o x a.txt
docker inspect web
docker logs web
docker exec web ls
docker compose ps
docker -H tcp://x ps
docker context use x
docker system prune
docker volume rm x
docker stats
kubectl get pods
kubectl get secret x -o yaml
kubectl config view --raw
kubectl version
systemctl restart nginx
systemctl -H host status x
systemctl edit x
systemctl cat x
systemctl set-property x a=b
journalctl -f
journalctl --vacuum-size=1
journalctl --rotate
journalctl -D /etc
journalctl --file x
go env -w A=b
go list ./...
cargo tree
cargo search x
npm config list
npm outdated
npm view x
gh pr list
sha256sum -c outside.txt
sha256sum -c < sums.txt
echo x | sha256sum -c
ps -auxe
ps axe
git config --list
git ls-remote
git fsck --lost-found
ldd a.bin
"""


@pytest.fixture
def everyday(world: World) -> World:
    (world.workspace / "sums.txt").write_text("d41d8cd98f00b204e9800998ecf8427e  README.md\n")
    (world.workspace / "outside.txt").write_text("d41d8cd98f00b204e9800998ecf8427e  ../secret\n")
    (world.workspace / "tagged.txt").write_text("BLAKE2b (../secret) = d41d8cd98f00b204e9800998ecf8427e\n")
    (world.workspace / "@flags.o").write_text("--plugin=./x.so")
    return world


def test_everyday_reading_is_not_asked_about(everyday: World) -> None:
    lines = [line for line in RUNS.split("\n") if line]
    found = [(line, everyday.check(command=line)) for line in lines]
    assert [f"{line}: {got['why']}" for line, got in found if got["verdict"] != "allow"] == []


def test_what_is_close_to_it_is(everyday: World) -> None:
    lines = [line.replace("\\n", "\n") for line in ASKS.split("\n") if line]
    assert [line for line in lines if everyday.command(line) == "allow"] == []


def test_docker_on_another_machine_asks(everyday: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://host.example:2375")
    assert everyday.command("docker ps") == "ask"
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    assert everyday.command("docker ps") == "allow"
    settings = everyday.home / ".docker" / "config.json"
    settings.parent.mkdir()
    settings.write_text('{"currentContext": "remote"}')
    assert everyday.command("docker ps") == "ask"


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("kubectl get pods", "kubectl is not known to only read"),
        ("echo $(cat README.md)", "without quotes"),
        ("lsof -i :1", "names of other machines"),
        ("journalctl -f", "-f"),
        ("echo $((x+1))", "more than numbers"),
    ],
)
def test_the_reason_names_the_cause(everyday: World, command: str, cause: str) -> None:
    assert cause in everyday.check(command=command)["why"]


CASES = Path(__file__).parent / "cases"
MOST_ASKED = 0.03


@pytest.mark.parametrize("group", ["core", "git", "programs"])
def test_few_of_the_everyday_reads_ask(world: World, group: str) -> None:
    """Written from what cheat sheets show. Left out is what runs code of the project, may ask the network, or is asked
    about on purpose (redteam/shell_ask.txt)."""
    lines = (CASES / f"everyday_{group}.txt").read_text(encoding="utf-8").splitlines()
    asked = [line for line in lines if world.command(line) != "allow"]
    assert len(asked) <= MOST_ASKED * len(lines), asked


def test_no_flag_of_an_everyday_program_writes_or_runs_unasked(world: World) -> None:
    text = (CASES.parent / "redteam" / "everyday_not_allowed.txt").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if world.command(line) == "allow"] == []
