"""What a hook's exit code and output mean.

Exit 0: a JSON object on stdout, or text. Exit 2: it blocks, and stderr is the reason. Anything else: it failed, which
blocks nothing. The same object is what callbacks of a driving program answer.
"""

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from clew.hooks.answers import HookAnswer, Leaning

TOOL_MOMENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
TEAM_MOMENTS = ("TaskCreated", "TaskCompleted", "TeammateIdle")
BLOCKABLE = (*TOOL_MOMENTS, "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", *TEAM_MOMENTS)
"""Where `deny` means something: a call, a prompt, an end or a compaction that does not happen; after a call its reason
goes to the model. At other moments there is nothing to block, and the words are only shown."""
TEXT_IS_CONTEXT = ("UserPromptSubmit", "SessionStart", "PreCompact")
TITLED = ("UserPromptSubmit", "SessionStart")
MAX_CONTEXT_CHARS = 10_000
MAX_COMPACTION_CHARS = 4_000
MAX_REASON_CHARS = 10_000
MAX_LINE_CHARS = 2_000
MAX_TITLE_CHARS = 200
MAX_NAME_CHARS = 120
DECISIONS = ("allow", "deny", "ask", "defer")


class BadAnswer(ValueError):
    """A field that cannot be understood; the words name it."""


def answer_of(
    moment: str, hook: str, exit_code: int | None, stdout: str, stderr: str, *, may_allow: bool
) -> HookAnswer:
    """What a command said. `exit_code` None: it did not come to an end of its own."""
    if exit_code == 2:
        return _blocked(moment, HookAnswer(hook=hook, may_allow=may_allow), stderr.strip() or _no_reason(hook))
    if exit_code != 0:
        said = stderr.strip() or stdout.strip()
        how = "did not end by itself" if exit_code is None else f"exit code {exit_code}"
        return HookAnswer(hook=hook, outcome="failed", detail=bounded(f"{how}: {said}" if said else how))
    text = stdout.strip()
    if text.startswith("{") and text.endswith("}"):
        try:
            output: object = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as problem:
            words = f"its output looks like JSON and is none ({problem})"
            return HookAnswer(hook=hook, outcome="failed", detail=bounded(words))
        if isinstance(output, dict):
            return answer_of_json(moment, hook, cast("dict[str, Any]", output), may_allow=may_allow)
    context = _context(moment, text) if moment in TEXT_IS_CONTEXT else ""
    return HookAnswer(hook=hook, detail="" if context else bounded(text), context=context)


def answer_of_json(moment: str, hook: str, output: dict[str, Any], *, may_allow: bool) -> HookAnswer:
    """What a JSON object says. Keys that are not known are passed over; a known one of the wrong type makes the whole
    a failure."""
    try:
        return _read(moment, _Fields(output), HookAnswer(hook=hook, may_allow=may_allow))
    except BadAnswer as problem:
        if moment in BLOCKABLE and _says_no(output):
            refused = HookAnswer(hook=hook)
            return _blocked(moment, refused, f"The hook {_name(hook)} blocked this; the rest of its answer: {problem}")
        return HookAnswer(hook=hook, outcome="failed", detail=bounded(str(problem)))
    except RecursionError:
        return HookAnswer(hook=hook, outcome="failed", detail="its output is nested too deeply")


def _says_no(output: dict[str, Any]) -> bool:
    """Whether an answer that cannot be read as a whole is still plainly a no: that much of it counts."""
    specific = output.get("hookSpecificOutput")
    inner = cast("dict[str, Any]", specific) if isinstance(specific, dict) else {}
    words = (output.get("decision"), inner.get("permissionDecision"))
    return any(isinstance(word, str) and word.strip().lower() in ("deny", "block") for word in words)


def bounded(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """The beginning of a text, with a word about the rest."""
    if len(text) <= limit:
        return text
    note = f" [{len(text) - limit:,} more characters cut]"
    return text[: limit - len(note)] + note


class _Fields:
    """The members of an object, each asked for with the type it must have. null counts as not there."""

    def __init__(self, values: dict[str, Any], prefix: str = "") -> None:
        self._values = values
        self._prefix = prefix

    def raw(self, key: str) -> Any:
        return self._values.get(key)

    def text(self, key: str) -> str:
        return cast(str, self._typed(key, str, "a string", ""))

    def switch(self, key: str, *, default: bool) -> bool:
        return cast(bool, self._typed(key, bool, "true or false", default))

    def members(self, key: str) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", self._typed(key, dict, "an object", None))

    def word(self, key: str, allowed: tuple[str, ...]) -> str:
        word = self.text(key)
        if word and word not in allowed:
            raise BadAnswer(f'"{self._prefix}{key}" is {word[:40]!a}; one of {", ".join(allowed)}')
        return word

    def _typed(self, key: str, kind: type, words: str, default: object) -> object:
        value = self._values.get(key)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise BadAnswer(f'"{self._prefix}{key}" is not {words}')
        return value


def _read(moment: str, fields: _Fields, answer: HookAnswer) -> HookAnswer:
    if fields.switch("async", default=False):
        return replace(answer, detail="answers later (async), which is not supported: nobody waits for that answer")
    fields.switch("suppressOutput", default=False)
    answer = replace(answer, message=bounded(fields.text("systemMessage").strip()))
    answer = _specific(moment, fields.members("hookSpecificOutput"), answer)
    reason = fields.text("reason").strip()
    decision = fields.word("decision", ("block", "approve"))
    if decision == "block":
        answer = _blocked(moment, answer, reason or answer.reason or _no_reason(answer.hook))
    elif decision == "approve" and moment == "PreToolUse" and not answer.leaning:
        answer = replace(answer, leaning="allow", reason=bounded(reason, MAX_REASON_CHARS))
    going_on, stop = fields.switch("continue", default=True), fields.text("stopReason").strip()
    if not going_on:
        stop = bounded(stop or reason or f"The hook {_name(answer.hook)} ended the turn.")
        answer = replace(answer, outcome="blocked", stop=stop, detail=answer.detail or stop)
    return answer


def _specific(moment: str, values: dict[str, Any] | None, answer: HookAnswer) -> HookAnswer:
    """What only this moment has."""
    if values is None:
        return answer
    fields = _Fields(values, "hookSpecificOutput.")
    named = fields.text("hookEventName")
    if named and named != moment:
        raise BadAnswer(f'"hookSpecificOutput.hookEventName" is {named[:40]!a}, not "{moment}"')
    answer = replace(answer, context=_context(moment, fields.text("additionalContext").strip()))
    title = fields.text("sessionTitle")
    if moment in TITLED:
        answer = replace(answer, title=" ".join(title.split())[:MAX_TITLE_CHARS])
    if moment == "PreToolUse":
        return _on_call(fields, answer)
    if moment == "PostToolUse":
        changed = [fields.raw(key) for key in ("updatedToolOutput", "updatedMCPToolOutput")]
        result = next((value for value in changed if value is not None), None)
        return replace(answer, result=None if result is None else _as_text(result))
    return answer


def _on_call(fields: _Fields, answer: HookAnswer) -> HookAnswer:
    decision = fields.word("permissionDecision", DECISIONS)
    reason = fields.text("permissionDecisionReason").strip()
    answer = replace(answer, arguments=fields.members("updatedInput"))
    if decision == "deny":
        return _blocked("PreToolUse", answer, reason or _no_reason(answer.hook))
    if decision == "defer":
        return replace(answer, detail="wants to decide later (defer), which is not supported: it has no say here")
    leaning = cast(Leaning, decision)
    return replace(answer, leaning=leaning, reason=bounded(reason, MAX_REASON_CHARS))


def _blocked(moment: str, answer: HookAnswer, reason: str) -> HookAnswer:
    """A no, where a no is possible; elsewhere only its words are shown."""
    if moment not in BLOCKABLE:
        return replace(answer, outcome="failed", detail=bounded(f"cannot block {moment}: {reason}"))
    reason = bounded(reason, MAX_REASON_CHARS)
    return replace(answer, outcome="blocked", leaning="deny", reason=reason, detail=bounded(reason))


def _context(moment: str, text: str) -> str:
    return bounded(text, MAX_COMPACTION_CHARS if moment == "PreCompact" else MAX_CONTEXT_CHARS)


def _as_text(value: object) -> str:
    """What stands for a result: a string, the texts of blocks, what a command printed, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        for keys in (("stdout", "stderr"), ("text",), ("content",)):
            parts = [_as_text(found[key]) for key in keys if found.get(key) not in (None, "")]
            if set(keys) & set(found) and (parts or keys[0] == "stdout"):
                return "\n".join(parts)
    if isinstance(value, list):
        blocks = [cast("dict[str, Any]", block) for block in cast("list[object]", value) if isinstance(block, dict)]
        texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        if texts and len(texts) == len(cast("list[object]", value)):
            return "\n".join(texts)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        raise BadAnswer('"hookSpecificOutput.updatedToolOutput" cannot be read as text') from None


def _no_reason(hook: str) -> str:
    return f"The hook {_name(hook)} blocked this and gave no reason."


def _name(hook: str) -> str:
    return bounded(" ".join(hook.split()), MAX_NAME_CHARS)
