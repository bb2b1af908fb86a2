"""`saccade translate`: Translate a file, or what comes in on a pipe, a sentence a line, as it comes."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from saccade.base.errors import InputError
from saccade.base.files import read_lines
from saccade.console.options import TakesOptions
from saccade.console.outputs import each, tell_failures
from saccade.console.parser import count
from saccade.console.search import add_search_arguments, search_of
from saccade.console.streams import Given, Incoming, Line, progress_of
from saccade.decode import Search
from saccade.tasks.load import load
from saccade.tasks.translation.model import OVERLONG, EncodedSentence, Overlong, Translator
from saccade.tasks.translation.result import Translation

Encode = Callable[[Line, str], EncodedSentence]  # a line, and what its translation has to begin with


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="sentences, one a line, as UTF-8; - or nothing: a pipe"
    )
    add_writing_arguments(parser)
    add_overlong_argument(parser)
    parser.set_defaults(run=run)


def add_writing_arguments(parser: argparse.ArgumentParser, *, what: str = "translation") -> None:
    """Add what all commands take that write a text for each line."""
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    parser.add_argument("--prefixes", type=Path, metavar="FILE", help=f"what each {what} has to begin with")
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="lines at a time (64)")
    add_search_arguments(parser, what=what)


def add_overlong_argument(parser: TakesOptions, *, usual: Overlong | None = "split") -> None:
    """Add --overlong; None as the usual is what suits the model."""
    parser.add_argument(
        "--overlong",
        choices=OVERLONG,
        default=usual,
        help="a sentence that is longer than the model reads: translated part by part (split, the default of"
        " translations), cut off (truncate, that of summaries and answers), or left out (error); stderr says which",
    )


def run(chosen: argparse.Namespace) -> int:
    """Translate what has come."""
    translator = load(chosen.model, Translator)
    translator.expect_purpose("translate")

    def encode(line: Line, prefix: str) -> EncodedSentence:
        return translator.encode(line.text, line.where, overlong=chosen.overlong, prefix=prefix)

    return write_lines(chosen, translator, encode, doing="translating")


def write_lines(
    chosen: argparse.Namespace, translator: Translator, encode: Encode, *, doing: str, given: Given | None = None
) -> int:
    """Write for what has come, piece by piece: one record for each line, in order, whatever is wrong with some."""
    how = Search(**search_of(chosen))
    prefixes = None if chosen.prefixes is None else read_lines(chosen.prefixes)
    incoming = given or Incoming(chosen.file)
    failed = total = 0
    with progress_of(incoming, doing) as advance:
        for lines in incoming.chunks(chosen.batch_size):
            here = [""] * len(lines) if prefixes is None else _prefixes_of(lines, prefixes, chosen, incoming)
            inputs = [line.error or _encoded(line, start, encode) for line, start in zip(lines, here, strict=True)]
            answers = each(lambda some: _translate(translator, some, how, chosen), inputs)
            for line, found in zip(lines, answers, strict=True):
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


def write_line(chosen: argparse.Namespace, translator: Translator, line: Line) -> int:
    """Write for one input that was typed; what is wrong with it is an `InputError`."""
    encoded = translator.encode(line.text, line.where, overlong=chosen.overlong)
    (found,) = _translate(translator, [encoded], Search(**search_of(chosen)), chosen)
    _tell(line, found)
    show(line, found, chosen)
    return 0


def _prefixes_of(
    lines: list[Line], prefixes: list[str], chosen: argparse.Namespace, incoming: Incoming | Given
) -> list[str]:
    here = prefixes[lines[0].number - 1 : lines[-1].number]
    if len(here) < len(lines):
        raise InputError(f"{chosen.prefixes} has {len(prefixes)} lines, {incoming.name} has more; wanted one for each")
    return here


def _encoded(line: Line, prefix: str, encode: Encode) -> EncodedSentence | InputError:
    try:
        return encode(line, prefix)
    except InputError as error:
        return error


def _translate(
    translator: Translator, sentences: list[EncodedSentence], how: Search, chosen: argparse.Namespace
) -> list[Translation]:
    return translator.translate_encoded(sentences, how, attention=chosen.json, batch_size=chosen.batch_size)


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
