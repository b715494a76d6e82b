"""Programs that change the files they name. They always ask by themselves; acceptEdits and rules cover known uses."""

from clew.permissions.shell.programs.program import Loss, Program, Reach, Writes, loss, reach
from clew.permissions.shell.programs.spec import Spec
from clew.text.guarded_names import word_set

_NAMED_FILES = "Changes the files it names and nothing else. No settings file, no plug-in, no other program."
_WIDER = "Changes files, and can reach further than its operands tell: only exact rules cover it."


def _changer(
    flags: str,
    writes: Writes,
    *,
    offers: tuple[str, ...] = (),
    reaches: tuple[Reach, ...] = (),
    loses: tuple[Loss, ...] = (),
    edit: bool = False,
) -> Program:
    return Program(
        audit=_NAMED_FILES,
        version=("--version", "--help"),
        changes=Spec(flags, "text"),
        writes=writes,
        plain_edit=edit,
        offers=offers,
        reaches=reaches,
        loses=loses,
    )


def _wider(*reaches: Reach, texts: tuple[str, ...] = ()) -> Program:
    return Program(audit=_WIDER, writes="each", reaches=reaches, shell_texts=texts)


_REMODES = reach("remodes", deep="-R --recursive")
_DELETES = reach("deletes", deep="*")


PROGRAMS: dict[str, Program] = {
    "mkdir": _changer("-p -v -m: --parents --verbose --mode=", "make", offers=("*",), edit=True),
    "rmdir": _changer(
        "-p -v --parents --verbose --ignore-fail-on-non-empty", "make", edit=True, reaches=(reach("deletes"),)
    ),
    "touch": _changer(
        "-a -c -m -h -d: -t: -r@ --no-create --date= --time= --reference=@ --no-dereference",
        "make",
        offers=("*",),
        edit=True,
    ),
    "rm": _changer(
        "-f -i -I -v -d -r -R --force --verbose --dir --recursive --interactive=?",
        "remove",
        edit=True,
        loses=(loss("trees", "this deletes whole directories", "-r -R --recursive"),),
    ),
    "unlink": _changer("", "remove", edit=True),
    "cp": _changer(
        "-a -d -f -i -n -p -P -r -R -u -v -T -t@ --archive --force --interactive --no-clobber --recursive --update=? "
        "--verbose --no-target-directory --target-directory=@ --preserve=? --no-dereference",
        "copy",
        edit=True,
    ),
    "mv": _changer(
        "-f -i -n -u -v -T -t@ --force --interactive --no-clobber --update=? --verbose --no-target-directory "
        "--target-directory=@",
        "move",
        edit=True,
    ),
    "ln": _changer("-s -f -n -v -r -T -t@ --symbolic --force --verbose --target-directory=@", "link"),
    "install": _changer("-d -D -v -m: -t@ --directory --mode= --target-directory=@", "copy"),
    "tee": _changer("-a -i --append --ignore-interrupts", "each"),
    "truncate": _changer("-c -o -s: -r@ --no-create --size= --reference=@", "each"),
    "chmod": _changer("-R -v -c -f --recursive --verbose --changes --silent", "after first"),
    "chown": _changer("-R -v -c -f -h --recursive --verbose", "after first"),
    "chgrp": _changer("-R -v -c -f -h --recursive --verbose", "after first"),
    "dd": Program(audit=_NAMED_FILES, changes=Spec("", "anything"), writes="of=", raw=True),
    "sponge": _changer("-a", "each"),
    **{name: _wider(_REMODES) for name in ("setfacl", "chattr", "chcon")},
    **{name: _wider() for name in sorted(word_set("patch cpio pax ed ex nano split csplit mkfifo mknod"))},
    "shred": _wider(reach("deletes", deep="-r"))._replace(writes="remove", raw=True),
    **{
        name: _wider(_DELETES)._replace(writes="remove")
        for name in sorted(word_set("srm wipe trash trash-put trash-rm rimraf gvfs-trash rmtrash"))
    },
    "gio": _wider(reach("deletes", needs="trash remove", deep="*"), reach("moves", needs="move")),
    "rsync": _wider(
        reach(
            "deletes",
            "last",
            needs="--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --del",
            deep="*",
        ),
        reach("deletes", "sources", needs="--remove-source-files", deep="*"),
        reach("overwrites", "last"),
        texts=("-e", "--rsh"),
    )._replace(
        version=("--version", "--help"),
        loses=(
            loss(
                "trees",
                "this deletes what is not in the source",
                "--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --del",
            ),
        ),
    ),
    "zip": _wider(
        reach("deletes", "after first", needs="-m --move", deep="*"), texts=("-TT", "--unzip-command")
    )._replace(version=("--version", "--help")),
    "vim": _wider()._replace(version=("--version", "--help")),
    "nvim": _wider()._replace(version=("--version", "--help")),
}
