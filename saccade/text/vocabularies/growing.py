"""A vocabulary that another model has learnt: put where a training looks for its own, and grown by what it lacks."""

import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from saccade.base.errors import InputError
from saccade.base.files import make_folder, read_own, write_file
from saccade.text.vocabularies import VocabularySettings, learn_vocabulary, load_vocabulary_file
from saccade.text.vocabularies.listed import ListedVocabulary
from saccade.text.vocabularies.running import (
    RunningSubwords,
    RunningText,
    RunningVocabularySettings,
    learn_running_vocabulary,
    load_running_vocabulary,
)
from saccade.text.vocabularies.subwords import Subwords
from saccade.text.vocabularies.vocabulary import MOST_BYTES, SPECIAL, Vocabulary

LearntFrom = Iterable[str] | RunningText
_RUNNING = "text"  # the file of a vocabulary for running text, without its ending


def copy_vocabulary(path: Path, folder: Path, stem: str, *, kind: str) -> Path:
    """Put a vocabulary's file into `folder` under another name; one for running text then reads sentences."""
    if kind == "words" and path.stem == _RUNNING != stem:
        raise InputError(
            f"{path}: the words of a running text have their spaces with them, and those of a sentence have not; start"
            " from a model over characters or subwords"
        )
    make_folder(folder)
    content = read_own(path, most=MOST_BYTES)
    if path.suffix == ".model" and path.stem == _RUNNING != stem:
        content += _READS_SENTENCES
    copied = folder / f"{stem}{path.suffix}"
    write_file(copied, content)
    return copied


def grow_vocabulary(
    path: Path,
    settings: VocabularySettings | RunningVocabularySettings,
    learnt_from: LearntFrom,
    tell: Callable[[str], None],
) -> tuple[int, int]:
    """Add to a vocabulary's file what one that is learnt from these texts has, and it has not.

    Gives how many entries it had and has; the old ones keep their numbers.
    """
    if isinstance(settings, VocabularySettings):
        old = load_vocabulary_file(settings, path)
        fresh = learn_vocabulary(list(cast("Iterable[str]", learnt_from)), settings)
    else:
        old = load_running_vocabulary(settings, path.parent)
        fresh = learn_running_vocabulary(cast("RunningText", learnt_from), settings, tell)
    grown = grown_by(old, fresh)
    grown.save(path)
    return len(old), len(grown)


def grown_by(old: Vocabulary, fresh: Vocabulary) -> Vocabulary:
    """The old vocabulary with what only the fresh one has behind it.

    Subwords that are added have lower scores than all others, in their order: so of a text's merges (BPE), the old ones
    come first, and one in which no new piece can be made is cut as before.
    """
    if isinstance(old, ListedVocabulary) and isinstance(fresh, ListedVocabulary):
        known = set(old.entries)
        lacking = [entry for entry in fresh.entries if entry not in known]
        return cast("type[Any]", type(old))([*old.entries[len(SPECIAL) :], *lacking], lowercase=old.lowercase)
    if isinstance(old, Subwords | RunningSubwords) and isinstance(fresh, Subwords | RunningSubwords):
        known = set(old.pieces())
        pieces = fresh.pieces()[len(SPECIAL) :]
        lowest = min(old.score(number) for number in range(len(old)))
        content = old.content() + _as_pieces([piece for piece in pieces if piece not in known], below=lowest)
        return Subwords(content, lowercase=old.lowercase) if isinstance(old, Subwords) else RunningSubwords(content)
    return old  # of bytes, there are no others


def _as_pieces(pieces: Sequence[str], *, below: float) -> bytes:
    """Pieces to stand behind a sentencepiece model, as protobuf has it: messages one behind the other are one message.

    ModelProto.pieces is field 1, of messages with the text as field 1 and the score as field 2.
    """
    found: list[bytes] = []
    for rank, piece in enumerate(pieces, start=1):
        text = piece.encode()
        message = b"\x0a" + _length(text) + text + b"\x15" + struct.pack("<f", below - rank)
        found.append(b"\x0a" + _length(message) + message)
    return b"".join(found)


def _length(content: bytes) -> bytes:
    """As protobuf writes it: seven bits a byte, the lowest first."""
    rest, found = len(content), bytearray()
    while rest > 127:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found, rest])


# ModelProto.normalizer_spec (field 3) with add_dummy_prefix (3) and remove_extra_whitespaces (4): each word of a
# sentence begins as a word does within running text
_READS_SENTENCES = b"\x1a\x04\x18\x01\x20\x01"
