"""Programs for disks: which of their uses overwrite what is on one, and which only show it."""

from clew.permissions.shell.programs.program import Program, Reach, reach
from clew.text.guarded_names import word_set

_OVERWRITES = "Overwrites the disk that it is given, or parts of it, in the uses that its row names; never proven."


def _disk(*reaches: Reach) -> Program:
    return Program(audit=_OVERWRITES, writes="each", reaches=reaches, raw=True)


_ALWAYS = _disk(reach("overwrites"))
PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(
        sorted(
            word_set(
                """mkfs mkswap mke2fs mkdosfs mkntfs ntfs-3g.format newfs blkdiscard cfdisk lvremove vgremove pvremove
                pvcreate lvreduce zerofree scrub nwipe"""
            )
        ),
        _ALWAYS,
    ),
    "fdisk": _disk(
        reach(
            "overwrites",
            only="-l --list -x --list-details -s --getsz -o --output -b --sector-size -u --units --bytes -L --color",
        )
    ),
    "sfdisk": _disk(
        reach(
            "overwrites",
            only="-l --list -d --dump -J --json -F --list-free -V --verify -s --show-size -T --list-types -g "
            "--show-geometry -o --output -q --quiet --bytes --color -n --no-act",
        )
    ),
    "gdisk": _disk(reach("overwrites", only="-l")),
    "sgdisk": _disk(
        reach(
            "overwrites",
            only="-p --print -i --info -v --verify -L --list-types -b --backup -f --first-in-largest -F "
            "--first-aligned-in-largest -E --end-of-largest -D --display-alignment -O --print-mbr -P --pretend",
        )
    ),
    "parted": _disk(
        reach(
            "overwrites",
            needs="mklabel mktable mkpart rm resizepart resize rescue name set toggle disk_set disk_toggle mkpartfs "
            "mkfs move cp",
        ),
        reach("overwrites", unless="print align-check help version -l --list"),
    ),
    "wipefs": _disk(reach("overwrites", needs="-a --all -o --offset", unless="-n --no-act")),
    "badblocks": _disk(reach("overwrites", needs="-w")),
    "hdparm": _disk(
        reach("overwrites", only="-I -i -t -T -C -g -v -H -N -z --direct --verbose --fibmap --dco-identify")
    ),
    "cryptsetup": _disk(
        reach(
            "overwrites",
            needs="luksFormat erase luksErase reencrypt luksHeaderRestore luksKillSlot luksRemoveKey format "
            "luksConvertKey convert",
        )
    ),
    "nvme": _disk(reach("overwrites", needs="format sanitize write write-zeroes write-uncor dsm fw-download")),
    "mdadm": _disk(reach("overwrites", needs="--zero-superblock --create -C")),
    "zpool": _disk(reach("overwrites", needs="create labelclear add replace attach")),
    "ddrescue": _disk(reach("overwrites", "second")),
    "dcfldd": _disk(reach("overwrites", "of=")),
    "pv": _disk(reach("overwrites", "values", values="-o --output")),
    "qemu-img": _disk(
        reach("overwrites", "last", needs="convert"),
        reach("overwrites", needs="create resize commit rebase amend", unless="info"),
    ),
    "partclone": _disk(reach("overwrites", "values", values="-o --output -O --overwrite")),
}
