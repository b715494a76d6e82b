"""Answers about hooks: which there are, and a person's word on them."""

import asyncio

from clew.parts.hooks.session_hooks import Hooking
from clew.host.lookup_desk import Desk, Rows
from clew.host.refusal import OpRefused
from clew.protocol.events import HooksChanged
from clew.protocol.lookups.hooks import ApproveHooks, HooksListed, ListHooks


async def _list(lookup: ListHooks, *, desk: Desk) -> HooksListed:
    hooking = _hooking(desk)
    await asyncio.to_thread(hooking.registry.read)
    return await asyncio.to_thread(_listed, hooking)


async def _approve(lookup: ApproveHooks, *, desk: Desk) -> HooksListed:
    """Everybody at the session hears of it: somebody else may be asked about the same hooks."""
    hooking = _hooking(desk)
    try:
        await asyncio.to_thread(hooking.registry.decide, lookup.digests, approved=lookup.approved)
    except KeyError as error:
        raise OpRefused("a hook has changed since it was listed, so nothing was approved; look at it again") from error
    except OSError as error:
        raise OpRefused(f"your decision cannot be kept: {error.strerror or error}") from error
    listed = await asyncio.to_thread(_listed, hooking)
    desk.room.session.publish(HooksChanged(hooks=listed.hooks))
    return listed


def _hooking(desk: Desk) -> Hooking:
    if desk.room.hooking is None:
        raise OpRefused("this session has no hooks")
    return desk.room.hooking


def _listed(hooking: Hooking) -> HooksListed:
    return HooksListed(hooks=hooking.registry.rows(), problems=hooking.registry.problems)


HOOKS: Rows = {ListHooks: _list, ApproveHooks: _approve}
