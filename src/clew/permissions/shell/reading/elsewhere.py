"""Commands that run in another place of the same machine, as shell text: in a container that has places of the machine
mounted, by ssh to the machine itself, and in the code of an interpreter. Read for what is denied, never for a proof."""

import os
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from clew.permissions.shell.reading.unwrap import Effective
from clew.text.guarded_names import word_set

_MAX_FOUND = 32
_MAX_CODE = 20_000
_CONTAINERS = word_set("docker podman nerdctl")
_STARTS = word_set("run create")
_VALUED = word_set(
    """-v --volume --mount -w --workdir -e --env --env-file --name --network --net -u --user --entrypoint -p --publish
    -h --hostname -l --label --label-file -c --cpu-shares --cpus --cpuset-cpus -m --memory --memory-swap --platform
    --pull --shm-size --tmpfs --cap-add --cap-drop --security-opt --device --gpus --ulimit --add-host --dns --ipc --pid
    --userns --uts --cgroupns --restart --log-driver --log-opt --volumes-from --link --expose --group-add --cidfile
    --stop-signal --stop-timeout --health-cmd --ip --mac-address --network-alias --isolation --runtime --annotation
    --storage-opt --sysctl --pids-limit --blkio-weight -a --attach --detach-keys --pod --rootfs --secret --timeout"""
)
_ABSOLUTE = re.compile(r"(?<![\w.~/$}-])/[^\s\"';&|)(`]*")
_NOWHERE = "/container"
_SSH_VALUED = frozenset("-BbcDEeFIiJLlmOopPQRSWw")
_OWN_MACHINE = re.compile(
    r"localhost|ip6-localhost|localhost\.localdomain|127(?:\.\d{1,3}){3}|::1|\[::1\]|0(?:\.0){0,3}"
)
_LOCAL_SETTING = re.compile(r"(?i)(?:proxycommand|localcommand|knownhostscommand|remotecommand)(?:\s*=\s*|\s+)(.*)")
_CODE_FLAGS = {
    "python": "-c", "pypy": "-c", "perl": "-e -E", "ruby": "-e", "node": "-e --eval -p --print", "bun": "-e --eval",
    "deno": "eval", "php": "-r",
}  # fmt: skip
_STRING = r"""[rbuf]{0,2}(?:'([^'\n]{0,300})'|"([^"\n]{0,300})"|`([^`\n]{0,300})`)"""
_LITERAL = re.compile(_STRING)
_HOME = (
    r"""(?:\w{1,40}\.){0,4}(?:expanduser\(\s*['"]~/?['"]\s*\)|Path\.home\(\)|homedir\(\)|Dir\.home(?:\(\))?|environ\[['"]HOME['"]\]"""
    r"""|getenv\(['"]HOME['"]\)|environ\.get\(['"]HOME['"]\)|env\.HOME|ENV\[['"]HOME['"]\]|\$ENV\{HOME\})"""
)
_REMOVES = re.compile(
    r"(?:\b(?:rmtree|rm_rf|rm_r|remove_tree|remove_dir|remove_entry_secure|rmSync|rmdirSync|rimraf|rimrafSync|removeSync)"
    r"|\.rm|Deno\.remove(?:Sync)?)\s{0,9}\(?\s{0,9}(?:(?:\w{1,40}\.){0,4}(?:Path|str|fspath)\(\s{0,9})?"
    rf"(?:{_STRING}|(?P<home>{_HOME}))\s{{0,9}}\)?\s{{0,9}}(?=[,)\];}}\n]|$)"
)
_STARTS_SHELL = re.compile(
    r"\b(?:system|popen|run|call|check_call|check_output|Popen|getoutput|getstatusoutput|exec\w{0,9}|spawn\w{0,9}"
    rf"|shell_exec|passthru|qx|sh)\s{{0,9}}\(?\s{{0,9}}(?P<list>\[)?\s{{0,9}}{_STRING}(?P<rest>[^\])]{{0,500}})"
)


class ForeignText(NamedTuple):
    """Shell text, and the directory it runs in."""

    text: str
    cwd: str | None


class _Mount(NamedTuple):
    source: str
    target: str


def foreign_texts(found: Effective, home: str) -> list[ForeignText]:
    """What this command would run elsewhere, in words of this machine."""
    name = found.name
    if name in _CONTAINERS:
        texts = _in_container(found, home)
    elif name in ("ssh", "autossh"):
        texts = _by_ssh(found, home)
    elif flags := next((flags for start, flags in _CODE_FLAGS.items() if name.startswith(start)), ""):
        texts = _in_code(found, flags.split())
    else:
        return []
    return [one for _, one in zip(range(_MAX_FOUND), texts, strict=False)]


def _in_container(found: Effective, home: str) -> Iterator[ForeignText]:
    words = [value.text for value in found.argv[1:]]
    start = next((at for at, word in enumerate(words[:6]) if word in _STARTS), None)
    if start is None:
        return
    values: dict[str, list[str]] = {}
    at = start + 1
    while at < len(words) and words[at].startswith("-"):
        name, attached, value = words[at].partition("=")
        if not attached and words[at].startswith("-v/"):
            name, attached, value = "-v", "=", words[at][2:]
        if not attached and name in _VALUED and at + 1 < len(words):
            at, value = at + 1, words[at + 1]
        values.setdefault(name, []).append(value)
        at += 1
    inner = [*values.get("--entrypoint", [])[-1:], *words[at + 1 :]]
    folder = [*values.get("-w", ()), *values.get("--workdir", ())][-1:] or ["/"]
    for mount in sorted(_mounts(values, found.cwd, home), key=lambda mount: len(mount.source)):
        place = _mapped(folder[0], mount)
        # Where a flag of this list is missing, its value stands for the image, and the image for the program.
        for line in (inner, inner[1:]):
            if line:
                text = " ".join(_quoted(_mapped(word, mount)) for word in line)
                yield ForeignText(text, place if place.startswith("/") else None)


def _mounts(values: dict[str, list[str]], cwd: str | None, home: str) -> Iterator[_Mount]:
    """Places of the machine that the container may write."""
    for text in (*values.get("-v", ()), *values.get("--volume", ())):
        source, _, rest = text.partition(":")
        target, _, options = rest.partition(":")
        if target and "ro" not in options.split(","):
            yield from _mount(source, target, cwd, home)
    for text in values.get("--mount", ()):
        fields: dict[str, str] = {}
        for part in text.split(","):
            key, _, value = part.partition("=")
            fields[key] = value
        source = fields.get("source", fields.get("src", ""))
        target = fields.get("target", fields.get("destination", fields.get("dst", "")))
        if target and fields.get("type", "bind") == "bind" and not {"readonly", "ro"} & fields.keys():
            yield from _mount(source, target, cwd, home)


def _mount(source: str, target: str, cwd: str | None, home: str) -> Iterator[_Mount]:
    if source == "~" or source.startswith("~/"):
        source = home + source[1:]
    if source.startswith(".") and cwd is not None:
        source = os.path.join(cwd, source)
    if source.startswith("/"):
        yield _Mount(os.path.normpath(source), os.path.normpath(target))


def _mapped(text: str, mount: _Mount) -> str:
    """A word or a shell text of the container, with the mounted place in it as the machine knows it."""

    def place(found: re.Match[str]) -> str:
        path = found[0]
        if path.strip("/*") == "":
            return f"{mount.source.rstrip('/')}{path}"  # all of the container is what is mounted as well
        if path == mount.target or path.startswith(mount.target.rstrip("/") + "/"):
            return f"{mount.source.rstrip('/')}{path[len(mount.target.rstrip('/')) :]}" or "/"
        return f"{_NOWHERE}{path}"

    return _ABSOLUTE.sub(place, text)


def _quoted(word: str) -> str:
    plain = re.fullmatch(r"[\w@%+=:,./*?\[\]-]+", word)
    return word if plain else shlex.quote(word)


def _by_ssh(found: Effective, home: str) -> Iterator[ForeignText]:
    words = [value.text for value in found.argv[1:]]
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        takes = word[-1] in _SSH_VALUED and not any(letter in _SSH_VALUED for letter in word[1:-1])
        value = words[at + 1] if takes and at + 1 < len(words) else word[2:]
        if "o" in word[1:] and (setting := _LOCAL_SETTING.match(value)):
            yield ForeignText(setting[1], found.cwd)
        at += 2 if takes else 1
    if at >= len(words):
        return
    host = words[at].removeprefix("ssh://").rpartition("@")[2].partition("/")[0]
    host = host.partition(":")[0] if host.count(":") == 1 else host
    if _OWN_MACHINE.fullmatch(host) or host == os.uname().nodename:
        yield ForeignText(" ".join(words[at + 1 :]), home)


def _in_code(found: Effective, flags: list[str]) -> Iterator[ForeignText]:
    words = [value.text for value in found.argv[1:]]
    codes = [words[at + 1] for at, word in enumerate(words[:-1]) if _is_code_flag(word, flags)]
    codes += [word[2:] for word in words for flag in flags if len(flag) == 2 and word.startswith(flag)]
    for code in (*codes, found.fed):
        for match in _REMOVES.finditer(code[:_MAX_CODE]):
            place = match[1] or match[2] or match[3] or ("~" if match["home"] else "")
            if place:
                path = "~" + shlex.quote(place[1:]) if place == "~" or place.startswith("~/") else shlex.quote(place)
                yield ForeignText(f"rm -rf {path.removesuffix(chr(39) * 2)}", found.cwd)
        for match in _STARTS_SHELL.finditer(code[:_MAX_CODE]):
            first = next((match[group] for group in (2, 3, 4) if match[group]), "")
            rest: str = match["rest"] if match["list"] else ""
            more = [next(filter(None, one.groups()), "") for one in _LITERAL.finditer(rest)]
            yield ForeignText(shlex.join([first, *more]) if match["list"] else first, found.cwd)


def _is_code_flag(word: str, flags: list[str]) -> bool:
    """Also at the end of a cluster: `python3 -Ic`, `perl -we`."""
    if word in flags:
        return True
    return any(len(flag) == 2 and re.fullmatch(rf"-[A-Za-z0-9]*{flag[1]}", word) is not None for flag in flags)
