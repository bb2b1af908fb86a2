"""`saccade translate`: Translate a file, or what comes in on a pipe, a sentence a line, as it comes."""

import argparse
import json
import sys
from pathlib import Path

from saccade.base.errors import InputError
from saccade.base.files import read_lines
from saccade.console.options import TakesOptions
from saccade.console.outputs import each, tell_failures
from saccade.console.parser import count
from saccade.console.search import add_search_arguments, search_of
from saccade.console.streams import Incoming, Line, progress_of
from saccade.decode import Search
from saccade.tasks.load import load
from saccade.tasks.translation.model import OVERLONG, EncodedSentence, Translator
from saccade.tasks.translation.result import Translation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="sentences, one a line, as UTF-8; - or nothing: a pipe"
    )
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    add_overlong_argument(parser)
    parser.add_argument("--prefixes", type=Path, metavar="FILE", help="what each translation has to begin with")
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="sentences at a time (64)")
    add_search_arguments(parser)
    parser.set_defaults(run=run)


def add_overlong_argument(parser: TakesOptions) -> None:
    """Add --overlong."""
    parser.add_argument(
        "--overlong",
        choices=OVERLONG,
        default="split",
        help="a sentence that is longer than the model reads: translated part by part (split, the default), cut off"
        " (truncate), or left untranslated (error); stderr says which",
    )


def run(chosen: argparse.Namespace) -> int:
    """Translate what has come, piece by piece: one record for each line, in order, whatever is wrong with some."""
    translator = load(chosen.model, Translator)
    how = Search(**search_of(chosen))
    prefixes = None if chosen.prefixes is None else read_lines(chosen.prefixes)
    incoming = Incoming(chosen.file)
    failed = total = 0
    with progress_of(incoming, "translating") as advance:
        for lines in incoming.chunks(chosen.batch_size):
            here = None if prefixes is None else _prefixes_of(lines, prefixes, chosen, incoming)
            for line, found in zip(lines, _translate(translator, lines, here, how, chosen), strict=True):
                _tell(line, found)
                show(line, found, chosen)
                failed += isinstance(found, InputError)
            total += len(lines)
            sys.stdout.flush()
            advance()
    if prefixes is not None and len(prefixes) != total:
        raise InputError(
            f"{chosen.prefixes} has {len(prefixes)} lines, {incoming.name} has {total}; wanted one for each"
        )
    return tell_failures(failed, total, "lines")


def _prefixes_of(lines: list[Line], prefixes: list[str], chosen: argparse.Namespace, incoming: Incoming) -> list[str]:
    here = prefixes[lines[0].number - 1 : lines[-1].number]
    if len(here) < len(lines):
        raise InputError(f"{chosen.prefixes} has {len(prefixes)} lines, {incoming.name} has more; wanted one for each")
    return here


def _translate(
    translator: Translator,
    lines: list[Line],
    prefixes: list[str] | None,
    how: Search,
    chosen: argparse.Namespace,
) -> list[Translation | InputError]:
    """The translation of each line, or why there is none."""

    def translations(sentences: list[EncodedSentence]) -> list[Translation]:
        return translator.translate_encoded(sentences, how, attention=chosen.json, batch_size=chosen.batch_size)

    def encode(line: Line, prefix: str) -> EncodedSentence | InputError:
        try:
            return translator.encode(line.text, line.where, overlong=chosen.overlong, prefix=prefix)
        except InputError as error:
            return error

    starts = [""] * len(lines) if prefixes is None else prefixes
    return each(translations, [line.error or encode(line, start) for line, start in zip(lines, starts, strict=True)])


def _tell(line: Line, found: Translation | InputError) -> None:
    """Say what went wrong with a line, or what was done about its length."""
    if isinstance(found, InputError):
        print(f"saccade: {found}", file=sys.stderr)
    elif found.note:
        print(f"saccade: {line.where}: {found.note}", file=sys.stderr)


def show(line: Line, found: Translation | InputError, chosen: argparse.Namespace) -> None:
    """One record for each line; as text, of several translations one a line, with the number of what they are of."""
    failed = isinstance(found, InputError)
    if chosen.json:
        record = {"text": "", "error": str(found)} if failed else found.as_json()
        print(json.dumps({"source": line.text} | record, ensure_ascii=False))
    elif chosen.nbest == 1:
        print("" if failed else found.text)
    elif failed:
        print(f"{line.number}\t\t")
    else:
        for one in (found, *found.alternatives):
            print(f"{line.number}\t{one.score:.4f}\t{one.text}")
