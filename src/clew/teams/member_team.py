"""A team as the session of a member in a pane has it: its mail, its answer to a request to stop, its standing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from clew.agents.factory import AgentFactory
from clew.agents.report import escaped, short
from clew.agents.runner import AgentSpec
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.protocol.standing import Standing
from clew.teams.known_team import KnownTeam
from clew.teams.mailbox import Became, Letter, LetterKind
from clew.teams.names import LEAD
from clew.teams.pane_life import narrower, pane_standing
from clew.teams.roster import Member, Roster, TeamError
from clew.teams.stopping import ASKED_TO_STOP
from clew.teams.team_mail import TeamMail
from clew.tools.base import ChildAgent, ChildOrder, Tool

LAST_WORDS_CHARS = 2_000


class TeamSeenByMember(KnownTeam):
    """The team as its files tell: other members are other processes'."""

    def __init__(self, home: Path, roster: Roster, factory: AgentFactory, name: str) -> None:
        super().__init__(roster, factory, main=name)
        self._home = home

    def standing(self, member: Member) -> Standing:
        """By the file and by the process of a pane."""
        if member.backend == "pane":
            return pane_standing(self._home, member)
        return Standing.IDLE if member.state in ("idle", "stopped") else Standing.WORKING


class MemberMail(TeamMail):
    """The mail of one member in a pane. A letter has no authority: it may ask to stop, and narrow the mode."""

    def __init__(
        self,
        known: KnownTeam,
        *,
        told: Iterable[str],
        mode: Callable[[], str],
        use_mode: Callable[[str], Awaitable[None]],
    ) -> None:
        """`told`: letters that the conversation has already. `mode`: the permission mode; `use_mode` changes it."""
        super().__init__(known, told=told, stopping=self._asked_to_stop)
        self._mode = mode
        self._use_mode = use_mode
        self.asked = ""
        """The id of the request to stop that is open."""

    async def handle(self, name: str, letter: Letter) -> tuple[Became, str]:
        """Do what a protocol letter asks; what became of it."""
        match letter.kind:
            case "shutdown_request":
                return await self._asked_to_stop(name, letter)
            case "mode" if letter.sender == LEAD:
                wanted = str(letter.body.get("mode", ""))
                if wanted == self._mode() or narrower(wanted, self._mode()) != wanted:
                    return "refused", "a letter makes no permission wider: change the mode in the pane"
                await self._use_mode(wanted)
                return "handled", ""
            case "undelivered":
                self.say(name, f"[Your message to {escaped(letter.sender)} was not read: it has stopped.]")
                return "handled", ""
            case _:
                return "refused", f"{letter.sender} may not send this to {name}"

    async def _asked_to_stop(self, name: str, letter: Letter) -> tuple[Became, str]:
        if letter.sender != LEAD:
            return "refused", f"{letter.sender} may not send this to {name}"
        self.asked = letter.id
        why = f" The reason that was given: {escaped(short(letter.text))}]" if letter.text else "]"
        self.say(name, ASKED_TO_STOP + why)
        return "handled", ""


class MemberTeam:
    """What the agents of a member's session have of the team (`TeamPort`)."""

    leads = False

    def __init__(self, known: TeamSeenByMember, mail: MemberMail) -> None:
        self.known = known
        self.mail = mail
        self.leaving: CallId | None = None
        """The call that agreed to stop."""
        self._noting = asyncio.Lock()
        self._asked_before()

    def _asked_before(self) -> None:
        """A request to stop that was taken before a restart and not answered is still open."""
        roster, name = self.known.roster, self.known.main
        answered = {one.letter.body.get("request") for one in roster.box(LEAD).all() if one.letter.sender == name}
        for one in roster.box(name).all():
            letter = one.letter
            if letter.kind == "shutdown_request" and one.word == "handled" and letter.id not in answered:
                self.mail.asked = letter.id

    async def start(self, prompt: str, order: ChildOrder, *, call: CallId) -> ChildAgent:
        """Only the lead starts members."""
        raise TeamError("only the lead of a team starts members")

    async def post(self, sender: AgentId, to: str, text: str) -> str | None:
        """Words to the lead, a member, or everybody (`TeamMail.post`)."""
        return await self.mail.post(sender, to, text) if sender == MAIN_AGENT else None

    def is_outside(self, name: str) -> bool:
        """People talk to its own agents here."""
        return False

    def member_spec(self, spec: AgentSpec, name: str) -> AgentSpec:
        """Its children are no members."""
        return spec

    def member_tools(self, agent: AgentId) -> tuple[Tool[Any], ...]:
        """Its children are no members."""
        return ()

    async def reply_to_stop(self, agent: AgentId, *, approve: bool, reason: str, call: CallId) -> str:
        """Answer the lead's request to stop; what the model is told. Raises ValueError."""
        if agent != MAIN_AGENT or not self.mail.asked:
            raise TeamError("nobody asked you to stop")
        if not approve and not reason.strip():
            raise TeamError("a refusal needs a reason")
        body = {"request": self.mail.asked, "approve": approve, "text": reason}
        await self.mail.store("shutdown_answer", self.known.main, LEAD, body)
        self.mail.asked = ""
        if not approve:
            return "The lead is told. Go on with your work."
        self.leaving = call
        await self.note("stopping")
        return "You are done: your work ends here."

    async def note(self, state: str, **more: object) -> None:
        """Write down how this member stands, where the file says otherwise. Raises TeamError."""
        async with self._noting:  # one after the other, in the order in which things happened
            member = self.known.known(self.known.main)
            if more or (member.state != state and member.state not in ("stopping", "stopped")):
                await asyncio.to_thread(self.known.roster.note, member.name, state=state, **more)

    async def state(self) -> str:
        """What the file says once everything until now is written down. Raises TeamError."""
        async with self._noting:
            return self.known.known(self.known.main).state

    async def tell_lead(self, kind: LetterKind, text: str, session: str) -> None:
        """A protocol letter to the lead. Raises ValueError."""
        body = {"text": text[-LAST_WORDS_CHARS:], "session": session}
        await self.mail.store(kind, self.known.main, LEAD, body)
