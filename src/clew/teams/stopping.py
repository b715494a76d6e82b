"""How members of a team stop: asked, with the right to refuse, or at once. "Stopped" is told when it is so."""

import asyncio
from typing import Protocol

from clew.agents.report import escaped, short
from clew.protocol.ids import AgentId, CallId
from clew.protocol.standing import Standing
from clew.system.shared_log import LogBusy, LogFull
from clew.teams.known_team import KnownTeam
from clew.teams.mailbox import Became, Letter
from clew.teams.names import LEAD
from clew.teams.roster import Member, TeamError
from clew.teams.team_mail import TeamMail, summary

SHUTDOWN_REPLY = "ShutdownReply"
ASKED_TO_STOP = (
    f"[The lead of your team asks you to stop working for it. Answer with {SHUTDOWN_REPLY}: approve when nothing of "
    "yours would be lost, or refuse with the reason."
)


class WorkBooks(Protocol):
    """What a team needs of the list of work."""

    async def release(self, owner: str) -> tuple[int, ...]:
        """What this member had open is nobody's again; which items."""
        ...

    def open_of(self, owner: str) -> int:
        """How many items it has open."""
        ...


class Stopping:
    """One per live team."""

    def __init__(self, known: KnownTeam, work: WorkBooks) -> None:
        self._known = known
        self._work = work
        self.mail: TeamMail
        self._refused: dict[str, str] = {}
        """Why a member did not stop, since it was last asked."""
        self.leaving: dict[AgentId, CallId] = {}
        """Members that agreed to stop, with the call that said so."""

    async def handle(self, name: str, letter: Letter) -> tuple[Became, str]:
        """A request to stop counts from the lead, an answer from the member that was asked."""
        if letter.kind == "shutdown_request" and letter.sender == LEAD and name != LEAD:
            return await self._asked_to_stop(name, letter)
        if letter.kind == "shutdown_answer" and name == LEAD:
            return await self._answered(letter)
        return "refused", f"{letter.sender} may not send this to {name}"

    async def ask_to_stop(self, name: str, reason: str = "") -> str:
        """Ask a member to stop; the id of the request. It may refuse. Raises ValueError."""
        member = self._known.known(name)
        if member.state == "stopped":
            raise TeamError(f"{member.name} has stopped already")
        if member.name in self._known.asked:
            return self._known.asked[member.name]
        if member.backend == "pane" and self._known.standing(member) is Standing.INTERRUPTED:
            await self.stopped(member, "lead")
            return ""
        letter = await self.mail.store("shutdown_request", LEAD, member.name, {"text": reason})
        self._known.asked[member.name] = letter.id
        self._refused.pop(member.name, None)
        self._known.tell()
        self.mail.postman.pump(member.name)
        return letter.id

    async def _asked_to_stop(self, name: str, letter: Letter) -> tuple[Became, str]:
        member = self._known.team().find(name)
        if member is None:
            return "refused", "it is not in the team"
        self._known.asked.setdefault(name, letter.id)
        if self._known.run(member) is None and not self._work.open_of(name):
            await self.stopped(member, "lead")
            return "handled", "it was idle"
        why = f" The reason that was given: {escaped(short(letter.text))}]" if letter.text else "]"
        self.mail.say(name, ASKED_TO_STOP + why)
        return "handled", ""

    async def reply_to_stop(self, agent: AgentId, *, approve: bool, reason: str, call: CallId) -> str:
        """A member's answer to the request that it stops; what it is told. Raises ValueError."""
        name = self._known.named(agent)
        request = self._known.asked.get(name, "")
        if not name or name == LEAD or not request:
            raise TeamError("nobody asked you to stop")
        if not approve and not reason.strip():
            raise TeamError("a refusal needs a reason")
        if approve:
            self.leaving[agent] = call
        body = {"request": request, "approve": approve, "text": reason}
        await self.mail.store("shutdown_answer", name, LEAD, body)
        self.mail.postman.pump(LEAD)
        return "You are done: your work ends here." if approve else "The lead is told. Go on with your work."

    async def _answered(self, letter: Letter) -> tuple[Became, str]:
        """An answer counts from the member that was asked, and for the request that is open."""
        request = self._known.asked.get(letter.sender)
        if not request or letter.body.get("request") != request:
            return "refused", "no such request is open"
        if letter.body.get("approve") is True:
            return "handled", "approved"
        del self._known.asked[letter.sender]
        self._refused[letter.sender] = letter.text
        self.mail.say(LEAD, f"[Teammate {letter.sender} does not stop yet.]\n{summary(letter)}")
        self._known.tell()
        return "handled", "refused"

    async def kill(self, name: str, by: str) -> None:
        """Stop a member at once; returns when it has ended. Raises ValueError."""
        member = self._known.known(name)
        if member.state == "stopped":
            raise TeamError(f"{member.name} has stopped already")
        self._known.asked.setdefault(member.name, "")
        run = self._known.run(member)
        if member.backend == "pane" and self._known.panes is not None:
            await self._known.panes.stop(member)
        elif run is not None:
            await run.stop("user" if by == "user" else "agent")
        if self._known.known(name).state != "stopped":
            await self.stopped(member, by)

    async def lost(self, member: Member) -> None:
        """The process of a member in a pane is gone: its open work is nobody's, and a person is told."""
        self._known.asked.pop(member.name, None)
        released = await self._work.release(member.name)
        more = f"; open again: #{', #'.join(map(str, released))}" if released else ""
        words = f"{member.name} was interrupted, its process is gone (/team start {member.name} goes on){more}"
        self._known.session.notice("warning", words, code="team")

    async def stopped(self, member: Member, by: str) -> None:
        """It has stopped: its open work is nobody's, and whoever wrote to it in vain is told."""
        self._known.asked.pop(member.name, None)
        await asyncio.to_thread(self._known.roster.note, member.name, state="stopped", stopped_by=by)
        self.mail.postman.leave(member.name)
        released = await self._work.release(member.name)
        box = self._known.roster.box(member.name)
        unread = [letter for letter in box.unread() if letter.is_chat]
        try:
            await asyncio.to_thread(box.settle, [one.id for one in unread], "dead", why=f"{member.name} has stopped")
        except (LogBusy, LogFull, OSError) as error:
            self._known.session.notice("warning", f"mail of {member.name} could not be settled: {error}", code="team")
        for letter in unread:
            self._known.session.notice(
                "warning", f"{member.name} never read what {letter.sender} wrote: {short(letter.text)}", code="team"
            )
        for sender in dict.fromkeys(letter.sender for letter in unread):
            with_reason = {"text": f"{member.name} has stopped"}
            try:
                await self.mail.store("undelivered", member.name, sender, with_reason)
            except ValueError as error:
                self._known.session.notice("warning", f"{sender} could not be told: {error}", code="team")
            self.mail.postman.pump(sender)
        words = f"{member.name} has stopped" + (f"; open again: #{', #'.join(map(str, released))}" if released else "")
        self._known.session.notice("info", words, code="team")
        self._known.tell()

    async def all_stopped(self, wait_s: float) -> dict[str, str]:
        """Ask everybody to stop and wait so long; who has not, and why."""
        for member in self._known.team().members:
            if member.state != "stopped" and member.name not in self._refused:
                await self.ask_to_stop(member.name)
        await self.mail.postman.settled()
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        while left := [member for member in self._known.team().members if member.state != "stopped"]:
            waits = [member for member in left if member.name not in self._refused]
            rest = until - loop.time()
            if not waits or rest <= 0:
                return {one.name: self._refused.pop(one.name, "") or "it has not answered yet" for one in left}
            self._known.changed.clear()
            try:
                await asyncio.wait_for(self._known.changed.wait(), rest)
            except TimeoutError:
                continue
        return {}
