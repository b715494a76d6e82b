"""`clew doctor --probe MODEL`: what a model really does, told as it is found out, and kept."""

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from clew.cli.own_process import say
from clew.config.errors import SettingsError
from clew.host.workspace import open_workspace
from clew.llm.errors import LLMError, UnknownModel
from clew.llm.failures import host_of
from clew.llm.models.connect import target_of
from clew.llm.probe.model_probe import DEFAULT_TOKENS, Cost, ModelProbe
from clew.llm.probe.report_card import ProbeFinding, ReportCard, keep_card
from clew.plain.dialogs.confirm import confirm
from clew.system.clock import SystemClock, iso_utc
from clew.system.home import clew_home
from clew.text.figures import money
from clew.text.terminal_text import sanitize

MARKS = {"ok": "ok      ", "info": "        ", "warning": "weak    ", "problem": "PROBLEM "}


def probe(name: str, *, tokens: int | None, asked: bool, as_json: bool) -> int:
    """0 when the card could be made, whatever is on it; 1 when the model cannot be asked; 2 for a bad question."""
    try:
        workspace = open_workspace(Path(os.getcwd()), os.environ)
        target = target_of(name, providers=workspace.settings.providers, env=workspace.env)
        probing = ModelProbe(target, tokens=tokens or DEFAULT_TOKENS)
        cost = cost_words(probing.cost())
        if asked and not (sys.stdin.isatty() and sys.stderr.isatty()):
            say(f"a probe of {target.name} takes {cost}; add --yes to make it without being asked")
            return 2
        told = [f"A probe of {target.name} at {host_of(target)} takes {cost}."]
        if asked and not confirm(told, "Make it?", stdin=sys.stdin, stdout=sys.stderr):
            return 0
        return asyncio.run(carded(probing, as_json=as_json))
    except (SettingsError, UnknownModel) as error:
        say(str(error))
        return 2
    except LLMError as error:
        say(str(error))
        return 1


def cost_words(cost: Cost) -> str:
    """Before anything is sent."""
    price = f", at most {money(cost.usd)}" if cost.usd is not None else ""
    return f"up to {cost.input_tokens:,} tokens read and {cost.output_tokens:,} written{price}"


async def carded(probing: ModelProbe, *, as_json: bool) -> int:
    """Tell each finding when it is there, and keep the card at the end."""
    findings: list[ProbeFinding] = []
    if not as_json:
        sys.stdout.write(f"{sanitize(probing.target.name, one_line=True)} at {probing.target.base_url}\n")
    async for finding in probing.run():
        findings.append(finding)
        if not as_json:
            summary = sanitize(finding.summary, one_line=True)
            sys.stdout.write(f"{MARKS[finding.grade]}{finding.name:<12}{summary}\n")
            sys.stdout.flush()
    card = ReportCard(
        model=probing.target.name,
        address=probing.target.base_url,
        at=iso_utc(SystemClock().wall_s()),
        findings=tuple(findings),
        input_tokens=probing.usage.prompt_tokens,
        output_tokens=probing.usage.output_tokens,
    )
    keep_card(clew_home(), card)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(card)).decode() + "\n")
    else:
        sys.stdout.write(f"It took {card.input_tokens:,} tokens read and {card.output_tokens:,} written.\n")
    return 0
