"""Approvals and questions in flight: asked by an event with an id, answered by an op with that id."""

import asyncio

from clew.protocol.ids import RequestId
from clew.protocol.ops import AnswerApproval, AnswerQuestion

Answer = AnswerApproval | AnswerQuestion


class PendingAnswers:
    """Open requests. Ids are random and single-use, so text in a transcript or a mailbox cannot answer one."""

    def __init__(self) -> None:
        self._open: dict[RequestId, asyncio.Future[Answer]] = {}

    def open(self, request_id: RequestId) -> "asyncio.Future[Answer]":
        """Start to wait, before the event that asks is shown."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[request_id] = future
        return future

    def settle(self, answer: Answer) -> bool:
        """Deliver an answer; False when nothing waits under that id."""
        future = self._open.pop(answer.request_id, None)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    def forget(self, request_id: RequestId) -> None:
        """The call is gone; a late answer is ignored."""
        self._open.pop(request_id, None)
