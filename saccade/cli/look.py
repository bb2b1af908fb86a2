"""`saccade look`: Show what a model looks at: in the terminal, as a figure, as a page."""

import argparse
import json
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console import hugging_face
from saccade.console.drawing import Drawing, add_figure_options, expect_files, figures_of, say_written, write_figures
from saccade.console.options import SharedOptions
from saccade.tasks.kind import AnyKind, all_kinds
from saccade.tasks.load import kind_of_folder

HF = "transformers"  # whose options they are, beside those of tasks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    looks = [(kind, kind.look) for kind in all_kinds() if kind.look is not None]
    inputs = "; ".join(f"{look.wanted} of a model that {kind.does}" for kind, look in looks)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help=f"what to look at: {inputs}")
    parser.add_argument(
        "--hf", action="store_true", help="MODEL is a folder of Hugging Face's transformers; INPUT a text, or an image"
    )
    parser.add_argument("--compare", type=Path, metavar="MODEL", help="show another model of the same kind beside it")
    add_figure_options(parser)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON, and draw nothing here")
    options = SharedOptions(parser)
    for kind, look in looks:
        look.add_options(options.of(kind.name, f"of models that {plural(kind.does)}"))
    hugging_face.add_options(options.of(HF, "of models of transformers"))
    parser.set_defaults(run=run, options=options)


def plural(does: str) -> str:
    """`translates text` -> `translate text`."""
    verb, _, rest = does.partition(" ")
    return f"{verb.removesuffix('s')} {rest}".strip()


def run(chosen: argparse.Namespace) -> None:
    """Run the model on what was named, and draw: to the files that were named, or to the terminal."""
    expect_files(chosen)
    drawing = _drawing(chosen, chosen.model)
    if chosen.compare is not None:
        drawing = drawing.beside(_drawing(chosen, chosen.compare))
    html: Path | None = getattr(chosen, "html", None)
    if html is not None:
        drawing.page(html)
        say_written(html)
    write_figures(drawing, chosen)
    if chosen.json:
        print(json.dumps(drawing.as_json(), ensure_ascii=False))
    elif html is None and not figures_of(chosen):
        drawing.show()


def _drawing(chosen: argparse.Namespace, folder: Path) -> Drawing:
    options: SharedOptions = chosen.options
    if chosen.hf:
        options.refuse_others(chosen, HF, "it is not for models of transformers")
        return hugging_face.look_at_folder(argparse.Namespace(**{**vars(chosen), "model": folder}))
    kind: AnyKind = kind_of_folder(folder)
    if kind.look is None:
        raise InputError(f"{folder} is a model that {kind.does}, and has nothing to look at")
    options.refuse_others(chosen, kind.name, f"{folder} is a model that {kind.does}, and does not take it")
    kind.look.check(chosen)
    one = argparse.Namespace(**{**vars(chosen), "model": folder})
    return kind.look.draw(one, kind.model.load(folder))
