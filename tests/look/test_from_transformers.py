"""Maps of Hugging Face's models, beside what the same models say of their attention. Weights are random."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.look import Grid, from_transformers

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

TEXT, TARGET = "the striped cats were sleeping", "die getigerten katzen schliefen"
SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]
SMALL = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 17}
# what models that read and write are called by in transformers
BOTH = {
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 17,
    "decoder_ffn_dim": 17,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "forced_eos_token_id": 3,
    "max_length": 12,
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A real one, of few pieces, so that words are cut."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = tokenizers.decoders.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=45, special_tokens=SPECIAL, unk_token=SPECIAL[1])
    made.train_from_iterator([TEXT, TARGET] * 20, trainer)
    made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 3)])
    names = dict(zip(("pad_token", "unk_token", "bos_token", "eos_token"), SPECIAL, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names)


def make(name: str, tokenizer: Any) -> Any:
    """A model with random weights."""
    torch.manual_seed(1)
    size = {"vocab_size": len(tokenizer)}
    t5 = {"d_model": 24, "d_kv": 8, "d_ff": 17, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0}
    vit = transformers.ViTConfig(image_size=32, patch_size=8, **SMALL)
    gpt2 = {"n_embd": 24, "n_layer": 2, "n_head": 3, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    makers: dict[str, Callable[[], Any]] = {
        "bert": lambda: transformers.BertModel(transformers.BertConfig(**size, **SMALL)),
        "distilbert": lambda: transformers.DistilBertModel(
            transformers.DistilBertConfig(**size, dim=24, n_layers=2, n_heads=3, hidden_dim=17)
        ),
        "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**size, **gpt2)),
        "llama": lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                **size, **SMALL | {"num_attention_heads": 4}, num_key_value_heads=2, eos_token_id=3
            )
        ),
        "marian": lambda: transformers.MarianMTModel(transformers.MarianConfig(**size, **BOTH)),
        "bart": lambda: transformers.BartForConditionalGeneration(transformers.BartConfig(**size, **BOTH)),
        "t5": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(**size, **t5)),
        "vit": lambda: transformers.ViTModel(vit),
        "vit-gpt2": lambda: transformers.VisionEncoderDecoderModel(
            encoder=transformers.ViTModel(vit),
            decoder=transformers.GPT2LMHeadModel(transformers.GPT2Config(**size, **gpt2, add_cross_attention=True)),
        ),
    }
    return makers[name]().eval()


def pieces_alone(maps: list[Any]) -> list[np.ndarray]:
    return [one.weights for one in maps]


def as_arrays(*groups: Any) -> list[np.ndarray]:
    return [torch.cat(list(group)).detach().numpy() for group in groups]


@pytest.mark.parametrize("name", ["bert", "distilbert", "gpt2", "llama"])
def test_models_of_one_text(name: str, tokenizer: Any) -> None:
    model = make(name, tokenizer)
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    before = model(input_ids=ids)[0]
    (found,) = from_transformers(model, tokenizer, TEXT, words=False)
    assert found.kind == ("decoder" if name in {"gpt2", "llama"} else "encoder")
    assert model.config._attn_implementation == "sdpa"
    assert torch.equal(model(input_ids=ids)[0], before)
    model.set_attn_implementation("eager")
    (wanted,) = as_arrays(model(input_ids=ids, output_attentions=True).attentions)
    np.testing.assert_allclose(found.weights, wanted, atol=1e-6)
    assert len(found.rows) == ids.shape[1]


@pytest.mark.parametrize("beams", [1, 4])
@pytest.mark.parametrize("name", ["marian", "bart", "t5"])
def test_models_that_read_and_write(name: str, beams: int, tokenizer: Any) -> None:
    model = make(name, tokenizer)
    found = from_transformers(model, tokenizer, TEXT, words=False, num_beams=beams, max_new_tokens=7, do_sample=False)
    inputs = tokenizer(TEXT, return_tensors="pt")
    written = model.generate(**inputs, num_beams=beams, max_new_tokens=7, do_sample=False)
    model.set_attn_implementation("eager")
    output = model(**inputs, decoder_input_ids=written[:, :-1], output_attentions=True)
    wanted = as_arrays(output.cross_attentions, output.encoder_attentions, output.decoder_attentions)
    assert [one.kind for one in found] == ["cross", "encoder", "decoder"]
    for one, array in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.weights, array, atol=1e-6)
    assert len(found[0].rows) == written.shape[1] - 1


def test_a_target_is_read_as_it_is(tokenizer: Any) -> None:
    model = make("marian", tokenizer)
    cross, _, decoder = from_transformers(model, tokenizer, TEXT, TARGET)
    assert list(cross.rows) == [*TARGET.split(), "</s>"]
    assert list(cross.column_labels) == [*TEXT.split(), "</s>"]
    assert list(decoder.column_labels) == ["<pad>", *TARGET.split()]
    np.testing.assert_allclose(cross.weights.sum(-1), 1, atol=1e-5)
    pieces = from_transformers(model, tokenizer, TEXT, TARGET, words=False)[0]
    assert len(pieces.rows) > len(cross.rows)  # there was something to merge
    first = sum(1 for _ in tokenizer.tokenize(TEXT.split(maxsplit=1)[0]))
    np.testing.assert_allclose(cross.weights[..., -1, 0], pieces.weights[..., -1, :first].sum(-1), atol=1e-6)


def test_what_a_language_model_writes_on(tokenizer: Any) -> None:
    model = make("gpt2", tokenizer)
    (found,) = from_transformers(model, tokenizer, "the cats", max_new_tokens=5, do_sample=False, words=False)
    read = tokenizer("the cats", return_tensors="pt")["input_ids"].shape[1]
    assert read < len(found.rows) <= read + 5
    assert not np.triu(found.weights, 1).any()


def test_images(tokenizer: Any, tmp_path: Path) -> None:
    processor = transformers.ViTImageProcessorPil(size={"height": 32, "width": 32})
    image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8))
    image.save(tmp_path / "image.png")
    model = make("vit", tokenizer)
    (found,) = from_transformers(model, processor, tmp_path / "image.png")
    assert isinstance(found.columns, Grid)
    assert (found.columns.height, found.columns.width) == (4, 4)
    assert found.rows[:2] == ("[CLS]", "row 1, column 1")
    assert found.weights.shape == (2, 3, 17, 16)
    assert (found.weights.sum(-1) < 1).all()  # without what the places gave to [CLS]

    both = make("vit-gpt2", tokenizer)
    both.config.decoder_start_token_id, both.config.pad_token_id = 2, 0
    both.generation_config.decoder_start_token_id, both.generation_config.pad_token_id = 2, 0
    parts = type("Processor", (), {"tokenizer": tokenizer, "image_processor": processor})()
    maps = from_transformers(both, parts, image, max_new_tokens=4, do_sample=False)
    assert [one.kind for one in maps] == ["cross", "encoder", "decoder"]
    assert isinstance(maps[0].columns, Grid)
    assert maps[0].columns.image is not None
    assert both.config._attn_implementation == "sdpa"


def test_what_cannot_be_looked_at_says_so(tokenizer: Any) -> None:
    bert = make("bert", tokenizer)
    for arguments, says in {
        (torch.nn.Linear(2, 2), tokenizer, TEXT): "wanted a model of transformers",
        (bert, tokenizer, "  "): "found nothing",
        (bert, tokenizer, TEXT, TARGET): "writes nothing",
        (bert, tokenizer, 7): "found int",
    }.items():
        with pytest.raises(InputError, match=says):
            from_transformers(*arguments)
    long = make("gpt2", tokenizer)
    long.config.n_positions = 30_000
    with pytest.raises(InputError, match="take a shorter text"):
        from_transformers(long, tokenizer, "cats " * 9_000)


def test_folders_by_the_command(tokenizer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("marian", "gpt2"):
        make(name, tokenizer).save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    marian, gpt2 = str(tmp_path / "marian"), str(tmp_path / "gpt2")
    capsys.readouterr()
    assert main(["look", "--hf", marian, TEXT, "--target", TARGET, "--json", "--layer", "2"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["rows"] == [*TARGET.split(), "</s>"]
    assert main(["look", "--hf", marian, TEXT, "--beam", "2", "--tokens", "5", "--html", str(tmp_path / "a.html")]) == 0
    assert "striped" in (tmp_path / "a.html").read_text()
    capsys.readouterr()
    assert main(["look", "--hf", gpt2, TEXT]) == 0
    assert "sleeping" in capsys.readouterr().out
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text('{"architectures": ["NoSuchModel"]}')
    for arguments, says in {
        ("--hf", str(tmp_path), TEXT): "no config.json there",
        ("--hf", str(tmp_path / "other"), TEXT): "names no model that transformers has",
        ("--hf", marian): "wanted one text",
        ("--hf", marian, TEXT, "--surprise"): "--surprise: it is not for models of transformers",
        (marian, TEXT): "no config.yaml",
    }.items():
        assert main(["look", *arguments]) == 2
        assert says in capsys.readouterr().err
