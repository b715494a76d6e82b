"""A session that leads a team: each member has a scripted model of its own, by the name of its model."""

from typing import Any

from msgspec.structs import replace

from clew.host.request import SessionRequest
from clew.llm.scripted import Call, ScriptedModel
from clew.protocol.events import ToolEnded
from clew.protocol.messages import result_text, text_of
from unit.agents.opened_place import Place
from unit.host.room import Front

CREATE = Call("CallTool", {"tool": "TeamCreate", "arguments": {"team_name": "blue"}})


def deferred(tool: str, **arguments: Any) -> Call:
    return Call("CallTool", {"tool": tool, "arguments": arguments})


def member(name: str, **more: Any) -> Call:
    return Call("Agent", {"description": f"{name} works", "prompt": f"TASK {name}", "name": name, "model": name} | more)


def send(to: str, message: str) -> Call:
    return Call("SendMessage", {"to": to, "message": message})


def team(place: Place, lead: list[Any], **members: list[Any]) -> tuple[SessionRequest, dict[str, ScriptedModel]]:
    """A request for a session whose lead and members say these things."""
    models = {name: ScriptedModel(script, name=name) for name, script in {"lead": lead, **members}.items()}
    request = place.request(models["lead"])
    return replace(request, connect=lambda name: models.get(name, models["lead"])), models


def heard(model: ScriptedModel) -> str:
    """All that a model was told by others, in its last request."""
    if not model.requests:
        return ""
    return "\n".join(text_of(message.content) for message in model.requests[-1].messages if message.role == "user")


def results(front: Front) -> list[str]:
    return [result_text(event.result) for event in front.of(ToolEnded)]
