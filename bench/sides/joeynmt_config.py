"""The models of a race in the words of JoeyNMT's configuration."""

from typing import Any

from bench.sides.turns import DROPOUT, RNN, TRANSFORMER


def transformer() -> dict[str, Any]:
    part = {
        "type": "transformer",
        "num_layers": TRANSFORMER["layers"],
        "num_heads": TRANSFORMER["heads"],
        "embeddings": {"embedding_dim": TRANSFORMER["dim"], "scale": True},
        "hidden_size": TRANSFORMER["dim"],
        "ff_size": TRANSFORMER["feed_forward"],
        "dropout": DROPOUT,
        "layer_norm": "pre",
    }
    return {"tied_embeddings": True, "tied_softmax": True, "encoder": part, "decoder": part}


def rnn() -> dict[str, Any]:
    part = {"rnn_type": "gru", "embeddings": {"embedding_dim": RNN["embedding"]}, "dropout": DROPOUT, "num_layers": 1}
    encoder = {**part, "type": "recurrent", "hidden_size": RNN["dim"] // 2, "bidirectional": True}
    decoder = {**part, "type": "recurrent", "hidden_size": RNN["dim"], "attention": "bahdanau", "input_feeding": True}
    return {"encoder": encoder, "decoder": {**decoder, "hidden_dropout": DROPOUT, "init_hidden": "bridge"}}
