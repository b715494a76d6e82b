"""Readers of object files and of packed text."""

import re

from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.spec import Parsed

_BINUTILS = (
    "Reads its operands. A word that begins with @ names a file of further words, and --plugin loads code: neither "
    "is "
    "proven; nor is what follows names of other files inside (sources, debug files)."
)
_SCRIPTS = "A script that unpacks its operands with the program for their format and hands them to grep, diff or cmp."

_ONE_WORD = re.compile(r"[\w.,:/+=@%-]*")


def no_response_files(parsed: Parsed) -> str:
    """The tools of this family take more words from a file that is named with @."""
    values = [value for given in parsed.flags.values() for value in given]
    fine = not any(text.startswith("@") for text in (*values, *(word.text for word in parsed.operands)))
    return "" if fine else "a word that begins with @ names a file of further words"


def _plain_words(parsed: Parsed) -> str:
    """These scripts hand values (and some of them names) to the shell once more, which splits or runs them."""
    values = [value for given in parsed.flags.values() for value in given]
    fine = all(map(_ONE_WORD.fullmatch, (*values, *(word.text for word in parsed.paths))))
    return "" if fine else "the script would read this word as more than one"


_ZGREP = (
    "-a -A: -b -B: -c -C: -e: -E -F -G -h -H -i -l -L -m: -n -o -P -q -s -v -w -x -z --after-context= "
    "--before-context= "
    "--color=? --context= --count --extended-regexp --fixed-strings --ignore-case --invert-match --line-number "
    "--files-with-matches --max-count= --no-filename --only-matching --quiet --regexp= --word-regexp --with-filename"
)
PROGRAMS: dict[str, Program] = {
    "nm": reader(
        "-a -A -B -C=? -D -e -f: -g -h -j -l -n -o -p -P -r -S -s -t: -u -U -v -V -W -X: --debug-syms --defined-only "
        "--demangle=? --dynamic --extern-only --format= --just-symbols --no-demangle --no-sort --numeric-sort "
        "--portability "
        "--print-armap --print-file-name --print-size --quiet --radix= --reverse-sort --size-sort --special-syms "
        "--synthetic --undefined-only --with-symbol-versions --without-symbol-versions",
        "paths",
        no_response_files,
        audit=_BINUTILS,
    ),
    "objdump": reader(
        "-a -b: -C=? -d -D -f -F -g -G -h -i -j: -l -m: -M: -p -P: -r -R -s -t -T -w -x -z --all-headers "
        "--archive-headers "
        "--architecture= --demangle=? --disassemble=? --disassemble-all --disassemble-zeroes --disassembler-options= "
        "--dynamic-reloc --dynamic-syms --file-headers --full-contents --headers --info --line-numbers "
        "--no-addresses --no-show-raw-insn --prefix-addresses --private-headers --reloc --section= --section-headers "
        "--show-raw-insn --start-address= --stop-address= --syms --target= --visualize-jumps=? --wide "
        "--disassembler-color=",
        "paths",
        no_response_files,
        audit=_BINUTILS,
        needs_operand=True,
    ),
    "readelf": reader(
        "-a -A -c -C=? -d -D -e -g -h -I -l -n -p: -r -R: -s -S -t -u -V -W -x: -z --all --arch-specific "
        "--archive-index "
        "--decompress --demangle=? --dyn-syms --dynamic --file-header --headers --hex-dump= --histogram --notes "
        "--program-headers --relocated-dump= --relocs --section-details --section-groups --section-headers "
        "--sections "
        "--segments --string-dump= --symbols --syms --unwind --use-dynamic --version-info --wide",
        "paths",
        no_response_files,
        audit=_BINUTILS,
        needs_operand=True,
    ),
    "size": reader(
        "-A -B -G -d -o -x -t --common --format= --radix= --totals --target=",
        "paths",
        no_response_files,
        audit=_BINUTILS,
    ),
    "c++filt": reader(
        "-_ -i -n -p -r -t -s: --format= --no-verbose --types",
        "text",
        no_response_files,
        audit=_BINUTILS,
        shows="words",
    ),
    **{
        name: reader(_ZGREP, "pattern paths", _plain_words, audit=_SCRIPTS)
        for name in ("zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "zstdgrep", "lzgrep")
    },
    **{
        name: reader("-b -c -i -q -r -s -u -U: -w -y", "paths", _plain_words, audit=_SCRIPTS)
        for name in ("zdiff", "bzdiff", "xzdiff", "zcmp", "bzcmp", "xzcmp")
    },
    "lzcat": reader(""),
    "lz4cat": reader(""),
}
