"""Pictures to be looked at: `PYTHONPATH=tests:. python -m tui.pictures FOLDER` writes every scene at three sizes."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

from clew.config.schema import ScreenSettings
from clew.protocol.display import TodoBlock, TodoItem
from clew.protocol.event_kinds.asks import Choice, Question
from clew.protocol.event_kinds.context import ContextMeasured
from clew.protocol.events import Notice, PromptQueued, QuestionAsked, RecapReady, ToolEnded, ToolProgress
from clew.protocol.ids import CallId, EntryId, PromptId, RequestId
from clew.protocol.lookups.rules_and_models import ModelsListed
from clew.protocol.messages import ToolResultPart
from tui.picture_scenes import DAY, Scene
from tui.screen_lab import ScreenLab, asks, call, delta, edited, over, prompt, ran, runs, screen, turn, words

SIZES = ((100, 30), (60, 20), (200, 50))
ANSWER = """Both tests pass: the old loop **started at 0**, so negative weights were lost.

| File | Change | Why |
|---|---|---|
| `weights.py` | +1 −1 | the loop began at zero |
| 测试 | 没有 | 中文字符 |

```python
def heaviest(parcels):
    return max(parcels, key=weight)  # one pass
```
"""


async def a_turn(lab: ScreenLab) -> None:
    read, edit = call("Read", file_path="weights.py"), call("Edit", "c2", "r2", file_path="weights.py")
    test = call("Bash", "c3", "r2", 2, command="pytest -q")
    await lab.tell(
        RecapReady(text="Fix test_heaviest; weights.py edited, 1 of 2 tests fails. Next: look at the tie-break."),
        *(turn(), prompt("test_heaviest fails, please fix it"), words("I look at the test first."), read),
        *(runs(read), ran("cat weights.py", "", call_id="c1"), edit, test, edited("c2")),
        ran("pytest -q", "2 passed in 0.03 s", call_id="c3"),
        *(words(ANSWER, reply="r3"), over(cost_usd=0.03, steps=3)),
        ContextMeasured(tokens=76_000, window=200_000),
    )


async def at_work(lab: ScreenLab) -> None:
    step = call("Bash", command="make test")
    todo = TodoBlock(
        items=(
            TodoItem(content="Read the failing test", status="completed"),
            TodoItem(content="Fix the loop", status="in_progress", active_form="Fixing the loop"),
            TodoItem(content="Run all tests", status="pending"),
        )
    )
    listed = ToolEnded(
        entry_id=EntryId("t"),
        parent_id=EntryId("x"),
        name="TodoWrite",
        result=ToolResultPart(call_id=CallId("t1"), content="ok"),
        display=(todo,),
    )
    await lab.tell(
        *(turn(), prompt("fix it, then run everything"), call("TodoWrite", "t1", "r0"), listed),
        *(delta("I run the tests now. "), words("I run the tests now."), step, runs(step)),
        ToolProgress(call_id=CallId("c1"), text="collecting …\ntests/test_weights.py ..F\n"),
        PromptQueued(prompt_id=PromptId("q"), content="and update the changelog"),
    )


async def an_approval(lab: ScreenLab) -> None:
    step = call("Edit", file_path="weights.py", old_string="    best = 0", new_string="    best = None")
    await lab.tell(turn(), prompt("fix it"), words("Here is the change."), step, asks("Edit", "write weights.py"))
    await lab.pilot.pause(0.4)


async def a_question(lab: ScreenLab) -> None:
    choices = (
        Choice(label="SQLite", description="one file, no server"),
        Choice(label="PostgreSQL", description="shared"),
    )
    asked = QuestionAsked(
        request_id=RequestId("q1"),
        call_id=CallId("c1"),
        questions=(Question(question="Where should parcels be kept?", choices=choices, header="Storage"),),
    )
    await lab.tell(turn(), prompt("add persistence"), asked)
    await lab.pilot.pause(0.4)


async def a_failure(lab: ScreenLab) -> None:
    step = call("Bash", command="pytest -q")
    await lab.tell(
        *(turn(), prompt("run the tests"), step, runs(step)),
        ran("pytest -q", "E   assert 1 == 2\nE    +  where 1 = heaviest([])\n1 failed in 0.1 s", 1),
        Notice(level="warning", text="the provider answers slowly"),
        over(reason="model_error", error="the server said 529: overloaded"),
    )


async def the_models(lab: ScreenLab) -> None:
    await lab.type("/model")
    await lab.press("enter")
    await lab.tell(ModelsListed(models=("anthropic/opus", "anthropic/haiku", "local/q")))


async def the_help(lab: ScreenLab) -> None:
    await lab.press("f1")


async def completing(lab: ScreenLab) -> None:
    await lab.type("/co")


SCENES: dict[str, Scene] = {
    **DAY,
    "turn": a_turn,
    "working": at_work,
    "approval": an_approval,
    "question": a_question,
    "failure": a_failure,
    "models": the_models,
    "help": the_help,
    "completing": completing,
}


async def picture(scene: Scene, size: tuple[int, int], theme: str = "clew-dark") -> str:
    """The scene as SVG, without fonts from elsewhere."""
    options: dict[str, Any] = {"screen": ScreenSettings(theme=theme)}  # pyright: ignore[reportArgumentType] - one of four
    async with screen(size, **options) as lab:
        await scene(lab)
        await lab.settle()
        svg = lab.app.export_screenshot(title="clew")
    svg = svg.replace("<text ", '<text xml:space="preserve" ')  # some viewers drop blanks at the edges
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")


async def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in SCENES.items():
        for columns, lines in SIZES:
            (folder / f"{name}-{columns}x{lines}.svg").write_text(await picture(scene, (columns, lines)))
    for theme in ("clew-light", "clew-high-contrast", "terminal"):
        (folder / f"turn-{theme}.svg").write_text(await picture(a_turn, (80, 24), theme))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
