"""Readers of packed files, certificates, documents and package lists, and programs that tell about themselves."""

import re

from clew.permissions.shell.programs.program import Program, reader
from clew.permissions.shell.programs.spec import Parsed, Spec
from clew.permissions.shell.programs.tables.objects import no_response_files

_PACKED = "Unpacks its operands to its output, lists or tests them. Without such a flag it replaces them, so it asks."
_DATABASE = "Reads the package database of the machine; verbs and flags that change it or ask the network are left out."
_TELLS = "It tells its version or its help and ends before it reads any file of the project."
_LONG = ("--version", "--help")
_TO_OUTPUT = frozenset({"-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"})
_KIND = re.compile(r"[a-z][a-z-]*")
_PROPERTY = re.compile(r"(?!Environment|Exec|.*Credential)[A-Za-z]+(?:,(?!Environment|Exec|.*Credential)[A-Za-z]+)*")


def _to_output(parsed: Parsed) -> str:
    return "" if parsed.flags.keys() & _TO_OUTPUT else "this replaces the file"


def _needs(*flags: str):
    def check(parsed: Parsed) -> str:
        return "" if parsed.flags.keys() & set(flags) else f"without {flags[0]} it may change something"

    return check


def _archive_first(parsed: Parsed) -> str:
    """A list of names is read from a file that is named with @; names of members are no paths."""
    words = [word.text for word in parsed.operands]
    return "" if words and not any(word.startswith(("@", "-")) for word in words) else "only plain names are listed"


def _to_stdout_last(parsed: Parsed) -> str:
    words = [word.text for word in parsed.operands]
    return "" if len(words) == 2 and words[1] == "-" else "without - it writes a file"


def _first_in(*verbs: str):
    def check(parsed: Parsed) -> str:
        first = parsed.operands[0].text if parsed.operands else ""
        return "" if first in verbs else f"{first or 'this form'} may change something"

    return check


def _local_files(parsed: Parsed) -> str:
    return "this may be fetched from the network" if any("//" in word.text for word in parsed.operands) else ""


def _kinds(parsed: Parsed) -> str:
    """`--print kind=file` writes a file."""
    kinds = parsed.flags.get("--print", [])
    return "" if all(map(_KIND.fullmatch, kinds)) else "this may write a file"


_ARCHIVE = Spec("-slt -ba -bd -r", "paths", _archive_first)
_SEVEN = Program(audit="Lists and tests archives; other verbs write.", subcommands={"l": _ARCHIVE, "t": _ARCHIVE})
_AR = Spec("", "paths", no_response_files, needs_operand=True)
_UNPACK = "-c -d -k -l -t -v -q -z -f --stdout --to-stdout --decompress --uncompress --list --test --keep --verbose"

PROGRAMS: dict[str, Program] = {
    "xz": reader(f"{_UNPACK} --quiet --robot -T: --threads=", "paths", _to_output, audit=_PACKED, needs_operand=True),
    "lzma": reader(_UNPACK, "paths", _to_output, audit=_PACKED, needs_operand=True),
    "bzip2": reader(
        "-c -d -k -t -v -q --stdout --decompress --test --keep", "paths", _to_output, audit=_PACKED, needs_operand=True
    ),
    "zstd": reader(
        "-c -d -k -l -t -v -q --stdout --decompress --uncompress --list --test --keep --verbose --quiet",
        "paths",
        _to_output,
        audit=_PACKED,
        needs_operand=True,
    ),
    **dict.fromkeys(("7z", "7za", "7zr", "7zz"), _SEVEN),
    "ar": Program(
        audit="Lists an archive of object files. A word that begins with @ names a file of further words.",
        subcommands=dict.fromkeys(("t", "tv", "-t", "-tv", "tO"), _AR),
    ),
    "bsdtar": reader(
        "-t -f@ -v -z -j -J --list --file=@ --verbose",
        "text",
        _needs("-t", "--list"),
        audit="Lists an archive; other modes write files.",
    ),
    "atq": reader("-V -q:", "none", shows="words"),
    "xmllint": reader(
        "--format --noout --nonet --xpath= --pretty= --noblanks --encode= --nocdata --html --recover",
        "paths",
        _local_files,
        audit="Parses its operands. What loads definitions, entities or inclusions from elsewhere is left out.",
        needs_operand=True,
    ),
    "pdfinfo": reader("-f: -l: -box -meta -isodates -rawdates -dests", "path", needs_operand=True),
    "pdftotext": reader(
        "-f: -l: -r: -layout -raw -nopgbrk -enc: -q -x: -y: -W: -H:",
        "paths",
        _to_stdout_last,
        audit="Writes the text to its output where the second operand is -, else to a file.",
    ),
    "gofmt": reader(
        "-l -d -s -e", "paths", audit="Reads Go files; -w, which writes them, is out.", walks="*", needs_operand=True
    ),
    "ssh-keygen": reader(
        "-l -v -E: -f@",
        "none",
        _needs("-l"),
        audit="With -l it shows a fingerprint; everything else makes or changes keys.",
        shows="words",
    ),
    "openssl": Program(
        audit="Shows certificates in the files that are named. Flags that write, sign, or load engines and "
        "providers are left out.",
        version=("version",),
        subcommands={
            "version": Spec("-a -v -b -d -o -f -p", "none"),
            "x509": Spec(
                "-in@ -noout -text -dates -subject -issuer -fingerprint -serial -enddate -startdate -email -purpose "
                "-pubkey -modulus -hash -sha256 -sha1 -inform: -nameopt: -checkend: -ext:",
                "none",
                _needs("-in"),
            ),
            "ciphers": Spec("-v -V -s -tls1_2 -tls1_3", "text"),
        },
    ),
    "apt-mark": reader("", "text", _first_in("showmanual", "showauto", "showhold"), audit=_DATABASE, shows="words"),
    "pacman": reader(
        "-Q -i -l -e -m -n -d -t -o -q -s -c -k", "text", _needs("-Q"), audit=_DATABASE, shows="words"
    ),
    "snap": Program(audit=_DATABASE, version=("--version", "version"), subcommands={"list": Spec("--all", "text")}),
    "flatpak": Program(
        audit=_DATABASE,
        version=("--version",),
        subcommands={"list": Spec("-d --app --runtime --columns= --user --system --all -a", "none")},
    ),
    "brew": Program(
        audit=_DATABASE,
        version=("--version", "-v", "--prefix", "--cellar", "--cache", "--repository"),
        subcommands={
            "list": Spec("-1 -l -r -t --versions --formula --formulae --cask --casks --full-name --pinned", "text"),
            "--prefix": Spec("", "text"),
        },
    ),
    "conda": Program(
        audit=f"{_DATABASE} Python hosts it, so that interpreter's path must hold nothing of the workspace.",
        version=("--version", "-V", "--help", "-h"),
        hosted=True,
        subcommands={
            "list": Spec("-n: -e -f --name= --json --export --explicit --full-name", "text"),
            "info": Spec("-e --envs --json", "none"),
            "env": Spec("--json", "text", _first_in("list")),
        },
    ),
    **{
        name: Program(
            audit=f"{_TELLS} Python hosts it.", version=_LONG, hosted=True, runs_project=True, offers=("*",)
        )
        for name in ("black",)
    },
    "modinfo": reader("-F: -n -p -a -d -l --field= --filename --parameters --author --description --license", "text",
                      shows="words", audit="Reads a module of the kernel."),
    "sensors": reader("-u -f -j -A", "text", shows="words", audit="Reads sensors; flags that set are left out."),
    "nvidia-smi": reader(
        "-L -q -i: -d: --query-gpu= --query-compute-apps= --format= --list-gpus --query --id= --display=",
        "none",
        shows="words",
        audit="Asks the driver; flags that set, repeat or write a file are left out.",
    ),
    "resolvectl": reader("--no-pager", "text", _first_in("status"), shows="words", audit="Asks the local resolver."),
    **{
        name: Program(audit=_TELLS, version=versions)
        for name, versions in {
            "hadolint": ("--version", "--help", "-v"), "gdb": ("--version",), "perf": ("--version",),
            "ffmpeg": ("-version", "--version", "-formats", "-codecs", "-encoders", "-filters"),
        }.items()
    },
}  # fmt: skip


def shown_properties(parsed: Parsed) -> str:
    """Of a service all but what may hold a secret: its environment, its command lines, its credentials."""
    given = [*parsed.flags.get("-p", ()), *parsed.flags.get("--property", ())]
    return "" if given and all(map(_PROPERTY.fullmatch, given)) else "this may show the environment of a service"


RUSTC = Spec("-v -V -vV --print= --explain=", "none", _kinds)
