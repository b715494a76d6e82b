"""The context meter: the provider's count where there is one, honest estimates elsewhere, and what fills the window."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from clew.config.schema import Compaction
from clew.engine.compaction.contents import FREE
from clew.engine.compaction.micro import trim
from clew.engine.compaction.window_meter import Meter, cold_return
from clew.llm.errors import InvalidRequest
from clew.llm.estimate import estimate_request
from clew.llm.reply import Retrying, UsageSeen
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, Fail, ReplyOf, Say, ScriptedModel, ScriptedReply, Think
from clew.protocol.entries import SystemPromptEntry
from clew.protocol.event_kinds.context import CompactionEnded, CompactionUndone, ContextMeasured
from clew.protocol.ids import EntryId, new_entry_id
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import ImagePart, MediaSource, TextPart, parts_of
from clew.protocol.usage import Usage
from clew.tools.base import ToolResult
from engine.harness import SESSION, Params, Reader, Stage, TestTool

SETTINGS = Compaction()


class Printer(TestTool):
    """Prints what it is told to, so many times."""

    name = "Bash"
    max_result_chars: ClassVar[int] = 0

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="Runs a command. " * 40, schema={"type": "object"})

    async def work(self, params: Params) -> ToolResult:
        word, _, times = params.name.partition("*")
        return ToolResult(text=word * int(times or 1))


class Camera(TestTool):
    """Gives words and a picture."""

    name = "Camera"

    async def work(self, params: Params) -> ToolResult:
        source = MediaSource(type="base64", media_type="image/png", data="QUJD" * 1000)
        return ToolResult(text="a picture of it", media=(ImagePart(source=source),))


def counted(request: ModelRequest) -> int:
    """Another tokenizer than ours: three characters and a half of Latin, Chinese by 1.1 per character."""
    texts = [*request.system, *(tool.description + str(tool.schema) for tool in request.tools)]
    texts += [str(part) for message in request.messages for part in parts_of(message)]
    text = "".join(texts)
    wide = sum("\u2e80" <= char <= "\u9fff" for char in text)
    return round((len(text) - wide) / 3.5 + wide * 1.1)


def honest(*parts: Any, cached: bool = False) -> Callable[[ModelRequest], ScriptedReply]:
    """A reply with the count of that tokenizer."""

    def reply(request: ModelRequest) -> ScriptedReply:
        tokens = counted(request)
        read = tokens * 9 // 10 if cached else 0
        usage = Usage(input_tokens=tokens - read, cache_read_input_tokens=read, output_tokens=20)
        return ReplyOf(list(parts), usage=usage)

    return reply


def told(tokens: int, *parts: Any, output: int = 10, cached: int = 0) -> ReplyOf:
    """A reply with this count of its prompt."""
    usage = Usage(input_tokens=tokens - cached, cache_read_input_tokens=cached, output_tokens=output)
    return ReplyOf(list(parts) or [Say("ok")], usage=usage)


def stage_of(*replies: Any, **more: Any) -> Stage:
    return Stage(ScriptedModel(replies, **more), [Printer(), Reader(), Camera()])


def detailed(stage: Stage, meter: Meter | None = None) -> ContextMeasured:
    return (meter or Meter()).measure(stage.agent, SETTINGS, details=True)


class TestAnchor:
    async def test_the_providers_count_is_the_truth(self) -> None:
        stage = stage_of(told(50_000, output=700))
        await stage.play()
        measured = Meter().measure(stage.agent, SETTINGS)
        assert measured.tokens == 50_700
        assert measured.estimated is False
        assert (measured.window, measured.model) == (200_000, "scripted/model")
        assert (measured.warn_at, measured.auto_at) == (147_000, 167_000)
        assert Meter().measure(stage.agent, Compaction(auto=False)).auto_at == 0

    async def test_cached_tokens_were_read_too(self) -> None:
        stage = stage_of(told(90_000, cached=88_000))
        await stage.play()
        assert Meter().read(stage.agent).tokens == 90_010

    async def test_what_was_added_since_is_estimated(self) -> None:
        stage = stage_of(told(50_000, Call("Bash", {"name": "word *3000"})), Fail(InvalidRequest("no")))
        await stage.play()
        reading = Meter().read(stage.agent)
        assert reading.estimated
        assert 50_010 + 1_000 < reading.tokens < 50_010 + 40_000
        assert reading.anchor is not None

    async def test_a_provider_that_never_tells_leaves_an_estimate(self) -> None:
        stage = stage_of(ReplyOf([Say("ok")], usage=None), ReplyOf([Say("ok")], usage=Usage()))
        for _ in range(2):
            await stage.play()
            reading = Meter().read(stage.agent)
            assert reading.anchor is None
            assert reading.estimated
            assert reading.tokens > 100

    async def test_counts_of_another_model_do_not_count(self) -> None:
        stage = stage_of(told(50_000))
        await stage.play()
        stage.agent.model = ScriptedModel([told(3_000)], name="other/model")
        assert Meter().read(stage.agent).anchor is None
        await stage.play()
        assert Meter().read(stage.agent).tokens == 3_010

    async def test_a_resumed_session_measures_the_same(self) -> None:
        stage = stage_of(honest(Call("Bash", {"name": "some words *900"})), honest(Say("done")), honest(Say("more")))
        meter = Meter()
        await stage.play()
        meter.read(stage.agent)
        await stage.play()
        live = meter.measure(stage.agent, SETTINGS)
        resumed = Stage(ScriptedModel(), [Printer(), Reader(), Camera()], past=stage.log.conversation.entries)
        assert Meter().measure(resumed.agent, SETTINGS) == live

    async def test_a_trim_and_its_undoing_make_the_count_one_of_another_request(self) -> None:
        stage = stage_of(
            honest(Call("Bash", {"name": "some words *9000"})), honest(Call("Bash", {"name": "x"})), honest(Say("done"))
        )
        await stage.play()
        meter, conversation = Meter(), stage.log.conversation
        full = meter.read(stage.agent)
        assert full.anchor is not None
        found = trim(
            conversation.chain(),
            conversation.replacements,
            Compaction(keep_recent=1),
            "asked",
            entry_id=new_entry_id(),
        )
        assert found is not None
        stage.log.take(found.event)
        trimmed = meter.read(stage.agent)
        assert trimmed.anchor is None
        real = counted(stage.model.requests[-1]) - counted(sent(stage))
        assert real > 20_000
        assert full.tokens - trimmed.tokens == pytest.approx(real, rel=0.15)
        stage.log.take(CompactionUndone(undone=found.event.entry_id))
        undone = meter.read(stage.agent)
        assert undone.anchor is None
        assert undone.tokens == pytest.approx(full.tokens, rel=0.1)

    async def test_another_system_prompt_makes_it_another_request(self) -> None:
        stage = stage_of(told(50_000))
        await stage.play()
        fields: dict[str, Any] = {"session_id": SESSION, "timestamp": "2026-11-16T10:00:00.000Z"}
        stage.log.conversation.append(SystemPromptEntry(blocks=("new words",), **fields))
        assert Meter().read(stage.agent).anchor is None

    async def test_after_a_boundary_everything_is_estimated(self) -> None:
        stage = stage_of(told(150_000), told(4_000))
        await stage.play()
        meter = Meter()
        meter.read(stage.agent)
        stage.log.take(
            CompactionEnded(
                entry_id=EntryId("boundary"),
                logical_parent_id=stage.log.conversation.leaf,
                kind="manual",
                tokens_before=150_000,
                tokens_after=None,
                summary_id=EntryId("summary"),
                summary=(TextPart(text="What was done before: nothing much."),),
            )
        )
        reading = meter.read(stage.agent)
        assert reading.anchor is None
        assert reading.tokens < 5_000
        await stage.play("go on")
        assert meter.read(stage.agent).tokens == 4_010


def sent(stage: Stage) -> ModelRequest:
    """The next request, as the model would get it."""
    request = stage.agent.request()
    return ModelRequest(system=request.system, tools=request.tools, messages=stage.model.history(request.messages))


class TestShares:
    async def test_they_are_what_the_next_request_really_holds(self) -> None:
        """`/context` equals the request: every share adds up, and the estimate is that of the request itself."""
        stage = stage_of(
            ReplyOf([Think("let me see"), Say("I look."), Call("Bash", {"name": "output *50"})], usage=None),
            ReplyOf([Call("Camera", {"name": "it"}), Call("Reader", {"name": "bad"})], usage=None),
            ReplyOf([Say("done")], usage=None),
        )
        await stage.play("please do it")
        measured = detailed(stage)
        tokens = estimate_request(sent(stage))
        assert measured.tokens == tokens
        shares = {share.name: share.tokens for share in measured.shares}
        assert sum(size for name, size in shares.items() if name != FREE) == tokens
        assert shares[FREE] == 200_000 - tokens
        assert set(shares) == {
            "system prompt",
            "tools",
            "your words",
            "agent's words",
            "reasoning",
            "tool calls",
            "results: Bash",
            "results: Camera",
            "results: Reader",
            "media",
            FREE,
        }
        assert shares["media"] == pytest.approx(1_600, abs=2)
        assert shares["tools"] > shares["your words"] > 0
        stage.model.extend([Say("and on")])
        await stage.play("more")
        assert len(stage.model.requests) == 4
        extra = estimate_request(stage.model.requests[-1]) - tokens
        assert 0 < extra < 20, "only the new prompt was added to what was measured"

    async def test_they_add_up_to_the_providers_count(self) -> None:
        stage = stage_of(told(61_237, Call("Bash", {"name": "output *50"})), told(61_999, Say("done")))
        await stage.play()
        measured = detailed(stage)
        assert measured.tokens == 62_009
        assert sum(share.tokens for share in measured.shares if share.name != FREE) == 62_009

    async def test_memory_summary_and_notes_have_their_own(self) -> None:
        stage = stage_of(Say("ok"))
        stage.agent.system = ("You are a test.", 'Rules:\n<memory-file path="a" from="user">\nBe kind.\n</memory-file>')
        await stage.play()
        names = {share.name for share in detailed(stage).shares}
        assert {"memory", "system prompt"} <= names
        stage.log.take(
            CompactionEnded(
                entry_id=EntryId("boundary"),
                logical_parent_id=stage.log.conversation.leaf,
                kind="manual",
                tokens_before=None,
                tokens_after=None,
                summary_id=EntryId("summary"),
                summary=(TextPart(text="What was done before."),),
            )
        )
        after = detailed(stage)
        assert "summary" in {share.name for share in after.shares}
        assert EntryId("summary") in {item.source for item in after.largest}

    async def test_the_users_own_words_about_memory_are_the_users(self) -> None:
        stage = stage_of(Say("ok"))
        await stage.play('what does <memory-file path="x"> mean? ' * 10)
        assert "memory" not in {share.name for share in detailed(stage).shares}

    async def test_the_largest_have_names_and_sources(self) -> None:
        stage = stage_of(
            ReplyOf([Call("Bash", {"name": "long words *5000"}), Call("Bash", {"name": "short *20"})], usage=None),
            *[ReplyOf([Call("Reader", {"name": f"f{number}"})], usage=None) for number in range(12)],
            ReplyOf([Say("done")], usage=None),
        )
        await stage.play()
        largest = detailed(stage).largest
        assert len(largest) == 10
        assert [item.tokens for item in largest] == sorted((item.tokens for item in largest), reverse=True)
        assert largest[0].name == "Bash"
        entries = {entry.uuid: entry for entry in stage.log.conversation.chain() if hasattr(entry, "uuid")}  # pyright: ignore[reportAttributeAccessIssue] (asked just before)
        assert largest[0].source is not None
        assert "long words" in repr(entries[largest[0].source])

    async def test_without_being_asked_there_are_only_figures(self) -> None:
        stage = stage_of(Say("ok"))
        await stage.play()
        measured = Meter().measure(stage.agent, SETTINGS)
        assert measured.shares == measured.largest == ()

    async def test_an_empty_session_holds_its_prompt_and_tools(self) -> None:
        stage = stage_of()
        measured = detailed(stage)
        assert measured.tokens == estimate_request(stage.agent.request())
        assert {share.name for share in measured.shares} == {"system prompt", "tools", FREE}


class TestLearning:
    @pytest.mark.parametrize(
        "word",
        [
            "some plain words and more ",
            "请把这个函数重构成更小的部分，并保持测试通过。",
            "    return self._value + other.count\n",
        ],
    )
    async def test_estimates_come_close_to_the_real_count(self, word: str) -> None:
        replies = [honest(Call("Bash", {"name": f"{word}*{size}"})) for size in (300, 500, 800, 300)]
        stage = stage_of(*replies, honest(Say("done")))
        meter = Meter()
        await stage.play(on=lambda event: meter.read(stage.agent))
        weights = meter._weigh_base(stage.agent) + meter._weigher.messages(sent(stage).messages)
        assert meter.estimator.tokens("scripted/model", weights) == pytest.approx(counted(sent(stage)), rel=0.1)

    async def test_one_script_does_not_spoil_the_other(self) -> None:
        stage = stage_of(
            honest(Call("Bash", {"name": "some plain words and more *900"})),
            honest(Call("Bash", {"name": "请把这个函数重构成更小的部分*900"})),
            honest(Call("Bash", {"name": "请把这个函数重构成更小的部分*900"})),
            honest(Call("Bash", {"name": "请把这个函数重构成更小的部分*900"})),
            honest(Say("done")),
        )
        meter = Meter()
        await stage.play(on=lambda event: meter.read(stage.agent))
        assert meter.estimator.ratio("scripted/model", "cjk") > 1.25
        assert meter.estimator.ratio("scripted/model", "latin") < 1.6

    async def test_measuring_again_costs_what_is_new(self) -> None:
        """A long session is not weighed anew at every step."""
        stage = stage_of(*[ReplyOf([Call("Reader", {"name": f"f{n}"})], usage=None) for n in range(30)], Say("done"))
        await stage.play()
        meter = Meter()
        meter.read(stage.agent)
        known = len(meter._weigher._known)
        meter.read(stage.agent)
        assert len(meter._weigher._known) == known

    async def test_what_was_tried_again_is_no_size(self) -> None:
        lost = UsageSeen(usage=Usage(input_tokens=90_000))
        again = Retrying(attempt=1, max_attempts=3, delay_s=0, reason="busy")
        stage = stage_of(ReplyOf([lost, again, Say("ok")], usage=Usage(input_tokens=90_000)))
        await stage.play()
        assert Meter().read(stage.agent).anchor is None


class TestTruncation:
    async def noticed(self, *replies: Any) -> list[str]:
        stage = stage_of(*replies, name="ollama/qwen")
        meter = Meter()
        words: list[str] = []

        def listen(event: Any) -> None:
            if type(event).__name__ == "StepEnded":
                words.append(meter.notice(stage.agent))

        await stage.play(on=listen)
        self.reading = meter.read(stage.agent)
        return [text for text in words if text]

    async def test_a_server_that_cuts_off_the_beginning_is_told_once(self) -> None:
        found = await self.noticed(
            honest(Call("Bash", {"name": "some plain words and more *3000"})),
            told(4_096, Call("Reader", {"name": "a"})),
            told(4_096, Call("Reader", {"name": "b"})),
            told(4_090, Say("done")),
        )
        assert len(found) == 1
        assert "ollama/qwen says that it read 4,096 tokens" in found[0]
        assert "num_ctx" in found[0]
        assert self.reading.tokens > 12_000, "its count is not believed"

    async def test_on_the_very_first_request_too(self) -> None:
        stage = stage_of(told(2_048), name="ollama/qwen")
        stage.agent.system = ("You are a test with a long prompt. " * 1_000,)
        await stage.play("hi")
        meter = Meter()
        assert "2,048" in meter.notice(stage.agent)
        assert meter.notice(stage.agent) == ""

    async def test_a_server_that_counts_only_what_is_new_is_no_such_server(self) -> None:
        found = await self.noticed(
            honest(Call("Bash", {"name": "some plain words and more *3000"})),
            told(300, Call("Bash", {"name": "words *2000"})),
            told(2_900, Call("Reader", {"name": "b"})),
            told(40, Say("done")),
        )
        assert found == []
        assert self.reading.tokens > 15_000, "but its count is not that of the whole request"

    @pytest.mark.parametrize(
        "word", ["请把这个函数重构成更小的部分", "это обычный русский текст ", "=" * 60, "สวัสดีครับ", "some plain words "]
    )
    @pytest.mark.parametrize("saves", [1.0, 0.62])
    async def test_thrifty_tokenizers_and_big_caches_are_no_alarm(self, word: str, saves: float) -> None:
        """The smallest real ratios: 0.6 tokens for a Chinese character, 0.28 for a Cyrillic one."""

        def thrifty(*parts: Any) -> Callable[[ModelRequest], ScriptedReply]:
            def reply(request: ModelRequest) -> ScriptedReply:
                texts = [str(part) for message in request.messages for part in parts_of(message)]
                texts += [*request.system, *(tool.description + str(tool.schema) for tool in request.tools)]
                tokens = round(sum(smallest(text) for text in texts))
                read = round(tokens * (1 - saves))
                return ReplyOf(
                    list(parts), usage=Usage(input_tokens=tokens - read, cache_read_input_tokens=read, output_tokens=5)
                )

            return reply

        found = await self.noticed(
            thrifty(Call("Bash", {"name": f"{word}*4000"})),
            thrifty(Call("Bash", {"name": f"{word}*2000"})),
            thrifty(Call("Reader", {"name": "x"})),
            thrifty(Say("done")),
        )
        assert found == []
        assert self.reading.anchor is not None

    async def test_small_requests_prove_nothing(self) -> None:
        assert await self.noticed(told(20, Say("done"))) == []

    async def test_pictures_are_counted_in_many_ways(self) -> None:
        def few(*parts: Any) -> Callable[[ModelRequest], ScriptedReply]:
            def reply(request: ModelRequest) -> ScriptedReply:
                texts = sum(
                    258 if "ImagePart" in str(part) else counted_text(str(part))
                    for message in request.messages
                    for part in parts_of(message)
                )
                base = ModelRequest(system=request.system, tools=request.tools, messages=())
                return ReplyOf(list(parts), usage=Usage(input_tokens=texts + counted(base), output_tokens=5))

            return reply

        shots = [few(Call("Camera", {"name": "x"})) for _ in range(6)]
        assert await self.noticed(*shots, few(Say("done"))) == []


def smallest(text: str) -> float:
    """As few tokens as any tokenizer makes of a text."""
    runs = [char for number, char in enumerate(text) if number == 0 or text[number - 1] != char or char.isalnum()]
    return sum(0.6 if "\u2e80" <= char <= "\u9fff" else 0.28 if char > "\u024f" else 0.22 for char in runs)


def counted_text(text: str) -> int:
    return round(len(text) / 3.5)


class TestCost:
    async def test_by_the_models_price_and_unknown_without_one(self) -> None:
        stage = stage_of(told(10_000, output=0), usd_per_token=0.000002)
        await stage.play()
        assert Meter().measure(stage.agent, SETTINGS).next_cost_usd == pytest.approx(0.02)
        free = stage_of(told(10_000))
        await free.play()
        assert Meter().measure(free.agent, SETTINGS).next_cost_usd is None

    async def test_from_the_cache_while_it_is_warm(self) -> None:
        class Priced(ScriptedModel):
            def cost_usd(self, usage: Usage) -> float | None:
                return (usage.input_tokens * 10 + usage.cache_read_input_tokens) / 1_000_000

        stage = Stage(Priced([told(10_000, output=0, cached=8_000)]), [])
        await stage.play()
        meter = Meter()
        assert meter.measure(stage.agent, SETTINGS, idle_s=5).next_cost_usd == pytest.approx(0.01)
        assert meter.measure(stage.agent, SETTINGS, idle_s=4_000).next_cost_usd == pytest.approx(0.1)
        assert meter.measure(stage.agent, SETTINGS, idle_s=None).next_cost_usd == pytest.approx(0.1)
        bare = Stage(Priced([told(10_000, output=0)]), [])
        await bare.play()
        assert meter.measure(bare.agent, SETTINGS, idle_s=5).next_cost_usd == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("idle_s", "tokens", "on", "told"),
    [
        (3_600, 20_000, True, True),
        (86_400, 150_000, True, True),
        (3_599, 150_000, True, False),
        (86_400, 19_999, True, False),
        (86_400, 150_000, False, False),
        (86_400, None, True, False),
        (None, 150_000, True, False),
        (math.inf, 150_000, True, False),
        (math.nan, 150_000, True, False),
        (-5, 150_000, True, False),
    ],
)
def test_coming_back_to_a_cold_session(idle_s: float | None, tokens: int | None, on: bool, told: bool) -> None:
    found = cold_return(Compaction(cold_return=on), idle_s=idle_s, tokens=tokens, cost_usd=0.45)
    assert (found is not None) is told
    if found is not None:
        assert (found.idle_s, found.tokens, found.cost_usd) == (idle_s, tokens, 0.45)
