"""Checks and status: what works here, what is in force, and where things lie."""

import asyncio

from clew.host.part import Answerers, Part, PartSession, PartSetup
from clew.parts.doctor.at_place import answer
from clew.parts.doctor.status import status_rows
from clew.protocol.lookups.place import ChecksShown, RunChecks
from clew.protocol.lookups.session import RequestStatus, StatusShown


class DoctorPart(Part):
    """`/doctor` and `/status`."""

    def __init__(self, setup: PartSetup) -> None:
        self._setup = setup

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own

    def lookups(self) -> Answerers:
        """Both questions."""
        return {RunChecks: self._check, RequestStatus: self._status}

    async def _check(self, lookup: RunChecks) -> ChecksShown:
        """Those of the place, and what the parts of this session add."""
        shown = await answer(lookup, self._setup.workspace, model=self._own.session.main.agent.model.name)
        return ChecksShown(checks=(*shown.checks, *(row for part in self._own.session.parts for row in part.checks())))

    async def _status(self, lookup: RequestStatus) -> StatusShown:
        return StatusShown(rows=await asyncio.to_thread(status_rows, self._setup, self._own))
