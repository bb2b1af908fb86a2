"""Small language models with random weights, of every kind."""

import torch

from saccade.base.settings import check_settings
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.text.vocabularies.running import RunningCharacters, RunningVocabulary, Utf8Bytes

CONTEXT = 8
_TRANSFORMER: dict[str, object] = {
    "kind": "transformer",
    "layers": 2,
    "dim": 8,
    "heads": 2,
    "feed_forward": 8,
    "max_length": CONTEXT,
}
_RNN: dict[str, object] = {"kind": "rnn", "embedding": 6, "dim": 8, "max_length": CONTEXT}
KINDS: dict[str, dict[str, object]] = {
    **{f"gpt {positions}": _TRANSFORMER | {"positions": positions} for positions in ("learned", "rotary", "none")},
    "gpt learned beside": _TRANSFORMER | {"positions": "learned", "positions_combine": "concatenate"},
    "gpt sinusoidal untied": _TRANSFORMER | {"positions": "sinusoidal", "tie_embeddings": "none"},
    **{cell: _RNN | {"cell": cell} for cell in ("elman", "gru", "lstm")},
    "rnn additive window": _RNN | {"score": "additive", "window": 3, "layers": 2},
    "rnn recurrent relu": _RNN | {"score": "location-recurrent", "score_activation": "relu", "layers": 2},
    "rnn location fed": _RNN | {"score": "location", "input_feeding": True},
    "rnn sparse tied": _RNN
    | {"score": "scaled-dot", "weighting": "sparse", "embedding": 8, "tie_embeddings": "output"},
}
LETTERS = "\n abcdefghij"


def small_model(name: str = "gpt learned", *, vocabulary: RunningVocabulary | None = None) -> LanguageModel:
    """The model of that name; its outputs are far from even, so that a wrong one shows."""
    torch.manual_seed(3)
    vocabulary = vocabulary or RunningCharacters(LETTERS)
    kind = "bytes" if isinstance(vocabulary, Utf8Bytes) else "characters"
    values = {"model": KINDS[name], "vocabulary": {"kind": kind}}
    model = LanguageModel.make(check_settings(LanguageModelSettings, values, where="here"), vocabulary)
    with torch.no_grad():
        for parameter in model.net.parameters():
            parameter.mul_(2.0 if parameter.dim() > 1 else 1.0)
    model.net.requires_grad_(requires_grad=False)
    return model
