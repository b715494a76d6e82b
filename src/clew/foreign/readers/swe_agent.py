"""SWE-agent trajectories: the history of a run on one issue, demonstrations left out."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import below, found
from clew.foreign.readers.chat_messages import arguments_of, assistant_message, content_text
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_str, dicts
from clew.foreign.source import Source
from clew.foreign.tool_names import translate
from clew.foreign.user_text import UserText
from clew.ledger.calls import EDIT_TOOLS

AGENT = "swe_agent"
_ISSUE = re.compile(r"\bISSUE:\n(.*?)\n+INSTRUCTIONS:", re.DOTALL)
_DESCRIPTION = re.compile(r"<pr_description>\s*(.*?)\s*</pr_description>", re.DOTALL)
_CONSIDER = "Consider the following PR description:"
_EDIT = re.compile(r"edit (\d+):(\d+)\n(.*?)\n?end_of_edit", re.DOTALL)
_OPEN_FILE = re.compile(r"\(Open file: (?!n/a)(.+?)\)")
_EDITED = re.compile(r"\b(?:edited|created|updated|replaced|inserted|overwritten|written)\b", re.IGNORECASE)
_LIMITS = ("exit_cost", "exit_context", "exit_total_execution_time", "LimitsExceeded", "ContextWindow")
_DIRECTORY = re.compile(r"\(Current directory: (.+?)\)")


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """SWE-agent writes beside the checkout it runs from; only a configured folder is a default place."""
    configured = env.get("SWE_AGENT_TRAJECTORY_DIR")
    return (Path(configured),) if configured else ()


def discover(home: Path) -> Iterator[ForeignSession]:
    """All trajectories below a folder."""
    for path in below(home, depth=6):
        if path.suffix == ".traj":
            yield from found(AGENT, path, path.stem)


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One trajectory."""
    source = Source(path)
    value = as_dict(source.value())
    build = Builder(AGENT, path.stem)
    config = as_dict(as_dict(value.get("replay_config")).get("agent"))
    build.model = as_str(as_dict(config.get("model")).get("name"))
    history = [message for message in dicts(value.get("history")) if not message.get("is_demo")]
    run = _Run(build)
    for message in history:
        run.message(message)
    if not history:
        for step in dicts(value.get("trajectory")):
            run.message({"role": "assistant", "thought": step.get("thought"), "action": step.get("action")})
            run.message({"role": "user", "message_type": "observation", "content": step.get("observation")})
    if value:
        build.title(path.stem)
    run_ended(build, as_str(as_dict(value.get("info")).get("exit_status")))
    return build.transcript(path, source.problems)


def task_text(text: str) -> str:
    """The issue inside the instructions around it."""
    for pattern in (_ISSUE, _DESCRIPTION):
        if issue := pattern.search(text):
            return issue[1].strip().removeprefix(_CONSIDER).strip()
    return text


class _Run:
    """Pairs each action with the observation that follows it."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self._waiting: list[str] = []
        self._edits: set[str] = set()
        """Calls that change a file, if what is observed then says so."""
        self._has_task = False
        self._open_file = ""

    def message(self, message: Json) -> None:
        """One message of the history."""
        text = content_text(message.get("content"))
        match message.get("role"):
            case "system":
                self.build.meta_text(text)
            case "assistant":
                self._assistant(message)
            case "user" | "tool":
                self._user(message, text)
            case role:
                self.build.opaque(as_str(role), message)

    def _assistant(self, message: Json) -> None:
        if message.get("tool_calls"):
            thought = as_str(message.get("thought"))
            content = content_text(message.get("content")) or thought
            self._waiting = assistant_message(self.build, {**message, "content": content})
            self._edits = {as_str(call.get("id")) for call in dicts(message.get("tool_calls")) if _edits(call)}
            return
        action = as_str(message.get("action")).strip()
        self.build.end_reply()
        self.build.text(as_str(message.get("thought")) or content_text(message.get("content")))
        if action:
            name, arguments = _action(action, self._open_file)
            self._waiting = [self.build.call("", name, arguments)]
            self._edits = set(self._waiting) if name == "edit" else set()

    def _user(self, message: Json, text: str) -> None:
        if opened := _OPEN_FILE.search(text):
            self._open_file = opened[1]
        if folder := _DIRECTORY.search(text):
            self.build.meta.cwd = folder[1]
        if self._waiting:
            call_id = self._waiting.pop(0)
            self.build.result(call_id, text, is_error=call_id in self._edits and _EDITED.search(text) is None)
        elif not self._has_task:
            self._has_task = True
            self.build.user(text, reading=UserText("typed", task_text(text)))
        else:
            self.build.meta_text(text)


def _edits(call: Json) -> bool:
    function = as_dict(call.get("function"))
    return translate(as_str(function.get("name")), arguments_of(function.get("arguments"))[0])[0].name in EDIT_TOOLS


def _action(action: str, open_file: str) -> tuple[str, Json]:
    """The commands of the first versions' file viewer as reads and edits; anything else is a shell command."""
    if edit := _EDIT.match(action):
        return "edit", {"file_path": open_file or "(open file)", "old_string": "", "new_string": edit[3]}
    words = action.split()
    if len(words) in (2, 3) and words[0] == "open":
        return "read", {"file_path": words[1].strip('"')}
    return "bash", {"command": action}


def run_ended(build: Builder, status: str, why: str = "") -> None:
    """How a run came to its end; what was handed in because a limit was reached is not done for that."""
    if any(limit in status for limit in _LIMITS):
        build.turn_result("max_budget", 1, error=why or f"The run ended with {status}.")
    elif status.lower().startswith("submitted"):
        build.turn_result("completed", 1)
    elif status:
        build.error(why or f"The run ended with {status}.", kind=status)
