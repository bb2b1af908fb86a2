"""`saccade look` of a translator: what it looked at for each word that it wrote."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saccade.base.errors import InputError
from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_text
from saccade.console.options import TakesOptions
from saccade.console.parser import count, expect_text
from saccade.look import Panel, drawable
from saccade.tasks.kind import Look
from saccade.tasks.translation.forced_decoding import ForcedDecoding
from saccade.tasks.translation.maps import Copy, copies_of
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.result import Translation

_BEAM = 5


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--target", metavar="TEXT", help="look at this translation instead of the model's own")
    parser.add_argument("--beam", type=count, metavar="N", help="hypotheses kept; 1 is greedy search (5)")
    add_map_options(parser)


def check(chosen: argparse.Namespace) -> None:
    one_text(chosen.inputs, "SENTENCE", "words to translate")
    if chosen.target is not None:
        expect_text(chosen.target, "--target")
        if not chosen.target.split():
            raise InputError("--target: found nothing but space, wanted a translation")
    check_map_options(chosen)


def look_at_translation(chosen: argparse.Namespace, translator: Translator) -> Maps:
    """Translate a sentence, or score the given target."""
    (sentence,) = chosen.inputs
    beam = chosen.beam or _BEAM
    found, text = _decode(translator, sentence, chosen.target, beam)
    tree = [] if chosen.target is not None or chosen.html is None else translator.search_tree(sentence, beam=beam)
    panel = Panel(f"{model_name(chosen.model)}: {text}", translator.maps(found, name=sentence), tree)
    maps = maps_as_chosen(panel, chosen, name=sentence)
    copies = copies_of(found)
    return MapsAndCopies(**vars(maps), copies=copies, source=panel.maps[0].column_labels) if copies else maps


@dataclass(frozen=True)
class MapsAndCopies(Maps):
    """Maps, and where each word was copied from."""

    copies: Sequence[Copy] = ()
    source: Sequence[str] = ()  # its words

    def show(self) -> None:
        super().show()
        width = max(len(one.word) for one in self.copies)
        print()
        for one in self.copies:
            where = "" if one.source is None else f", from word {one.source + 1}: {self.source[one.source]}"
            print(drawable(f"{one.word:>{width}}  p_gen {one.p_gen:.2f}, copied {one.copied:4.0%}{where}"))

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"copies": [one._asdict() for one in self.copies]}


def _decode(
    translator: Translator, sentence: str, target: str | None, beam: int
) -> tuple[Translation | ForcedDecoding, str]:
    if target is not None:
        decoding = translator.score([sentence], [target])[0]
        return decoding, f"{target} (log probability {decoding.log_prob:.3f})"
    translation = translator.translate([sentence], beam=beam, attention=True, overlong="error")[0]
    return translation, f"{translation.text} (score {translation.score:.3f})"


LOOK = Look("a sentence", look_at_translation, add_options, check)
