"""Attention maps of Hugging Face's models, in words: encoders, decoders, both together, and those that see images.

Nothing is imported for it: the model and its tokenizer are the user's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError
from saccade.look.maps import MOST_CELLS, AttentionMap, Grid, Kind
from saccade.look.subwords import Marks, group_pieces
from saccade.text import merge_to_words
from saccade.vision import picture_for_pages

_MARKS: dict[Marks, Callable[[str], bool]] = {
    "sentencepiece": lambda piece: piece.startswith("▁"),
    "gpt2": lambda piece: piece.startswith("Ġ"),
    "wordpiece": lambda piece: piece.startswith("##"),
    "bpe": lambda piece: piece.endswith("@@"),
}


def from_transformers(
    model: Any, tokenizer: Any, text: Any, target: str | None = None, *, words: bool = True, **generate: Any
) -> list[AttentionMap]:
    """The maps of every layer and head of a model of Hugging Face's `transformers`, for one text or one image.

    tokenizer  the model's own; for an image, its image processor, or a processor that has both
    text       a text, or an image: a file, its bytes, or a PIL image
    target     what the decoder is to write; without it, what it writes by itself
    words      merge the pieces of words: what is looked at is summed, what looks is averaged
    generate   how it writes, for `model.generate`: num_beams=4, max_new_tokens=30

    Cross, encoder and decoder maps of an encoder-decoder (Marian, T5, BART); one decoder map of a language model (GPT),
    of the text with what it writes on, if `generate` has anything; one encoder map of an encoder (BERT, ViT). Weights
    are those of the whole sentence in one pass, with eager attention, which is switched on for it and back.
    """
    inputs, picture = _read(tokenizer, text)
    read = _Pieces(getattr(tokenizer, "tokenizer", tokenizer), words=words)
    with eager(model), torch.no_grad():
        if getattr(model.config, "is_encoder_decoder", False):
            written, previous = _written(model, read.tokenizer, inputs, target, generate)
            output = model(**inputs, decoder_input_ids=previous, output_attentions=True)
            sides = _source_side(model, inputs, read, picture, output.encoder_attentions)
            rows, columns = read.labelled(written), read.labelled(previous[0])
            return [
                _as_map("cross", output.cross_attentions, rows, sides),
                _as_map("encoder", output.encoder_attentions, sides, sides),
                _as_map("decoder", output.decoder_attentions, rows, columns),
            ]
        if "input_ids" in inputs and model.can_generate():
            ids = inputs["input_ids"]
            if target is not None:
                ids = read.tokenizer(text + target, return_tensors="pt")["input_ids"]
            elif generate:
                ids = model.generate(**inputs, **generate)
            _expect_room(model, ids.shape[1], ids.shape[1])
            attentions = model(input_ids=ids, output_attentions=True).attentions
            side = read.labelled(ids[0])
            return [_as_map("decoder", attentions, side, side)]
        if target is not None:
            raise InputError("target: found one, but this model writes nothing; leave it out")
        attentions = model(**inputs, output_attentions=True).attentions
        side = _source_side(model, inputs, read, picture, attentions)
        return [_as_map("encoder", attentions, side, side)]


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """While it lasts, the model computes attention by plain products, which have weights to show."""
    if not (hasattr(model, "set_attn_implementation") and hasattr(model, "config")):
        raise InputError(
            f"model: found {type(model).__name__}, wanted a model of transformers; of any other module, from_module"
            " gives the maps"
        )
    configs = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}.values()
    # the name is private, and the only one that they have for it
    before = [(one, one._attn_implementation) for one in configs]  # noqa: SLF001
    training = model.training
    model.eval()
    model.set_attn_implementation("eager")
    for one in configs:  # the parts of a model of two may have settings of their own
        one._attn_implementation = "eager"  # noqa: SLF001
    try:
        yield
    finally:
        for one, kind in before:
            one._attn_implementation = kind  # noqa: SLF001
        model.train(training)


class Side:
    """What looks, or is looked at: its labels, and which label each of the model's positions belongs to."""

    def __init__(self, labels: Sequence[str] | Grid, label_of: list[int], *, skipped: Sequence[str] = ()) -> None:
        """Skipped  labels of positions before those of a grid, such as [CLS], which are no regions of the image"""
        self.labels, self.label_of, self.skipped = labels, label_of, skipped

    @property
    def as_rows(self) -> list[str]:
        labels = self.labels.labels() if isinstance(self.labels, Grid) else self.labels
        return [*self.skipped, *labels]


class _Pieces:
    """A tokenizer's pieces, and the words that they make up."""

    def __init__(self, tokenizer: Any, *, words: bool) -> None:
        self.tokenizer, self._words = tokenizer, words
        self._marks: Marks | None = None

    def labelled(self, ids: Tensor) -> Side:
        """The labels of tokens `[T]`."""
        pieces = [str(piece) for piece in self.tokenizer.convert_ids_to_tokens(ids.tolist())]
        special = set(self.tokenizer.all_special_tokens)
        marks = self._marks_of_vocabulary() if self._words else None
        word_of = list(range(len(pieces))) if marks is None else group_pieces(pieces, marks)[1]
        groups: list[list[str]] = [[] for _ in range(max(word_of) + 1)]
        for piece, word in zip(pieces, word_of, strict=True):
            groups[word].append(piece)
        return Side([self._text(group, special) for group in groups], word_of)

    def _text(self, pieces: list[str], special: set[str]) -> str:
        if len(pieces) == 1 and pieces[0] in special:
            return pieces[0]
        return self.tokenizer.convert_tokens_to_string(pieces).strip() or "".join(pieces)

    def _marks_of_vocabulary(self) -> Marks | None:
        """How the tokenizer marks what begins a word, or goes on; None where it does not."""
        if self._marks is None:
            vocabulary = list(self.tokenizer.get_vocab())
            counts = {marks: sum(map(marked, vocabulary)) for marks, marked in _MARKS.items()}
            best = max(get_args(Marks), key=lambda marks: counts[marks])
            self._marks = best if counts[best] else None
        return self._marks


def _read(tokenizer: Any, text: Any) -> tuple[dict[str, Any], bytes | None]:
    """What the model is called with; and of an image, the picture for people."""
    if isinstance(text, str) and not _is_image_only(tokenizer):
        if not text.strip():
            raise InputError("text: found nothing, wanted a text")
        return dict(tokenizer(text, return_tensors="pt")), None
    from io import BytesIO  # noqa: PLC0415

    from PIL import Image  # noqa: PLC0415 - for images alone

    if isinstance(text, Image.Image):
        file = BytesIO()
        text.convert("RGB").save(file, "PNG")
        text = file.getvalue()
    if not isinstance(text, str | Path | bytes):
        raise InputError(f"text: found {type(text).__name__}, wanted a text, or an image: a file, its bytes, or PIL's")
    picture = picture_for_pages(text)
    image = Image.open(BytesIO(picture)).convert("RGB")
    processor = getattr(tokenizer, "image_processor", tokenizer)
    return dict(processor(images=image, return_tensors="pt")), picture


def _is_image_only(tokenizer: Any) -> bool:
    return not hasattr(tokenizer, "convert_ids_to_tokens") and not hasattr(tokenizer, "tokenizer")


def _written(
    model: Any, tokenizer: Any, inputs: Mapping[str, Any], target: str | None, generate: Mapping[str, Any]
) -> tuple[Tensor, Tensor]:
    """What the decoder writes `[T]`, and what it read before each token `[1, T]`."""
    if target is None:
        ids = model.generate(**inputs, **generate)[:1]
        return ids[0, 1:], ids[:, :-1]
    labels = tokenizer(text_target=target, return_tensors="pt")["input_ids"]
    start = model.config.decoder_start_token_id
    if start is None:
        raise InputError("target: the model's config has no decoder_start_token_id; set it")
    return labels[0], torch.cat([labels.new_full((1, 1), start), labels[:, :-1]], dim=1)


def _source_side(
    model: Any, inputs: Mapping[str, Any], read: _Pieces, picture: bytes | None, attentions: Sequence[Tensor] | None
) -> Side:
    """The labels of what an encoder reads: words, or the regions of an image."""
    if "input_ids" in inputs:
        return read.labelled(inputs["input_ids"][0])
    positions = _expect_weights(attentions)[0].shape[-1]
    config = getattr(model.config, "encoder", model.config)
    patch = getattr(config, "patch_size", None)
    if patch is None:
        raise InputError("text: this model sees its image in no patches of one size; its weights have no place on it")
    high, wide = (size // (patch if isinstance(patch, int) else patch[0]) for size in inputs["pixel_values"].shape[-2:])
    others = positions - high * wide
    if others < 0:
        raise InputError(f"text: found weights over {positions} positions, wanted at least {high} x {wide} patches")
    names = ["[CLS]", *(f"[{number}]" for number in range(2, others + 1))][:others]
    return Side(Grid(high, wide, picture), list(range(positions)), skipped=names)


def _expect_weights(attentions: Sequence[Tensor] | None) -> Sequence[Tensor]:
    if not attentions or any(layer is None for layer in attentions):
        raise InputError(
            "model: it gives no attention weights, though it was asked for them; its attention may be of a kind that"
            " has none, or computed by a kernel of its own"
        )
    if len({layer.shape for layer in attentions}) > 1 or attentions[0].dim() != 4 or len(attentions[0]) != 1:
        shapes = ", ".join(str(list(layer.shape)) for layer in attentions[:3])
        raise InputError(f"model: found weights of the shapes {shapes}, wanted [1, heads, rows, columns] in each layer")
    return attentions


def _as_map(kind: Kind, attentions: Sequence[Tensor] | None, rows: Side, columns: Side) -> AttentionMap:
    weights = np.stack([layer[0].float().cpu().numpy() for layer in _expect_weights(attentions)])  # [L, H, T, S]
    weights = _merged(weights, rows, columns)
    return AttentionMap(rows.as_rows, columns.labels, weights[..., len(columns.skipped) :], kind)


def _merged(weights: NDArray[np.float32], rows: Side, columns: Side) -> NDArray[np.float32]:
    """The weights of words, from those of their pieces."""
    if max(columns.label_of) + 1 == len(columns.label_of) and max(rows.label_of) + 1 == len(rows.label_of):
        return weights
    return merge_to_words(weights, rows.label_of, columns.label_of, words=max(columns.label_of) + 1)


def _expect_room(model: Any, rows: int, columns: int) -> None:
    """Weights that would not be drawn are not computed."""
    layers = getattr(model.config, "num_hidden_layers", 1)
    heads = getattr(model.config, "num_attention_heads", 1)
    if layers * heads * rows * columns > MOST_CELLS:
        raise InputError(
            f"text: {layers} layers of {heads} heads over {columns:,} tokens are more than {MOST_CELLS:,} weights;"
            " take a shorter text"
        )
