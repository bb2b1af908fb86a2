"""Subwords, by sentencepiece."""

import io
import random
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import sentencepiece

from saccade.base.errors import InputError
from saccade.base.files import read_own
from saccade.text.vocabularies.bpe_dropout import DroppedMerges
from saccade.text.vocabularies.vocabulary import END, MASK, MOST_BYTES, PAD, START, UNKNOWN, Vocabulary, tidy

Made = TypeVar("Made")

LONGEST_KEPT = 64  # characters of a word that is remembered; longer ones would fill the memory
SPACE = "▁"  # how sentencepiece writes the beginning of a word


class Subwords(Vocabulary):
    """Pieces of words, learnt from text by byte-pair encoding (Sennrich 2016) or a unigram model (Kudo 2018)."""

    def __init__(self, model: bytes, *, lowercase: bool = False) -> None:
        super().__init__(lowercase=lowercase)
        self._model = model
        self._pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        # words come again and again, and pieces never cross a space, so a text is the sum of its words
        self._encode_known = lru_cache(maxsize=2**16)(self._pieces.encode)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copies, which cannot take what is remembered of words, nor need to."""
        return {"model": self._model, "lowercase": self.lowercase}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["model"], lowercase=state["lowercase"])

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        size: int,
        method: Literal["bpe", "unigram"] = "bpe",
        lowercase: bool = False,
        mask: bool = False,
    ) -> "Subwords":
        """`size` pieces, or as many as the texts have; with `mask`, the first one is `<mask>` at a word's beginning."""
        options = {"user_defined_symbols": [SPACE + MASK]} if mask else {}
        tidied = (tidy(text, lowercase=lowercase) for text in texts)
        return cls(learn_pieces(tidied, size=size, method=method, **options), lowercase=lowercase)

    @classmethod
    def load(cls, path: Path, *, lowercase: bool = False) -> "Subwords":
        return load_pieces(path, lambda model: cls(model, lowercase=lowercase))

    def content(self) -> bytes:
        return self._model

    def __len__(self) -> int:
        return self._pieces.get_piece_size()

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        return [(word, self._encode_word(word)) for word in self.tidy(text).split()]

    def _encode_word(self, word: str) -> list[int]:
        return self._encode_known(word) if len(word) <= LONGEST_KEPT else self._pieces.encode(word)

    def dropped_merges(self, *, rate: float, seed: int) -> DroppedMerges:
        """The same pieces, merged with failures; ids of its pieces by `piece_id`."""
        count = len(self)
        pieces = {self._pieces.id_to_piece(number): self._pieces.get_score(number) for number in range(END + 1, count)}
        return DroppedMerges(pieces, rate=rate, seed=seed)

    def sample(self, text: str, merges: DroppedMerges, rng: random.Random) -> list[int]:
        """The numbers of a text, `END` last, with its words cut by `merges`."""
        number = self._pieces.piece_to_id
        return [
            *(number(piece) for word in self.tidy(text).split() for piece in merges.cut(SPACE + word, rng)),
            END,
        ]

    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        words: list[list[int]] = []
        for number in ids:
            if not words or self._pieces.id_to_piece(number).startswith(SPACE):
                words.append([])
            words[-1].append(number)
        return [(self._pieces.decode(word), word) for word in words]

    def piece(self, number: int) -> str:
        return self._pieces.id_to_piece(number)

    def score(self, number: int) -> float:
        """How early a piece is merged, or how likely it is, as sentencepiece has it."""
        return self._pieces.get_score(number)

    def text(self, ids: list[int]) -> str:
        return self._pieces.decode(ids)


def learn_pieces(texts: Iterable[str], *, size: int, method: Literal["bpe", "unigram"], **options: Any) -> bytes:
    """The model that sentencepiece learns from texts, with our special numbers; the options are its own."""
    model = io.BytesIO()
    settings = {"max_sentence_length": 2**20, **options}
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type=method,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=START,
            eos_id=END,
            minloglevel=2,
            **settings,
        )
    except (RuntimeError, ValueError) as error:
        reason = str(error).rpartition("] ")[2]
        needed = re.search(r"required_chars\. \d+ vs (\d+)", reason)
        if needed:
            raise InputError(
                f"vocabulary.size: found {size}, wanted at least {needed[1]}, for so many letters and bytes stand by"
                " themselves"
            ) from None
        raise InputError(f"vocabulary: sentencepiece cannot learn {size} pieces from this text: {reason}") from None
    return model.getvalue()


def load_pieces(path: Path, make: Callable[[bytes], Made]) -> Made:
    """What is made of a file with such a model."""
    try:
        return make(read_own(path, most=MOST_BYTES))
    except RuntimeError:
        raise InputError(f"{path}: damaged, sentencepiece cannot read it; copy the model's folder again") from None
