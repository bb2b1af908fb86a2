"""What a language model writes, and what it says of a text."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.nets import previous_of
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.tasks.language_modeling.stream import TextStream
from saccade.text import END, START
from saccade.text.vocabularies.running import Utf8Bytes
from tests.tasks.language_modeling.makers import CONTEXT, KINDS, small_model

every_kind = pytest.mark.parametrize("name", list(KINDS))


@every_kind
def test_a_text_does_not_depend_on_what_is_written_beside_it(name: str) -> None:
    model, prompts = small_model(name), ["abc", "", "ab\nd", "abcdefghij abc", "jih"]
    together = model.generate(prompts, tokens=20, samples=3, seed=5)
    assert len({one.text for one in together}) > 1
    for prompt, found in zip(prompts, together, strict=True):
        (alone,) = model.generate([prompt], tokens=20, seed=5)
        assert (alone.prompt, alone.text) == (prompt, found.text)
        assert len(found.alternatives) == 2
        (longer,) = model.generate([prompt], tokens=25, seed=5)
        assert longer.tokens[: len(found.tokens)] == found.tokens
        (other,) = model.generate([prompt], tokens=20, samples=3, seed=6)
        texts = [{one.text, *(more.text for more in one.alternatives)} for one in (found, other)]
        assert texts[0] != texts[1]


@every_kind
def test_next_to_no_temperature_is_the_likeliest_token(name: str) -> None:
    model, prompts = small_model(name), ["ab", "", "jihgfedcba"]
    greedy = model.generate(prompts, tokens=20, temperature=0)
    for other in (
        model.generate(prompts, tokens=20, temperature=0.001, seed=3),
        model.generate(prompts, tokens=20, top_k=1),
        model.generate(prompts, tokens=20, top_p=1e-6),
    ):
        assert [one.tokens for one in other] == [one.tokens for one in greedy]


def test_the_likeliest_token_by_hand() -> None:
    model = small_model()
    (found,) = model.generate(["abc"], tokens=1, temperature=0)
    ids = torch.tensor([[START, *model.vocabulary.encode_ids("abc").tolist()]])
    with torch.no_grad():
        logits = model.net.eval().output(model.net(None, ids).features[0, -1])
    best = int(logits[END:].argmax()) + END
    assert found.tokens == [model.vocabulary.piece(best)]
    assert found.log_probs == pytest.approx([float(logits.log_softmax(-1)[best])], abs=1e-4)


@every_kind
def test_what_was_written_is_as_likely_as_it_is_scored(name: str) -> None:
    """Across windows that slide, and after prompts of any length."""
    model = small_model(name)
    for found in model.generate(["abc", "", "abcdefghijabcdefghij"], tokens=20, seed=1):
        if found.tokens[-1] == "</s>":
            continue
        (scored,) = model.score([found.prompt + found.text])
        written = scored.log_probs[len(found.prompt_tokens) :]
        np.testing.assert_allclose(written, found.log_probs, atol=1e-3)
        assert scored.tokens == [*found.prompt_tokens, *found.tokens]


@pytest.mark.parametrize("temperature", [0, 0.8])
@pytest.mark.parametrize("name", ["gpt learned", "lstm"])
def test_a_prompt_is_read_once(name: str, temperature: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model, read = small_model(name), list[int]()
    start, forward = type(model.net).start, type(model.net).forward

    def counted(net: Any, encoded: None, *, prefix: torch.Tensor, copies: int = 1) -> object:
        read.append(prefix.shape[1])
        return start(net, encoded, prefix=prefix, copies=copies)

    monkeypatch.setattr(type(model.net), "start", counted)
    monkeypatch.setattr(type(model.net), "forward", lambda *given, **named: read.append(-1) or forward(*given, **named))
    model.generate(["abcd"], tokens=2, temperature=temperature)
    assert read == [4]  # a start, and all but the last, which the first step reads
    read.clear()
    model.generate(["abcdef" * 50], tokens=2, temperature=temperature)
    assert len(read) <= 2  # of a long one as much as the window has, and once more where that slides
    assert all(0 < length <= CONTEXT for length in read)


def test_a_window_that_slides_is_noted() -> None:
    model = small_model()
    within, beyond = (model.generate(["abc"], tokens=tokens, temperature=0)[0] for tokens in (5, 6))
    assert within.note == ""
    if len(beyond.tokens) == 6:
        assert beyond.note == "of 9 tokens, the model looks back over at most 8; the window slid"
    (unknown,) = model.score(["abäö" * 3])
    assert unknown.note.startswith("6 of 12 tokens are not in the vocabulary; of 12 tokens")


def test_an_end_ends_the_text() -> None:
    model = small_model("gru")
    with torch.no_grad():
        model.net.output.bias[END] = 100.0
    (found,) = model.generate(["abc"], tokens=5)
    assert (found.text, found.tokens) == ("", ["</s>"])
    with torch.no_grad():
        model.net.output.bias[END] = -100.0
    (found,) = model.generate(["abc"], tokens=5)
    assert len(found.text) == len(found.tokens) == 5


def test_scores_of_a_text_add_up() -> None:
    model, text = small_model(), "abc\ndef abc"
    found, short = model.score([text, "a"])
    assert found.log_prob == pytest.approx(sum(found.log_probs), abs=1e-4)
    assert found.perplexity == pytest.approx(math.exp(-found.log_prob / 11), rel=1e-5)
    assert found.bits_per_character == pytest.approx(-found.log_prob / math.log(2) / 11, rel=1e-5)
    assert found.tokens == list(text)
    assert (short.tokens, len(short.log_probs)) == (["a"], 1)
    (apart,) = model.score([text], sliding=False)
    np.testing.assert_allclose(apart.log_probs[:CONTEXT], found.log_probs[:CONTEXT], atol=1e-5)
    assert not np.allclose(apart.log_probs[CONTEXT:], found.log_probs[CONTEXT:], atol=1e-3)


@pytest.mark.parametrize("name", ["gpt learned", "gpt rotary", "rnn additive window", "rnn location fed"])
def test_attention_is_that_of_the_net(name: str) -> None:
    model = small_model(name)
    (found,) = model.score(["abcdef"], attention=True)
    ids = torch.from_numpy(model.vocabulary.encode_ids("abcdef").astype(np.int64))[None]
    with torch.no_grad():
        wanted = model.net.eval()(None, previous_of(ids), need_weights=True).self_weights
    assert found.attention is not None
    width = wanted.shape[-1]
    np.testing.assert_allclose(found.attention[..., :width], wanted[0].numpy(), atol=1e-5)
    assert not found.attention[..., width:].any()
    (drawn,) = model.maps(found, name="text")
    assert (drawn.rows, drawn.columns) == (tuple("abcdef"), ("<s>", *"abcde"))
    assert drawn.kind == "decoder"
    (long,) = model.generate(["abcdef"], tokens=20, attention=True, seed=2)
    (drawn,) = model.maps(long)
    assert list(drawn.rows) == [*long.prompt_tokens, *long.tokens][-CONTEXT:]


def test_a_net_that_never_looks_has_no_map() -> None:
    model = small_model("lstm")
    (found,) = model.generate(["ab"], attention=True)
    assert found.attention is None
    assert model.maps(found) == []


@every_kind
def test_a_streamed_text_is_the_text(name: str) -> None:
    model = small_model(name)
    told: list[str] = []
    found = model.stream("abc", told.append, tokens=12, seed=4)
    assert "".join(told) == found.text
    assert len(told) > 2
    assert found == model.generate(["abc"], tokens=12, seed=4)[0]


def test_bytes_are_streamed_by_whole_characters() -> None:
    vocabulary = Utf8Bytes()
    stream, text = TextStream(vocabulary), "aé€😀b"
    told = [stream.add(number) for number in vocabulary.encode_ids(text).tolist()]
    assert [one for one in told if one] == list(text)
    broken = vocabulary.encode_ids("😀").tolist()[:2]
    assert "".join(stream.add(number) for number in [*broken, END]) == ""
    assert "\ufffd" in stream.rest()
    model = small_model(vocabulary=vocabulary)
    parts: list[str] = []
    found = model.stream("x", parts.append, tokens=40)
    assert "".join(parts) == found.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": 0}, "tokens: found 0, wanted 1 to 1000000"),
        ({"tokens": 2.5}, "tokens: found 2.5, wanted a whole number"),
        ({"temperature": 1e-9}, "temperature: found 1e-09, wanted 0, or 0.001 to 100"),
        ({"temperature": math.nan}, "temperature: found nan, wanted 0, or"),
        ({"top_k": 0}, "top_k: found 0, wanted at least 1"),
        ({"top_p": 0.0}, "top_p: found 0.0, wanted above 0"),
        ({"temperature": 0, "samples": 2}, "samples: found 2, wanted 1"),
        ({"beam": 2}, "beam: no such option; there are tokens, samples"),
    ],
)
def test_options_that_cannot_be(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError) as caught:
        small_model().generate(["a"], **options)  # pyright: ignore[reportArgumentType]
    assert message in str(caught.value)


def test_what_is_no_text_is_refused() -> None:
    model = small_model()
    with pytest.raises(InputError, match=r"^texts: found one text, wanted a list"):
        model.score("abc")
    with pytest.raises(InputError, match=r"^text 2: found nothing, wanted a text$"):
        model.score(["a", ""])
    with pytest.raises(InputError, match=r"^prompt 1: found half a character"):
        model.generate(["\ud800"])
    with pytest.raises(InputError, match=r"^prompts: found something that is not text"):
        model.generate([3])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"^samples: found 2, wanted 1: only one text can be shown"):
        model.stream("a", print, samples=2)


@pytest.mark.parametrize("name", ["gpt learned", "rnn additive window"])
def test_a_model_of_before_there_were_these_settings_is_what_it_was(name: str) -> None:
    model = small_model(name)
    values = model.settings.model_dump()
    for later in ("score_activation", "positions_combine"):
        values["model"].pop(later, None)
    before = LanguageModel.make(check_settings(LanguageModelSettings, values, where="before"), model.vocabulary)
    before.net.load_state_dict(model.net.state_dict())
    (found,), (wanted,) = (one.score(["a bad cage"]) for one in (before, model))
    assert found.log_probs == wanted.log_probs
