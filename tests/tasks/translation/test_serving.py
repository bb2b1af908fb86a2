"""A loaded translator is asked again and again, by several threads: right each time, and in flat memory."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import torch

import saccade
from saccade.runtime.prepared import PRECISIONS, Precision
from saccade.tasks.translation.model import Translator
from tests.tasks.translation.test_model import SOURCES, make

SENTENCES = sorted((source for source in SOURCES if source.strip()), key=len)[:3]


@pytest.fixture(autouse=True)
def _as_large_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small matrices are quantized and have shortlists, too."""
    monkeypatch.setattr("saccade.runtime.linear.MIN_QUANTIZED_WEIGHTS", 1)
    monkeypatch.setattr("saccade.runtime.shortlist.MIN_WEIGHTS", 1)


def loaded(model: str, folder: Path) -> Translator:
    make(model).save(folder)
    return saccade.load(folder, Translator)


def texts(translator: Translator, sentences: list[str], precision: Precision) -> list[str]:
    return [one.text for one in translator.translate(sentences, beam=1, precision=precision)]


@pytest.mark.parametrize(("model", "precision"), [("transformer", "float32"), ("rnn", "int8")])
def test_a_thousand_calls_in_flat_memory(model: str, precision: Precision, tmp_path: Path) -> None:
    translator = loaded(model, tmp_path)
    wanted = texts(translator, SENTENCES, precision)
    process = psutil.Process()

    def call(count: int) -> tuple[int, int]:
        for number in range(count):
            which = number % len(SENTENCES)
            assert texts(translator, [SENTENCES[which]], precision) == [wanted[which]]
        gc.collect()
        prepared = translator._prepared.of(translator.net, precision)
        return len(prepared), process.memory_info().rss

    made, memory = call(300)
    assert call(700)[0] == made
    assert process.memory_info().rss - memory < 4e6


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("model", ["rnn", "transformer"])
def test_eight_threads_at_once(model: str, precision: Precision, tmp_path: Path) -> None:
    translator = loaded(model, tmp_path)
    wanted = texts(alone(translator), SENTENCES, precision)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(texts, translator, [sentence], precision) for sentence in SENTENCES * 8]
        assert [job.result()[0] for job in jobs] == wanted * 8


def alone(translator: Translator) -> Translator:
    """The same translator with nothing prepared."""
    return Translator(translator.net, translator.vocabularies, translator.settings)


@pytest.mark.parametrize("model", ["rnn", "transformer"])
def test_what_was_derived_from_weights_does_not_outlive_them(model: str, tmp_path: Path) -> None:
    """A net that is loaded, used, and then trained on, is used as it is then."""
    translator = loaded(model, tmp_path)
    before = texts(translator, SENTENCES, "int8")
    translator.net.requires_grad_()
    optimizer = torch.optim.Adam(translator.net.parameters(), lr=0.5, fused=True)
    for parameter in translator.net.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    translator.net.requires_grad_(requires_grad=False)
    after = texts(translator, SENTENCES, "int8")
    assert after != before
    assert after == texts(alone(translator), SENTENCES, "int8")
