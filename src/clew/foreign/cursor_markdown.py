"""Conversations exported as Markdown: Cursor's own export and SpecStory's history."""

import re

from clew.foreign.build import Builder
from clew.foreign.shapes import Json

_SPEAKER = re.compile(
    r"^(?:_\*\*(?P<spec>User|Assistant|Agent)(?: \((?P<detail>[^)\n]*)\))?\*\*_"
    r"|\*\*(?P<cursor>User|Cursor)\*\*)[ \t]*$",
    re.MULTILINE,
)
_TITLE = re.compile(r"^# (.+?)(?: \((\d{4}-\d{2}-\d{2}[^)]*)\))?[ \t]*$", re.MULTILINE)
_SESSION = re.compile(r"<!-- \w+ Session ([0-9a-fA-F-]{8,}) \(([^)]*)\) -->")
_EXPORTED = re.compile(r"^_Exported on (\d+)/(\d+)/(\d{4}) at (\d+:\d+:\d+).*from Cursor \(([^)]*)\)_", re.MULTILINE)
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)
_SUMMARY_TAG = re.compile(r"</?details>|<summary>.*?</summary>", re.DOTALL)
_TOOL = re.compile(r"^Tool use: \*\*(?P<name>[^*\n]+)\*\*[^\n]*\n(?P<body>.*?)(?=^---\s*$|^Tool use: |\Z)", re.M | re.S)
_PARAMETER = re.compile(r"^\s*\* (\w+): (.*)$", re.MULTILINE)
_TODO = re.compile(r"^- \[([ xX~-])\] (.+)$", re.MULTILINE)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_FOLDED = re.compile(r"<details>\s*<summary>(.*?)</summary>.*?</details>", re.DOTALL)
_QUOTED = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")


def read_markdown(text: str, build: Builder) -> None:
    """Fold an exported conversation into entries."""
    _header(text[:4000], build)
    turns = list(_SPEAKER.finditer(text))
    for number, turn in enumerate(turns):
        end = turns[number + 1].start() if number + 1 < len(turns) else len(text)
        body = _without_rule(text[turn.end() : end])
        detail = turn["detail"] or ""
        if (turn["spec"] or turn["cursor"]) == "User":
            build.at(_moment(detail))
            build.user(body)
        else:
            if detail and detail != "default" and not detail[:1].isdigit():
                build.model = detail
            _assistant(body, build)


def _header(head: str, build: Builder) -> None:
    if session := _SESSION.search(head):
        build.rename(session[1])
        build.at(_moment(session[2]))
    exported = _EXPORTED.search(head)
    if exported:
        month, day, year, clock, version = exported.groups()
        build.meta.version = version
        if int(month) > 12:
            month, day = day, month
        build.at(f"{year}-{int(month):02d}-{int(day):02d}T{clock.rjust(8, '0')}")
    if title := _TITLE.search(head):
        build.at(_moment(title[2] or ""))
        build.title(title[1])


def _moment(text: str) -> str:
    """`2025-10-14 22:25Z` as ISO time."""
    return text.strip().replace(" ", "T", 1)


def _without_rule(body: str) -> str:
    """Blocks are divided by a rule, which belongs to neither side."""
    body = body.strip()
    while body.endswith("\n---") or body == "---":
        body = body[:-3].rstrip()
    return body


def _assistant(body: str, build: Builder) -> None:
    build.end_reply()
    for thought in _THOUGHT.findall(body):
        build.reasoning(_SUMMARY_TAG.sub("", thought).strip())
    body = _THOUGHT.sub("", body)
    position = 0
    for tool in _TOOL.finditer(body):
        build.text(_words(body[position : tool.start()]))
        _tool(tool["name"].strip(), tool["body"], build)
        position = tool.end()
    build.text(_words(body[position:]))


def _words(text: str) -> str:
    """The answer without rules; of a folded block only its summary line stays."""
    text = _FOLDED.sub(lambda block: " ".join(block[1].split()), text)
    lines = [line for line in text.strip().split("\n") if line.strip() != "---"]
    return "\n".join(lines).strip()


def _tool(name: str, body: str, build: Builder) -> None:
    """A tool use as far as the export shows it: parameters, or what its summary line names."""
    head, _, result = body.partition("*Result*:")
    arguments: Json = dict(_PARAMETER.findall(head))
    summary = _SUMMARY.search(body)
    quoted = _QUOTED.findall(summary[1]) if summary else []
    todos = _TODO.findall(body) if "todo" in name.lower() else []
    if todos:
        arguments = {"todos": [{"content": text, "status": _state(mark)} for mark, text in todos]}
    elif not arguments and quoted:
        value = quoted[-1][0] or quoted[-1][1]
        arguments = {"command": value} if "terminal" in name else {"path": value, "query": value}
    call = build.call("", name, arguments)
    build.result(call, _SUMMARY_TAG.sub("", result or body).strip())


def _state(mark: str) -> str:
    return {"x": "completed", "X": "completed", "~": "in_progress", "-": "in_progress"}.get(mark, "pending")
