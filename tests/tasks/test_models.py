"""What is the same in all models, whatever their task: how they are asked, what they answer, how they are copied."""

import copy
import inspect
import io
import json
import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image

import saccade
from saccade.base.errors import InputError
from saccade.look import AttentionMap, map_record
from saccade.tasks import TASKS
from saccade.tasks.kind import AnyKind, all_kinds, kind_of
from saccade.tasks.model import Model
from saccade.tasks.output import Output
from saccade.training import Silent
from soak.tiny import COPYING, SUBWORDS, TINY, Tiny, training

# Other models of translation: a Transformer, with subwords, and one that copies.
OTHERS = {"subwords": SUBWORDS, "copying": COPYING}
CASES = {kind.name: kind for kind in all_kinds()} | dict.fromkeys(OTHERS, kind_of("translation", where="here"))


class Trained(NamedTuple):
    """A model that was trained for a moment, and what it is asked."""

    model: Model[Any, Any]
    inputs: Sequence[Any]
    method: Callable[..., Sequence[Output]]
    run: Path

    def ask(self, inputs: Sequence[Any] | None = None, **options: Any) -> Sequence[Output]:
        return self.method(self.model, self.inputs if inputs is None else inputs, **options)

    @property
    def looks(self) -> bool:
        """Whether it can be asked for its attention."""
        return "attention" in inspect.signature(self.method).parameters


def tiny_of(name: str, kind: AnyKind) -> Tiny:
    tiny = TINY[kind.name]
    return tiny._replace(recipe=OTHERS.get(name, tiny.recipe))


@pytest.fixture(scope="module", params=CASES)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    kind = CASES[request.param]
    tiny = tiny_of(request.param, kind)
    folder = tmp_path_factory.mktemp(request.param)
    _, recipe, *settings, _, run = training(tiny.recipe, folder)
    model = saccade.train(recipe, kind.model, run=run, settings=settings, reporter=Silent())
    assert type(model) is kind.model
    return Trained(model, tiny.inputs, tiny.ask, Path(run))


def test_every_task_has_a_smallest_model() -> None:
    assert sorted(TINY) == sorted(TASKS)


def assert_alike(found: Sequence[Output], wanted: Sequence[Output]) -> None:
    """Equal, up to the last digits of numbers: torch has more than one loop for an LSTM, and chooses by the memory."""
    for one, other in zip(found, wanted, strict=True):
        assert json_alike(one.as_json(), other.as_json()), (one, other)


def json_alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(json_alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(json_alike, one, other))
    return one == pytest.approx(other, rel=1e-4, abs=2e-4) if isinstance(one, float) else one == other


def test_the_words_of_all_methods_are_the_same(trained: Trained) -> None:
    """After the inputs, all is said by name; `batch`, `progress` and `attention` are the same everywhere."""
    _, inputs, *options = inspect.signature(trained.method).parameters.values()
    assert inputs.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = {one.name: one for one in options}
    assert {one.kind for one in options} <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    assert named["batch_size"].annotation is int
    assert named["batch_size"].default >= 1
    assert str(named["progress"].annotation) == "collections.abc.Callable[[int], None] | None"
    assert named["progress"].default is None
    if trained.looks:
        assert named["attention"].annotation is bool
        assert named["attention"].default is False


def test_no_output_depends_on_the_batch_and_progress_counts_inputs(trained: Trained) -> None:
    wanted = trained.ask()
    for batch_size in (1, 2, 100):
        told: list[int] = []
        assert_alike(trained.ask(batch_size=batch_size, progress=told.append), wanted)
        assert sum(told) == len(trained.inputs)
        assert len(told) == -(-len(trained.inputs) // batch_size)


@pytest.mark.parametrize("batch_size", [0, -3])
def test_a_batch_of_nothing_is_refused(batch_size: int, trained: Trained) -> None:
    with pytest.raises(InputError, match=rf"^batch_size: found {batch_size}, wanted at least 1$"):
        trained.ask(batch_size=batch_size)


def test_one_input_is_not_a_list_and_none_have_no_answers(trained: Trained) -> None:
    told: list[int] = []
    assert list(trained.ask([], progress=told.append)) == []
    assert told == []
    with pytest.raises(InputError, match=r"wanted"):
        trained.ask(trained.inputs[0])


def test_results_are_equal_for_equal_inputs_and_differ_for_others(trained: Trained) -> None:
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    first, again = trained.ask(**options), trained.ask(**options)
    assert list(first) == list(again)
    for number, one in enumerate(first):
        assert one != object()
        for other in first[number + 1 :]:
            assert one != other
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    assert first[0].attention is None or first[0] != trained.ask()[0]  # what was not asked for is not there


def test_results_print_in_a_short_line(trained: Trained) -> None:
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    for one in [*trained.ask(), *trained.ask(**options)]:
        assert re.fullmatch(rf"{type(one).__name__}\(\w+=.*\)", repr(one))
        assert len(repr(one)) < 200


def test_a_model_prints_in_a_short_line(trained: Trained) -> None:
    assert re.fullmatch(rf"{type(trained.model).__name__}\([\d,]+ parameters\)", repr(trained.model))


def test_a_model_says_which_format_it_has_and_another_one_is_refused(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "model" / "config.yaml"
    for written, remedy in ((2, "install a newer saccade"), (0, "train it anew with this saccade")):
        with monkeypatch.context() as other_saccade:
            other_saccade.setattr("saccade.base.model_folder.FORMAT", written)
            trained.model.save(tmp_path / "model")
        with pytest.raises(InputError) as error:
            saccade.load(tmp_path / "model")
        assert str(error.value) == f"{config}: a model of format {written}, wanted 1; {remedy}"
    trained.model.save(tmp_path / "model")
    assert config.read_text().startswith(f"format: 1\ntask: {trained.model.settings.task}\n")
    config.write_text(config.read_text().replace("format: 1", "format: 3", 1))  # which no checksum fits
    with pytest.raises(InputError, match=r"config\.yaml: damaged, or changed since the model was written"):
        saccade.load(tmp_path / "model")


def test_results_are_plain_values_as_json(trained: Trained) -> None:
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    for one in [*trained.ask(), *trained.ask(**options)]:
        record = one.as_json()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert ("attention" in record) == trained.looks


def test_attention_is_there_when_it_is_asked_for(trained: Trained) -> None:
    """`[layers, heads, rows, columns]`, as the labels of its map are; and it changes nothing else."""
    plain = trained.ask()
    assert all(one.attention is None for one in plain)
    if not trained.looks:
        assert trained.model.maps(plain[0]) == []
        return
    for one, other in zip(trained.ask(attention=True), plain, strict=True):
        assert isinstance(one.attention, np.ndarray)
        assert one.attention.dtype == np.float32
        assert one.attention.ndim == 4
        maps = trained.model.maps(one)
        assert all(isinstance(found, AttentionMap) for found in maps)
        assert maps[0].weights.shape == one.attention.shape
        np.testing.assert_allclose(maps[0].weights, one.attention, atol=1e-6)
        assert json.dumps(map_record(maps[0]))
        assert_alike([replace(one, attention=None)], [other])  # pyright: ignore[reportArgumentType] - a dataclass
        with pytest.raises(InputError, match=r"attention=True"):
            trained.model.maps(other)
    with pytest.raises(InputError, match=r"^maps: found list, wanted one result of this model, .*maps\(found\[0\]\)$"):
        trained.model.maps(plain)


@pytest.mark.parametrize("asked", [False, True], ids=["fresh", "after it was asked"])
def test_models_can_be_pickled_and_copied(asked: bool, trained: Trained) -> None:  # noqa: FBT001
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    wanted = trained.ask(**options)
    model = trained.model if asked else saccade.load(trained.run)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):  # noqa: S301
        assert type(other) is type(model)
        assert other.settings == model.settings
        assert_alike(trained._replace(model=other).ask(**options), wanted)
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in twin.net.parameters():
            parameter.mul_(1.5)
    found = trained._replace(model=twin).ask(**options)
    assert not all(json_alike(one.as_json(), other.as_json()) for one, other in zip(found, wanted, strict=True))
    assert_alike(trained.ask(**options), wanted)  # a copy shares no weights


def test_results_can_be_pickled_and_copied(trained: Trained) -> None:
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    for one in trained.ask(**options):
        assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
        assert copy.deepcopy(one) == one


def test_paths_are_texts_or_paths(trained: Trained, tmp_path: Path) -> None:
    wanted = trained.ask()
    kind = type(trained.model)
    for path in (tmp_path / "path", str(tmp_path / "text")):
        trained.model.save(path)
        for loaded in (saccade.load(path), saccade.load(path, kind), kind.load(path), kind.load(str(path))):
            assert_alike(trained._replace(model=loaded).ask(), wanted)


IMAGES: dict[str, Callable[[Path], Any]] = {
    "path": lambda path: path,
    "text": str,
    "bytes": Path.read_bytes,
    "PIL": Image.open,
    "array": lambda path: np.asarray(Image.open(path)),
    "array of floats": lambda path: np.asarray(Image.open(path)) / 255,
    "tensor": lambda path: torch.from_numpy(np.asarray(Image.open(path)).copy()).movedim(-1, 0),
}


@pytest.mark.parametrize(
    "trained", [name for name, tiny in TINY.items() if isinstance(tiny.inputs[0], bytes)], indirect=True
)
@pytest.mark.parametrize("form", IMAGES)
def test_images_come_in_any_form(form: str, trained: Trained, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    Image.open(io.BytesIO(trained.inputs[0])).convert("RGB").save(path)
    image = IMAGES[form](path)
    options: dict[str, Any] = {"attention": True} if trained.looks else {}
    (found,) = trained.ask([image], **options)
    assert found == trained.ask([path], **options)[0]
    if trained.looks:
        with_image = trained.model.maps(found, image=image)  # pyright: ignore[reportCallIssue] - of images
        assert with_image[0].columns.image.startswith((b"\xff\xd8", b"\x89PNG"))  # a JPEG, or a PNG


def test_a_model_is_not_written_among_other_things(trained: Trained, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "source.txt").write_text("mine")
    with pytest.raises(InputError, match=r"own has other things in it, such as source\.txt, and no model"):
        trained.model.save(own)
    assert {path.name: path.read_text() for path in own.iterdir()} == {"source.txt": "mine"}


@pytest.mark.parametrize(
    ("folder", "model_class", "message"),
    [
        (None, None, r"folder: found None, wanted the path"),
        ("a file", None, r"a file: a file; a model is the folder"),
        ("a file", "Translator", r"model_class: found 'Translator', wanted a class, such as saccade\.Translator"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, folder: Any, model_class: Any, message: str) -> None:
    (tmp_path / "a file").write_text("text")
    where: Any = None if folder is None else tmp_path / folder
    with pytest.raises(InputError, match=message):
        saccade.load(where, model_class)
