"""From the text in the prompt to what is asked of the engine: meaning, pastes unfolded, pictures read."""

from msgspec import Struct

from clew.composing.images import attach
from clew.composing.meaning import CommandLine, Meaning, MemoryLine, PromptWords, ShellLine, meaning_of
from clew.composing.pasted import Pastes
from clew.protocol.lookups.place import Remember
from clew.protocol.messages import Part
from clew.protocol.ops import Op, RunShell, SubmitPrompt


class TypedInput(Struct, frozen=True, kw_only=True):
    """One input that was sent off."""

    meaning: Meaning
    content: str | tuple[Part, ...]
    """For words: what to submit, pictures included."""
    text: str
    """As it stood in the prompt, pastes folded."""
    notes: tuple[str, ...] = ()


def understood(text: str, pastes: Pastes, project: str) -> TypedInput | None:
    """What this input is; None when it is empty. ImageProblem when a picture it names cannot be sent.

    What it means is said by what was typed: a folded paste is never a command, whatever it begins with.
    """
    meaning = meaning_of(text)
    whole = pastes.expand(text)
    match meaning:
        case None:
            return None
        case PromptWords(words):
            sent = pastes.expand(words)
            full = attach(words, project, sent=sent)
            return TypedInput(meaning=PromptWords(sent), content=full.content, text=text, notes=full.notes)
        case CommandLine():
            return TypedInput(meaning=CommandLine(whole), content=whole, text=text)
        case ShellLine(command):
            return TypedInput(meaning=ShellLine(pastes.expand(command)), content=whole, text=text)
        case MemoryLine(line):
            if "\n" in whole:
                return TypedInput(meaning=PromptWords(whole), content=whole, text=text)
            return TypedInput(meaning=MemoryLine(pastes.expand(line)), content=whole, text=text)


def lookup_of(typed: TypedInput) -> Remember | None:
    """The lookup that carries it out: a line for a memory file, whose answer names the file."""
    return Remember(line=typed.meaning.text) if isinstance(typed.meaning, MemoryLine) else None


def op_of(typed: TypedInput) -> Op | None:
    """The op that carries it out; commands have their own ways, and memory lines are looked up."""
    match typed.meaning:
        case PromptWords():
            return SubmitPrompt(content=typed.content)
        case ShellLine(command):
            return RunShell(command=command)
        case _:
            return None
