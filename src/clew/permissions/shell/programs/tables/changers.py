"""Programs that change the files they name. They always ask by themselves; acceptEdits and rules cover known uses."""

from clew.permissions.shell.programs.program import Loss, Program, Writes, loss
from clew.permissions.shell.programs.spec import Spec
from clew.text.guarded_names import word_set

_NAMED_FILES = "Changes the files it names and nothing else. No settings file, no plug-in, no other program."
_WIDER = "Changes files, and can reach further than its operands tell: only exact rules cover it."


def _changer(
    flags: str,
    writes: Writes,
    *,
    offers: tuple[str, ...] = (),
    disks: bool = False,
    loses: tuple[Loss, ...] = (),
    edit: bool = False,
) -> Program:
    return Program(
        audit=_NAMED_FILES,
        changes=Spec(flags, "text"),
        writes=writes,
        plain_edit=edit,
        offers=offers,
        disks=disks,
        loses=loses,
    )


def _wider(*, disks: bool = False, texts: tuple[str, ...] = ()) -> Program:
    return Program(audit=_WIDER, writes="each", disks=disks, shell_texts=texts)


PROGRAMS: dict[str, Program] = {
    "mkdir": _changer("-p -v -m: --parents --verbose --mode=", "make", offers=("*",), edit=True),
    "rmdir": _changer("-p -v --parents --verbose --ignore-fail-on-non-empty", "make", edit=True),
    "touch": _changer(
        "-a -c -m -h -d: -t: -r@ --no-create --date= --time= --reference=@ --no-dereference",
        "make",
        offers=("*",),
        edit=True,
    ),
    "rm": _changer(
        "-f -i -I -v -d -r -R --force --verbose --dir --recursive --interactive=?",
        "remove",
        disks=True,
        edit=True,
        loses=(loss("trees", "this deletes whole directories", "-r -R --recursive"),),
    ),
    "unlink": _changer("", "remove", edit=True),
    "cp": _changer(
        "-a -d -f -i -n -p -P -r -R -u -v -T -t@ --archive --force --interactive --no-clobber --recursive --update=? "
        "--verbose --no-target-directory --target-directory=@ --preserve=? --no-dereference",
        "copy",
        disks=True,
        edit=True,
    ),
    "mv": _changer(
        "-f -i -n -u -v -T -t@ --force --interactive --no-clobber --update=? --verbose --no-target-directory "
        "--target-directory=@",
        "move",
        disks=True,
        edit=True,
    ),
    "ln": _changer("-s -f -n -v -r -T -t@ --symbolic --force --verbose --target-directory=@", "link", disks=True),
    "install": _changer("-d -D -v -m: -t@ --directory --mode= --target-directory=@", "copy", disks=True),
    "tee": _changer("-a -i --append --ignore-interrupts", "each", disks=True),
    "truncate": _changer("-c -o -s: -r@ --no-create --size= --reference=@", "each", disks=True),
    "chmod": _changer("-R -v -c -f --recursive --verbose --changes --silent", "after first"),
    "chown": _changer("-R -v -c -f -h --recursive --verbose", "after first"),
    "chgrp": _changer("-R -v -c -f -h --recursive --verbose", "after first"),
    "dd": Program(audit=_NAMED_FILES, changes=Spec("", "anything"), writes="of=", disks=True),
    "sponge": _changer("-a", "each"),
    **{
        name: _wider()
        for name in sorted(word_set("setfacl chattr chcon patch cpio pax ed ex nano split csplit mkfifo mknod"))
    },
    "shred": _wider(disks=True)._replace(writes="remove"),
    **{name: _wider(disks=True) for name in sorted(word_set("ddrescue dcfldd pv"))},
    **{
        name: _wider(disks=True)
        for name in sorted(
            word_set(
                "wipefs blkdiscard mkswap fdisk sfdisk cfdisk gdisk sgdisk parted cryptsetup badblocks hdparm mke2fs"
            )
        )
    },
    "rsync": _wider(disks=True, texts=("-e", "--rsh"))._replace(
        version=("--version", "--help"),
        loses=(
            loss(
                "trees",
                "this deletes what is not in the source",
                "--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --del",
            ),
        ),
    ),
    "zip": _wider(texts=("-TT", "--unzip-command"))._replace(version=("--version", "--help")),
    "vim": _wider()._replace(version=("--version", "--help")),
    "nvim": _wider()._replace(version=("--version", "--help")),
}
