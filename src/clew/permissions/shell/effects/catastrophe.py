"""The always-deny list (P9): root, homes, disks, the kernel's files, fork bombs and clew's own state, in every mode.

It speaks of effects on places, which each program's row tells (reach.py), never of spellings.
"""

import re
from typing import NamedTuple

from clew.permissions.effort import TooMuchWork
from clew.permissions.files import Places
from clew.permissions.own_commands import changes_own_state, words_of_clew
from clew.permissions.rules import Rule
from clew.permissions.shell.effects.own import OwnWords, refuse_own
from clew.permissions.shell.effects.places import Links, absolute, names_disk, names_kernel, reaches_critical
from clew.permissions.shell.effects.reach import PlaceEffect, effects_of
from clew.permissions.shell.programs.table import UNKNOWN, program
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set

_COARSE = re.compile(r"(?:^|[\s;&|(])rm\s+(?:-[-\w]+\s+)+(?:/|~|\$HOME|\$\{HOME\})(?:\*|/)?(?=[\s;&|)]|$)")
_QUOTING = str.maketrans("", "", "'\"\\")
_BETWEEN = re.compile(r"[\s;&|()<>`{}$]+")
# Programs without a row that are given a disk every day and leave its content alone.
_LOOKS_AT_DISKS = word_set("mount umount smartctl lsblk blkid udevadm eject findmnt df file losetup fsck e2label lsof")


class Catastrophe(NamedTuple):
    """Why a text is refused in every mode; or what went wrong in a part that could not be looked at."""

    why: str = ""
    fault: Exception | None = None


def always_denied(scan: Scan, places: Places) -> Catastrophe:
    """Look at every command by itself: a part that cannot be judged never hides what another one does."""
    if scan.fork_bomb:
        return Catastrophe("this starts copies of itself without end")
    links = _links(scan)
    own = OwnWords(places, links)
    fault = scan.fault
    looks = True
    for found in scan.effective:
        try:
            why = _refuse(found, places, own, links, looks=looks)
        except TooMuchWork as spent:
            # The budget is spent: from here on words mean what they say, and no link on disk is followed.
            fault, looks = fault or spent, False
            why = _refuse(found, places, own, links, looks=False)
        except Exception as broken:
            # A boundary like that of the judge itself: the other parts are still looked at, and then this one asks.
            fault, why = fault or broken, ""
        if why:
            return Catastrophe(why)
    return Catastrophe(fault=fault)


def _links(scan: Scan) -> Links:
    """The links that the text makes before it may use them."""
    found: Links = {}
    for one in scan.effective:
        operands = [value.text for value in one.argv[1:] if not value.text.startswith("-")]
        if one.name == "ln" and len(operands) == 2 and len(found) < 8:
            place, target = absolute(operands[1], one.cwd), absolute(operands[0], one.cwd)
            if place and target and place != target:
                found[place] = target
    return found


def coarse_denied(text: str, places: Places) -> str:
    """For texts too long to be read whole: the plainest forms only. They are never allowed unasked in any case."""
    if _COARSE.search(text):
        return "this deletes the system or the home directory"
    return "this long text names clew's own state" if places.clew_home in text else ""


def coarse_rule(text: str, rules: tuple[Rule, ...]) -> Rule | None:
    """A rule whose words stand in a text that is too long to be read whole, wherever that is."""
    if not rules:
        return None
    whole = next((rule for rule in rules if rule.whole_tool), None)
    if whole is not None:
        return whole
    words = (word.rsplit("/", 1)[-1] for word in _BETWEEN.split(text.translate(_QUOTING)))
    joined = f" {' '.join(words)} "
    return next((rule for rule in rules if f" {' '.join(rule.words)} " in joined), None)


def unseen_loss(scan: Scan) -> str:
    """Why it cannot be known whether the text belongs on the always-deny list, or an empty string."""
    for found in scan.effective:
        for effect in effects_of(found):
            hides = not effect.value.known and (effect.raw or effect.effect == "moves" or effect.deep)
            if hides and not (effect.effect == "overwrites" and not effect.raw):
                return f"it cannot be known what {found.name} would destroy"
        unknown = found.name and program(found.name) is UNKNOWN and found.name not in _LOOKS_AT_DISKS
        if unknown and any(names_disk(_behind_flag(value), found.cwd) for value in found.argv[1:]):
            return f"it cannot be known what {found.name} does to a disk"
    return ""


def _behind_flag(value: Value) -> str:
    return value.text.partition("=")[2] if "=" in value.text else value.text


def _refuse(found: Effective, places: Places, own: OwnWords, links: Links, *, looks: bool) -> str:
    for effect in effects_of(found):
        if why := _refuse_effect(effect, places, own, links, looks=looks):
            return why
    for redirect, values in found.redirects:
        if redirect.op == "<" and any(own.state(value, found.cwd, looks=looks) == "sealed" for value in values):
            return "this reads clew's own sealed state"
    if not found.argv:
        return ""
    said = words_of_clew([value.text for value in found.argv]) if found.argv[0].known else None
    if said is not None and changes_own_state(said):
        return "this changes clew's own state; a person does that, from a terminal of theirs"
    return refuse_own(found, own, looks=looks)


def _refuse_effect(one: PlaceEffect, places: Places, own: OwnWords, links: Links, *, looks: bool) -> str:
    """What the effect does to a place that no mode gives away, or an empty string."""
    value, cwd = one.value, one.cwd
    match one.effect:
        case "overwrites":
            if names_disk(value.text, cwd):
                return "this overwrites a disk or memory device"
            if names_kernel(value.text, cwd):
                return "this writes to the running kernel"
            if own.state(value, cwd, looks=looks) in ("sealed", "record", "root"):
                return "this changes clew's own state"
            if one.deep and reaches_critical(value, cwd, places, links, looks=looks):
                return "this overwrites the files of the system or of a home directory"
        case "remodes":
            if one.deep and reaches_critical(value, cwd, places, links, looks=looks):
                return "this changes modes or owners of the whole system or home"
        case "moves":
            if reaches_critical(value, cwd, places, links, looks=looks):
                return "this moves the system or a home directory away"
        case "deletes":
            if names_disk(value.text, cwd):
                return "this overwrites a disk"
            if reaches_critical(value, cwd, places, links, looks=looks):
                return "this deletes the system, a home directory or clew's own state"
    return ""
