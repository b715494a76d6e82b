"""mini-swe-agent trajectories: bash blocks in text (v1), tool calls (v2), and how the run ended."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.build import Builder
from clew.foreign.listing import below, entries_in, found
from clew.foreign.readers.chat_messages import assistant_message, content_text
from clew.foreign.readers.swe_agent import run_ended, task_text
from clew.foreign.session import ForeignSession, ForeignTranscript
from clew.foreign.shapes import Json, as_dict, as_int, as_list, as_str, dicts, first_str
from clew.foreign.source import Source
from clew.foreign.user_text import UserText
from clew.protocol.usage import Usage

AGENT = "mini_swe_agent"
_BASH = re.compile(r"```(?:bash|mswea_bash_command|sh)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
_OUTPUT = re.compile(r"<output>\n?(.*?)</output>", re.DOTALL)
_PLEASE_SOLVE = re.compile(r"^Please solve this (?:issue|task):\s*(.*?)(?:\n\nYou can execute bash|\Z)", re.DOTALL)


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """The configuration folder holds the last run; benchmark runs lie where they were started."""
    configured = env.get("MSWEA_GLOBAL_CONFIG_DIR")
    return (Path(configured),) if configured else (user_home / ".config" / "mini-swe-agent",)


def in_folder(folder: Path) -> tuple[Path, ...]:
    """Runs that were started in a working directory, and told to save there."""
    return tuple(path for path in entries_in(folder) if path.name.endswith(".traj.json"))


def discover(home: Path) -> Iterator[ForeignSession]:
    """All trajectories below a folder, or one file."""
    for path in [home] if home.is_file() else below(home, depth=6):
        if path.name.endswith(".traj.json"):
            yield from found(AGENT, path, path.name.removesuffix(".traj.json"))


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One trajectory."""
    source = Source(path)
    decoded = source.value()
    # A run can also be saved as its bare list of messages.
    value: Json = {"messages": as_list(decoded)} if isinstance(decoded, list) else as_dict(decoded)
    info = as_dict(value.get("info"))
    config = as_dict(info.get("config"))
    name = as_str(value.get("instance_id")) or path.name.removesuffix(".json").removesuffix(".traj")
    build = Builder(AGENT, name)
    build.model = as_str(as_dict(config.get("model")).get("model_name"))
    build.meta.cwd = as_str(as_dict(config.get("environment")).get("cwd"))
    build.meta.version = as_str(info.get("mini_version"))
    run = _Run(build, submission=as_str(info.get("submission")))
    for message in dicts(value.get("messages")):
        run.message(message)
    if as_str(value.get("instance_id")):
        build.title(name)
    run.end(info)
    return build.transcript(path, source.problems)


class _Run:
    """Pairs replies with the outputs that follow them."""

    def __init__(self, build: Builder, *, submission: str) -> None:
        self.build = build
        self._submission = submission.strip()
        self._waiting: list[str] = []
        self._has_task = False

    def message(self, message: Json) -> None:
        """One message of the run."""
        extra = as_dict(message.get("extra"))
        response = as_dict(extra.get("response"))
        self.build.at(extra.get("timestamp") or response.get("created"))
        text = content_text(message.get("content"))
        match message.get("role"):
            case "system":
                self.build.meta_text(text)
            case "assistant":
                self._assistant(message, text, response)
            case "user":
                self._user(text)
            case "tool":
                self._result(as_str(message.get("tool_call_id")), text, extra)
            case "exit":
                return
            case role:
                self.build.opaque(as_str(role), message)

    def end(self, info: Json) -> None:
        """The outcome of the whole run."""
        status = as_str(info.get("exit_status"))
        for call_id in self._waiting:
            if status == "Submitted":
                self.build.result(call_id, self._submission)
        run_ended(self.build, status, first_str(info, "exception_str"))

    def _assistant(self, message: Json, text: str, response: Json) -> None:
        choice = next(dicts(response.get("choices")), Json())
        reasoning = first_str(as_dict(choice.get("message")), "reasoning", "reasoning_content")
        commands = _BASH.findall(text) if not message.get("tool_calls") else []
        words = _BASH.sub("", text).strip().removeprefix("THOUGHT:").strip() if commands else text
        self._waiting = assistant_message(self.build, {**message, "content": words, "reasoning": reasoning})
        for command in commands[:1]:
            self._waiting.append(self.build.call("", "bash", {"command": command}))
        if usage := as_dict(response.get("usage")):
            cached = as_int(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens"))
            self.build.usage(
                Usage(
                    input_tokens=max(0, as_int(usage.get("prompt_tokens")) - cached),
                    output_tokens=as_int(usage.get("completion_tokens")),
                    cache_read_input_tokens=cached,
                )
            )

    def _user(self, text: str) -> None:
        if not self._has_task:
            self._has_task = True
            asked = _PLEASE_SOLVE.match(text)
            self.build.user(text, reading=UserText("typed", asked[1].strip() if asked else task_text(text)))
        elif self._waiting:
            self._result(self._waiting[0], text, {})
        elif text.strip() and text.strip() != self._submission:
            self.build.meta_text(text)

    def _result(self, call_id: str, text: str, extra: Json) -> None:
        if call_id in self._waiting:
            self._waiting.remove(call_id)
        code = _RETURN_CODE.search(text)
        output = _OUTPUT.search(text)
        exit_code = int(code[1]) if code else None
        if exit_code is None and isinstance(extra.get("returncode"), int):
            exit_code = extra["returncode"]
        self.build.result(call_id, output[1] if output else text, exit_code=exit_code)
