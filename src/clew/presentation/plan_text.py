"""Words about a plan: what accepting it means, what was said to it, how it stands."""

from clew.presentation.approval_text import one_line
from clew.protocol.events import PlanAnswered, PlanProposed

MODES = {
    "default": "you are asked before changes",
    "acceptEdits": "edits are made without asking",
    "bypassPermissions": "nothing is asked",
}


def after_words(proposed: PlanProposed) -> str:
    """The permission mode that comes back with a plain yes."""
    mode = proposed.mode_after or "default"
    return f"{one_line(mode)}: {MODES[mode]}" if mode in MODES else one_line(mode)


def plan_name(plan: str) -> str:
    """The heading that a plan has, else its first line."""
    lines = [line.strip() for line in plan.splitlines() if line.strip()]
    heading = next((line for line in lines if line.startswith("#")), lines[0] if lines else "")
    return heading.lstrip("#").strip() or "no words"


def answer_words(event: PlanAnswered) -> str:
    """What was said to it; empty: nobody did."""
    edited = ", as you changed it" if event.plan else ""
    if event.by == "interrupt":
        return ""
    if event.by == "nobody":
        return "Nobody could accept the plan: it is the result of the turn"
    match event.decision:
        case "accept":
            return f"Plan accepted{edited}"
        case "accept_edits":
            return f"Plan accepted{edited}; edits are made without asking"
        case "keep_planning":
            said = one_line(event.comment)
            return f"Plan sent back: {said}" if said else "Plan sent back"
