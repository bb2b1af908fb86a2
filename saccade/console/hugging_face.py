"""`saccade look --hf`: what a model in a folder of Hugging Face's transformers looks at."""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from saccade.base.errors import InputError
from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.options import TakesOptions
from saccade.console.parser import count, expect_text
from saccade.look import Panel, from_transformers

_TOKENS = 40


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--target", metavar="TEXT", help="look at this translation instead of the model's own")
    parser.add_argument("--beam", type=count, metavar="N", help="hypotheses kept; 1 is greedy search (1)")
    parser.add_argument("--tokens", type=count, metavar="N", help=f"how many it writes, at most ({_TOKENS})")
    parser.add_argument("--pieces", action="store_true", help="the tokenizer's pieces, not words")
    add_map_options(parser)


def look_at_folder(chosen: argparse.Namespace) -> Maps:
    """The maps of a model as its folder has it, for a text or an image."""
    if len(chosen.inputs) != 1:
        raise InputError(f"INPUT: found {len(chosen.inputs) or 'none'}, wanted one text, or one image, in quotes")
    expect_text(chosen.inputs[0], "INPUT")
    check_map_options(chosen)
    model, reader = load_folder(chosen.model)
    text: Any = chosen.inputs[0]
    if hasattr(reader, "image_processor") or not hasattr(reader, "convert_ids_to_tokens"):
        text = Path(text)
    how: dict[str, Any] = {}
    if chosen.target is None and model.can_generate() and (chosen.tokens or model.config.is_encoder_decoder):
        how = {"num_beams": chosen.beam or 1, "max_new_tokens": chosen.tokens or _TOKENS, "do_sample": False}
    maps = from_transformers(model, reader, text, chosen.target, words=not chosen.pieces, **how)
    written = " ".join(maps[0].rows) if maps[0].kind == "cross" else chosen.inputs[0]
    panel = Panel(f"{chosen.model.name}: {written}", maps)
    if chosen.kind is None and len(maps) == 1:
        chosen = argparse.Namespace(**{**vars(chosen), "kind": maps[0].kind})
    return maps_as_chosen(panel, chosen, name=chosen.inputs[0])


def load_folder(folder: Path) -> tuple[Any, Any]:
    """A model and what reads for it, from a folder on this disk alone; no pickle, and no code that comes with it."""
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: no config.json there, wanted a folder as save_pretrained leaves it")
    try:
        import transformers  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("--hf: transformers is not installed; pip install 'saccade[transformers]'") from None
    transformers.logging.set_verbosity_error()
    try:
        names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("architectures") or []
        kind: Any = getattr(transformers, names[0], None) if names else None
        if kind is None:
            raise InputError(f"{folder}: config.json names no model that transformers has under architectures: {names}")
        model = kind.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        texts = any((folder / name).exists() for name in ("tokenizer.json", "tokenizer_config.json"))
        images = (folder / "preprocessor_config.json").exists()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True) if texts else None
        if not images:
            if tokenizer is None:
                raise InputError(f"{folder}: no tokenizer and no image processor there; save the model's own beside it")
            return model.eval(), tokenizer
        processor = transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"{folder}: transformers cannot load it: {str(error).splitlines()[0]}") from error
    if tokenizer is None:
        return model.eval(), processor
    return model.eval(), SimpleNamespace(tokenizer=tokenizer, image_processor=processor)
