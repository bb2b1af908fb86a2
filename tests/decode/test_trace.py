"""The tree of hypotheses that a beam search leaves."""

import pytest
import torch

from saccade.decode import Branch, Trace, beam_search
from saccade.text import END, START
from tests.tasks.translation.test_model import SOURCES, make


def ids_of(branches: list[Branch], index: int | None) -> list[int]:
    ids: list[int] = []
    while index is not None:
        ids.insert(0, branches[index].token)
        index = branches[index].parent
    return ids


@pytest.mark.parametrize("model", ["rnn", "transformer"])
@pytest.mark.parametrize("beam", [1, 3])
def test_the_tree_holds_what_was_found_and_how_likely_it_was(model: str, beam: int) -> None:
    """Its ends are the hypotheses; and each branch has the log probability that the decoder gives it when forced."""
    net = make(model).net.eval()
    translator = make(model)
    sources = [translator.tokenize(text, "x").ids for text in SOURCES[:3]]
    lengths = torch.tensor([len(ids) for ids in sources])
    padded = torch.zeros(3, int(lengths.max()), dtype=torch.long)
    for row, ids in enumerate(sources):
        padded[row, : len(ids)] = torch.tensor(ids)
    with torch.inference_mode():
        encoded = net.encode(padded, lengths)
        trace = Trace()
        found = beam_search(net.decoder, encoded, beam=beam, best=beam, limits=[9, 7, 8], trace=trace)
        plain = beam_search(net.decoder, encoded, beam=beam, best=beam, limits=[9, 7, 8])
    assert found == plain  # being watched changes nothing
    for sentence, branches in enumerate(trace.branches):
        ended = [(ids_of(branches, index), branch) for index, branch in enumerate(branches) if branch.score is not None]
        assert all(branch.token == END for _, branch in ended)
        best = sorted(ended, key=lambda one: -(one[1].score or 0.0))[:beam]
        assert [ids for ids, _ in best] == [hypothesis.ids for hypothesis in found[sentence]]
        for index, branch in enumerate(branches[::5]):
            ids = ids_of(branches, 5 * index)
            previous = torch.tensor([[START, *ids[:-1]]])
            source = torch.tensor([sources[sentence]])
            with torch.inference_mode():
                decoder_output = net.decoder(net.encode(source, torch.tensor([source.shape[1]])), previous)
                log_probs = net.decoder.output(decoder_output.features[0]).log_softmax(-1)
            wanted = sum(float(log_probs[at, token]) for at, token in enumerate(ids))
            assert branch.log_prob == pytest.approx(wanted, abs=1e-3)


def test_a_translators_tree_has_pieces() -> None:
    translator = make("transformer")
    (found,) = translator.translate(SOURCES[:1], beam=3)
    tree = translator.search_tree(SOURCES[0], beam=3)
    ends = sorted((node for node in tree if node.score is not None), key=lambda node: -(node.score or 0.0))
    assert ends[0].score == pytest.approx(found.score, abs=1e-4)
    assert ends[0].piece == "</s>"
    pieces: list[str] = []
    index = ends[0].parent
    while index is not None:
        pieces.insert(0, tree[index].piece)
        index = tree[index].parent
    assert "".join(pieces).replace("▁", " ").strip() == found.text
    assert translator.search_tree(" ") == []
