"""Small text classifiers with random weights, of every kind."""

import torch

from saccade.base.settings import check_settings
from saccade.tasks.text_classification.model import TextClassifier
from saccade.tasks.text_classification.settings import TextClassifierSettings
from saccade.text.vocabularies.running import RunningWords

MAX_LENGTH = 12
_RNN: dict[str, object] = {"kind": "rnn", "embedding": 6, "dim": 10, "max_length": MAX_LENGTH}
_TRANSFORMER: dict[str, object] = {
    "kind": "transformer",
    "layers": 2,
    "dim": 12,
    "heads": 3,
    "feed_forward": 14,
    "max_length": MAX_LENGTH,
}
_CNN: dict[str, object] = {"kind": "cnn", "embedding": 6, "filters": 5, "max_length": MAX_LENGTH}
KINDS: dict[str, dict[str, object]] = {
    **{f"lstm {pooling}": _RNN | {"pooling": pooling} for pooling in ("attention", "max", "mean", "last")},
    "gru looks back": _RNN | {"cell": "gru", "score": "additive", "layers": 2, "pooling_score": "dot"},
    "elman fed": _RNN | {"cell": "elman", "score": "dot", "input_feeding": True, "pooling_score": "cosine"},
    "transformer": _TRANSFORMER,
    "transformer rotary last": _TRANSFORMER | {"positions": "rotary", "pooling": "last"},
    "transformer both ways": _TRANSFORMER | {"causal": False, "pooling": "mean"},
    "transformer both ways post": _TRANSFORMER | {"causal": False, "norm": "post", "pooling_score": "general"},
    "cnn": _CNN,
    "cnn wide": _CNN | {"widths": [1, 2, 7]},
}
WORDS = (" a", " b", " c", " d", " e", " not")
LABELS = ("one", "two", "three")


def small_model(name: str = "lstm attention") -> TextClassifier:
    """The model of that name; its outputs are far from even, so that a wrong one shows."""
    torch.manual_seed(3)
    values = {"model": KINDS[name], "vocabulary": {"kind": "words"}, "labels": list(LABELS)}
    settings = check_settings(TextClassifierSettings, values, where="here")
    model = TextClassifier.make(settings, RunningWords(WORDS))
    with torch.no_grad():
        for parameter in model.net.parameters():
            parameter.mul_(2.0 if parameter.dim() > 1 else 1.0)
    model.net.requires_grad_(requires_grad=False)
    return model
