"""Every module under everything that torch's users do with modules: it works, or is refused with a sentence.

`docs/torch.md` shows what comes of it as a table.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.transforms.cases import NAMES, make_case
from tests.transforms.ways import WAYS

_RECURRENT = [name for name in NAMES if "Rnn" in name or name in {"LineEncoder", "SequenceEncoder + PointerDecoder"}]
# Those that learn through a fast path which can be differentiated once; the others have none, or nothing that learns.
_ONCE = {
    *(
        f"Attention({name})"
        for name in (
            "cosine",
            "additive",
            "location",
            "general",
            "location-aware",
            "location-recurrent",
            "coverage",
            "mix",
            "static",
        )
    ),
    *("MultiHead", "MultiHead(additive)", "MultiHead(rotary)", "SelfAttention2d", "SmallCnn", "SetEncoder"),
    *("TransformerEncoder + Decoder", "Transformer(post, rotary)", "SequenceEncoder + PointerDecoder", "MemN2N"),
    *("RnnEncoder + RnnDecoder", "RnnDecoder(input feeding)", "RnnDecoder(LSTM)", "RnnDecoder(Luong)"),
    *("TransformerDecoder(no source)", "RnnDecoder(own past)"),
    *("TuringMachine", "TuringMachine(LSTM, clipped)"),
}

# What is refused, by whom it may be, and a part of the sentence.
REFUSED: dict[str, dict[str, str]] = {
    "compile, whole graph": dict.fromkeys(_RECURRENT, r"Dynamo does not support RNN, GRU, or LSTM"),
    "jvp": {"RecurrentAttention": r"forward AD with grid_sampler_2d that does not support it"},
    "second derivatives": dict.fromkeys(
        _ONCE, r"has no second derivative here; compute and differentiate within saccade\.runtime\.torch_only\(\)"
    ),
}


# with graph breaks there is nothing to see that the whole graph does not show
_PAIRS = [(way, name) for way in WAYS for name in (_RECURRENT if way == "compile" else NAMES)]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch._dynamo.reset()


@pytest.mark.parametrize(("way", "name"), _PAIRS)
def test_works_or_is_refused(way: str, name: str) -> None:
    torch.manual_seed(7)
    net, inputs, case = make_case(name)
    refused = REFUSED.get(way, {}).get(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own machinery, which is not on trial here
        if refused is None:
            WAYS[way](net, inputs, case)
        else:
            with pytest.raises(Exception, match=refused):
                WAYS[way](net, inputs, case)


def table() -> str:
    """What works, `+`, and what is refused, `-`, as Markdown."""
    rows = [[name, *("-" if name in REFUSED.get(way, {}) else "+" for way in WAYS)] for name in NAMES]
    lines = [["", *WAYS], ["---", *[":-:"] * len(WAYS)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def test_the_docs_show_the_table() -> None:
    assert all(set(names) <= set(NAMES) for names in REFUSED.values())
    page = (Path(__file__).parents[2] / "docs" / "torch.md").read_text(encoding="utf-8")
    assert table() in page, f"put this into docs/torch.md:\n{table()}"
