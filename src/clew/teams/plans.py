"""Plans of members that were started in plan mode: a person accepts them, or the lead where the person allows that."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from clew.protocol.event_kinds.asks import PlanAnswered
from clew.teams.known_team import KnownTeam
from clew.teams.mailbox import Became, Letter
from clew.teams.names import LEAD
from clew.teams.roster import TeamError
from clew.teams.team_mail import TeamMail, summary
from clew.tools.base import PlanProposal

PLAN = "plan"
AFTER = "default"
"""The mode that a member comes to by a plain yes."""
Propose = Callable[[PlanProposal], Awaitable[PlanAnswered]]


class PlanWord(Struct, frozen=True, kw_only=True):
    """What became of a plan."""

    accepted: bool
    by: Literal["user", "lead", "nobody"]
    comment: str = ""
    mode: str = AFTER
    plan: str = ""
    """The text that counts, where it is another."""


class Plans:
    """One per live team."""

    def __init__(self, known: KnownTeam, mail: TeamMail, *, lead_approves: bool) -> None:
        """`lead_approves`: the person lets the lead's model accept plans."""
        self._known = known
        self._mail = mail
        self._lead_approves = lead_approves
        self._open: dict[str, tuple[str, asyncio.Future[PlanWord]]] = {}
        """Members that wait for the lead, with the id of the request."""

    def is_planning(self, name: str) -> bool:
        """Whether this member changes nothing yet."""
        member = self._known.team().find(name)
        return member is not None and member.mode == PLAN

    async def propose(self, name: str, plan: str, propose: Propose) -> PlanWord:
        """Put a member's plan to whoever may accept it, and wait. Raises ValueError."""
        if not self._lead_approves:
            proposal = PlanProposal(plan=plan, path="", mode_after=AFTER, as_it_stands=lambda: plan)
            answered = await propose(proposal)
            by = "nobody" if answered.by == "nobody" else "user"
            if answered.decision == "keep_planning":
                return PlanWord(accepted=False, by=by, comment=answered.comment)
            mode = "acceptEdits" if answered.decision == "accept_edits" else answered.mode or AFTER
            return PlanWord(accepted=True, by=by, mode=mode, plan=answered.plan)
        letter = await self._mail.store("plan_request", name, LEAD, {"text": plan})
        waiting: asyncio.Future[PlanWord] = asyncio.get_running_loop().create_future()
        self._open[name] = (letter.id, waiting)
        self._mail.postman.pump(LEAD)
        try:
            return await waiting
        finally:
            self._open.pop(name, None)

    async def reply(self, name: str, *, approve: bool, feedback: str) -> str:
        """The lead's word on a plan. Raises ValueError."""
        if not self._lead_approves:
            raise TeamError("plans of members are accepted by the user here (teams.leadApprovesPlans)")
        member = self._known.known(name)
        request = self._open.get(member.name)
        if request is None:
            raise TeamError(f"{member.name} waits for no answer to a plan")
        if not approve and not feedback.strip():
            raise TeamError("a refusal needs a reason")
        await self._mail.store(
            "plan_answer", LEAD, member.name, {"request": request[0], "approve": approve, "text": feedback}
        )
        self._mail.postman.pump(member.name)
        return f"{member.name} is told."

    async def handle(self, name: str, letter: Letter) -> tuple[Became, str]:
        """A plan counts from a member, an answer from the lead and for the request that is open."""
        if letter.kind == "plan_request" and name == LEAD and letter.sender in self._open:
            self._mail.say(
                LEAD,
                f"[Teammate {letter.sender} asks you to accept its plan. Answer with CallTool PlanReply(name, approve, "
                f"feedback).]\n{summary(letter)}",
            )
            return "handled", ""
        request, waiting = self._open.get(name, ("", None))
        if letter.kind != "plan_answer" or letter.sender != LEAD or waiting is None:
            return "refused", f"{letter.sender} may not send this to {name}"
        if not request or letter.body.get("request") != request or waiting.done():
            return "refused", "no such plan is open"
        accepted = letter.body.get("approve") is True
        waiting.set_result(PlanWord(accepted=accepted, by="lead", comment=letter.text))
        return "handled", "accepted" if accepted else "refused"
