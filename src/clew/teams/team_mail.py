"""The mail of a live team: who may write to whom, how letters reach conversations, and a handler for each kind of the
protocol. Words of a model are only ever the text of a chat."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from clew.agents.report import escaped, short
from clew.engine.turn import Notices, Prompt, quiet_notice
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.standing import Standing
from clew.teams.known_team import KnownTeam
from clew.teams.mailbox import Became, Letter, LetterKind, NotStored
from clew.teams.names import EVERYBODY, LEAD, slug_of
from clew.teams.postman import Postman
from clew.teams.roster import Member, Team, TeamError

Handler = Callable[[str, Letter], Awaitable[tuple[Became, str]]]
"""Does what a letter of the protocol asks of the member that it is addressed to; what became of it."""


class TeamMail:
    """One per live team."""

    def __init__(
        self,
        known: KnownTeam,
        *,
        told: Iterable[str],
        stopping: Handler,
    ) -> None:
        """`told`: letters that the main conversation has already. `stopping`: handles requests to stop and answers to
        them."""
        self._known = known
        self._stopping = stopping
        self.plans: Handler | None = None
        """Handles plans of members and answers to them; None: a member in a pane has its own."""
        self.postman = Postman(
            known.roster,
            deliver=self._deliver,
            handle=self.handle,
            tell=lambda words: known.session.notice("warning", words, code="team"),
        )
        self.postman.serve(known.main, told)

    async def post(self, sender: AgentId, to: str, text: str) -> str | None:
        """Words to a member, the lead, or everybody; what became of them. None: nobody of the team is meant."""
        own = self._known.named(sender)
        if not own:
            return None
        if "@" in to:
            raise TeamError(f"{to!r} is no address: use the bare name of a member")
        team = self._known.team()
        if to == EVERYBODY:
            return await self._broadcast(team, own, text)
        if own != LEAD and to in ("main", "parent", LEAD):
            to = LEAD
        elif own == LEAD and to == LEAD:
            raise TeamError("you are the lead: write to a member")
        member = team.find(to) or next((one for one in team.members if to and one.agent == to), None)
        if to != LEAD and member is None:
            return None
        name = member.name if member is not None else LEAD
        if name == own:
            raise TeamError("a member does not write to itself")
        return await self._send(own, name, member, text)

    async def _send(self, own: str, name: str, member: Member | None, text: str) -> str:
        if member is not None and member.state == "stopped":
            raise TeamError(
                f"{name} was stopped: nobody reads its mail. A person can start it again (/team start {name})"
            )
        standing = self._known.standing(member) if member is not None else Standing.WORKING
        letter = await self.store("chat", own, name, {"text": text})
        if own != LEAD:  # the lead's own call tells of it
            self._known.session.notice("info", f"{own} wrote to {name}: {short(text)}", code="team")
        self.postman.pump(name)
        return f"Stored for {name} (letter {letter.id[:8]}): {self._what_then(name, member, standing)}."

    def _what_then(self, name: str, member: Member | None, standing: Standing) -> str:
        if member is not None and member.backend == "pane" and standing is Standing.INTERRUPTED:
            return "its process is gone, so it reads this when it is started again"
        if standing.open:
            return "it reads this before its next step"
        return "it was idle, and begins to work with it"

    async def _broadcast(self, team: Team, own: str, text: str) -> str:
        names = [LEAD, *(member.name for member in team.members if member.state != "stopped")]
        told: list[str] = []
        failed: list[str] = []
        for name in names:
            if name == own:
                continue
            try:
                await self._send(own, name, team.find(name) if name != LEAD else None, text)
                told.append(name)
            except (TeamError, NotStored) as error:
                failed.append(f"{name}: {error}")
        if failed and not told:
            raise TeamError("; ".join(failed))
        if not told:
            raise TeamError("nobody else is in the team")
        return f"Stored for {', '.join(told)}.{' NOT stored for ' + '; '.join(failed) + '.' if failed else ''}"

    async def store(self, kind: LetterKind, own: str, to: str, body: dict[str, Any]) -> Letter:
        """Put a letter into an inbox. Raises ValueError with the reason why it is not there."""
        if not self._known.roster.folder.is_dir():
            raise TeamError(f"the files of the team are gone ({self._known.roster.folder})")
        return await asyncio.to_thread(self._known.roster.box(to).post, kind, sender=own, to=to, body=body)

    async def assign(self, by: str, to: str, item: int, subject: str) -> None:
        """Tell a member that an item of work is its own. Raises ValueError with the reason why it is not told."""
        if to != LEAD and self._known.known(to).state == "stopped":
            raise TeamError(f"{to} was stopped: nobody reads its mail")
        await self.store("assignment", by, to, {"item": item, "text": subject})
        self.postman.pump(to)

    def address(self, name: str) -> str:
        """How whoever is meant is written in the team; a name that nobody has stays as it is."""
        try:
            member = self._known.team().find(name)
        except TeamError:
            return name
        return member.name if member is not None else LEAD if slug_of(name) == LEAD else name

    def _deliver(self, name: str, notices: Callable[[], Notices], quietly: bool) -> bool:
        """Let mail join the conversation of an agent of this process; `quietly`: not before its next turn."""
        if self._known.session.closed:
            return False
        prompt = Prompt(content="", origin="task", notices=notices)
        if name == self._known.main:
            runner = self._known.factory.find_runner(MAIN_AGENT)
            if runner is None or runner.closed:
                return False
            stopped = self._known.session.journal.log(MAIN_AGENT).state.standing is Standing.STOPPED
            if not quietly and (runner.working or (self._known.factory.rules.wake_parent and not stopped)):
                runner.submit(prompt)
            else:
                runner.join(lambda leaf: quiet_notice(notices(), leaf), now=not quietly)
            return True
        member = self._known.team().find(name)
        if member is None or (member.name in self._known.asked and not self._known.run(member)):
            return False
        return self._to_member(member, prompt, notices)

    def _to_member(self, member: Member, prompt: Prompt, notices: Callable[[], Notices]) -> bool:
        run = self._known.run(member)
        if run is not None and not run.runner.closed:
            run.runner.submit(prompt)
            return True
        if run is not None:
            return False  # it ends just now; its end pumps again
        self._known.later(self._opened(member, "", notices))
        return True

    async def _opened(self, member: Member, words: str, notices: Callable[[], Notices] | None = None) -> None:
        """One more run of a member, with mail or with words of the program."""
        try:
            await self._known.factory.children.talk.wake(AgentId(member.agent), words, notices)
        except ValueError as error:
            if notices is not None:
                self.postman.not_taken(member.name)
            self._known.session.notice("warning", f"{member.name} was not woken: {error}", code="team")

    async def handle(self, name: str, letter: Letter) -> tuple[Became, str]:
        """Do what a protocol letter asks; what became of it."""
        match letter.kind:
            case "shutdown_request" | "shutdown_answer":
                return await self._stopping(name, letter)
            case "idle" if name == LEAD and self._known.team().find(letter.sender) is not None:
                self._known.session.notice("info", f"{letter.sender} is idle", code="team")
                self.say(name, f"[Teammate {letter.sender} is idle.]\n{summary(letter)}")
                await asyncio.to_thread(self._known.roster.note, letter.sender, state="idle")
                self._known.tell()
                return "handled", ""
            case "plan_request" | "plan_answer" if self.plans is not None and not letter.body.get("session"):
                return await self.plans(name, letter)
            case "permission_request" | "plan_request" if name == LEAD and self._is_member(letter.sender):
                where = f"its pane, or `clew answer {letter.body.get('session', '')}`"
                self._known.session.notice("warning", f"{letter.sender} waits for you: answer in {where}", code="team")
                return "handled", ""
            case "undelivered" if self._is_member(letter.sender):
                self.say(name, f"[Your message to {escaped(letter.sender)} was not read: it has stopped.]")
                return "handled", ""
            case _:
                return "refused", f"{letter.sender} may not send this to {name}"

    def _is_member(self, name: str) -> bool:
        return self._known.team().find(name) is not None

    def say(self, name: str, words: str) -> None:
        """Words of the program to an agent of this process; an idle one is woken."""
        if name == self._known.main:
            runner = self._known.factory.find_runner(MAIN_AGENT)
            if runner is not None and not runner.closed:
                runner.submit(Prompt(content=words, origin="task"))
            return
        member = self._known.team().find(name)
        run = self._known.run(member) if member is not None else None
        if run is not None and not run.runner.closed:
            run.runner.submit(Prompt(content=words, origin="task"))
        elif member is not None and member.agent:
            self._known.later(self._opened(member, words))


def summary(letter: Letter) -> str:
    """What a protocol letter says in words, as data."""
    return f'<said by="{escaped(letter.sender)}">{escaped(letter.text)}</said>' if letter.text else ""
