"""`saccade look` of a classifier: where its glimpses were, what each place of the image looked at, or its layers."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.console.drawing import Drawing, Maps, add_page_option
from saccade.console.inputs import model_name, one_image
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.look import AttentionMap, Grid, Panel, draw_text, save_path
from saccade.nets.layers import Layer
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.result import ClassifierOutput
from saccade.tasks.classification.settings import CnnSettings, GlimpseSettings
from saccade.tasks.kind import Look
from saccade.vision import picture_for_pages


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--layers", action="store_true", help="the layers of the net and their sizes; takes no image")
    parser.add_argument(
        "--block", type=count, metavar="N", help="of a CNN: the self-attention after block N (the last)"
    )
    parser.add_argument(
        "--place",
        metavar="Y,X",
        help="what this row and column of the feature map looked at, from 1,1 at the top left, in figures and the"
        " terminal (the middle)",
    )
    add_page_option(parser, help="write a page with what all places looked at")


def look_at_classifier(chosen: argparse.Namespace, classifier: Classifier) -> Drawing:
    """Show the layers, or classify an image and show what was looked at."""
    model = classifier.settings.model
    if chosen.layers:
        if chosen.inputs:
            raise InputError(f"--layers: found {chosen.inputs[0]} beside it, wanted the model alone")
        return Layers(classifier.layers())
    image = one_image(chosen.inputs)
    if isinstance(model, CnnSettings) and model.attend_after:
        return _places(chosen, classifier, image)
    expect_glimpses(classifier)
    return glimpses_of(image, classifier.classify([image])[0], classifier)


@dataclass(frozen=True)
class Glimpses(Drawing):
    """The path of the glimpses over an image."""

    image: Path
    found: ClassifierOutput
    size: float  # of a glimpse, as a share of the image's side

    def figure(self, path: Path) -> None:
        assert self.found.path is not None
        save_path(path, picture_for_pages(self.image), self.found.path, size=self.size, title=self.found.label)

    def show(self) -> None:
        assert self.found.path is not None
        print(f"{self.found.label} {self.found.probability:.3f}")
        for number, (x, y) in enumerate(self.found.path.tolist(), start=1):
            print(f"glimpse {number}: x {x:+.2f}, y {y:+.2f}")

    def as_json(self) -> dict[str, Any]:
        return {"image": str(self.image)} | self.found.as_json()


def glimpses_of(image: Path, found: ClassifierOutput, classifier: Classifier) -> Glimpses:
    """What there is to draw of an answer."""
    model = expect_glimpses(classifier)
    return Glimpses(image, found, model.patch_size / model.image_size)


def expect_glimpses(classifier: Classifier) -> GlimpseSettings:
    """Raise unless the classifier sees by glimpses; gives its settings."""
    model = classifier.settings.model
    if model.kind != "glimpses":
        raise InputError(
            "this model sees everything at once; only one that sees by glimpses has a path to look at, and only a CNN"
            " with model.attend_after has self-attention (--layers shows the layers)"
        )
    return model


class OnePlace(Maps):
    """What one place of an image looked at; in the terminal as a square of the places that there are."""

    def show(self) -> None:
        for panel in self.panels:
            (attention,) = panel.maps
            grid = attention.columns
            assert isinstance(grid, Grid)
            looked = attention.matrix()[0].reshape(grid.height, grid.width)
            print(f"{panel.title}\n{attention.rows[0]} looked at, as shares of the most, {looked.max():.3f}:\n")
            names = [[str(number) for number in range(1, side + 1)] for side in looked.shape]
            print(draw_text(looked / max(looked.max(), 1e-9), *names))


@dataclass(frozen=True)
class Places(Drawing):
    """What the places of an image looked at: on a page all of them, in a figure and the terminal one."""

    all: Drawing
    one: Drawing

    def figure(self, path: Path) -> None:
        self.one.figure(path)

    def show(self) -> None:
        self.one.show()

    def as_json(self) -> dict[str, Any]:
        return self.all.as_json()

    def page(self, path: Path) -> None:
        self.all.page(path)

    def beside(self, other: Drawing) -> Drawing:
        if not isinstance(other, Places):
            return super().beside(other)
        return Places(*(mine.beside(theirs) for mine, theirs in ((self.all, other.all), (self.one, other.one))))


def _places(chosen: argparse.Namespace, classifier: Classifier, image: Path) -> Places:
    (found,) = classifier.classify([image], attention=True, block=chosen.block)
    (seen,) = classifier.maps(found, image=image, name=found.label)
    title = f"{model_name(chosen.model)}: {found.label} {found.probability:.3f}"
    place = _place(chosen.place, seen)
    one = replace(seen, rows=[seen.rows[place]], weights=seen.weights[:, :, [place]])
    return Places(Maps([Panel(title, [seen])], image.name), OnePlace([Panel(title, [one])], image.name))


def _place(chosen: str | None, attention: AttentionMap) -> int:
    """Which row of a map stands for the place that was asked for, as `3,4`, or for the middle."""
    grid = attention.columns
    assert isinstance(grid, Grid)
    if chosen is None:
        return grid.height // 2 * grid.width + grid.width // 2
    try:
        y, x = map(int, chosen.split(","))
    except ValueError:
        raise InputError(f"--place: found {chosen!r}, wanted a row and a column, such as 1,1") from None
    if not (1 <= y <= grid.height and 1 <= x <= grid.width):
        raise InputError(f"--place: found {chosen}, wanted 1,1 to {grid.height},{grid.width}")
    return (y - 1) * grid.width + x - 1


@dataclass(frozen=True)
class Layers(Drawing):
    """The layers of a net as a table."""

    layers: list[Layer]

    def figure(self, path: Path) -> None:
        raise InputError(f"{path}: there is no figure of the layers; --json has them as numbers")

    def show(self) -> None:
        rows = [("layer", "kind", "gives", "of a side", "parameters")]
        for layer in self.layers:
            size = " x ".join(map(str, layer.shape))
            rows.append((layer.name, layer.kind, size, layer.formula, f"{layer.parameters:,}"))
        rows.append(("", "", "", "", f"{sum(layer.parameters for layer in self.layers):,}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for *left, right in rows:
            line = [text.ljust(width) for text, width in zip(left, widths, strict=False)]
            print("  ".join([*line, right.rjust(widths[-1])]))

    def as_json(self) -> dict[str, Any]:
        return {"layers": [layer._asdict() for layer in self.layers]}


LOOK = Look("an image", look_at_classifier, add_options)
