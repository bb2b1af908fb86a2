"""Lines of any characters and of any number: one record for each, in order, as they come, in a memory that stays."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from saccade.cli.main import main
from soak.nursery import Outcome, forked
from soak.pipes import talking
from soak.report import Check, Clock, Options
from soak.tiny import RECIPES, train_model

_LIMIT = 600.0  # seconds for thousands of lines
_GOOD = ("le 9 novembre 2026", "3 March 2020", "2. Mai 1999", "12/05/2021", "x")
_ENDLESS = 20.0  # seconds
_MEMORY = 2 << 30  # bytes above what it begins with, whatever the lines are
_GROWTH = 48.0  # megabytes, by which memory may grow while input goes on and on
_SOON = 5.0  # seconds, after which something has to be seen of a long file beyond what a short one takes
_MOST_BYTES = 1 << 20  # of a line that is read

# The ways to ask for translations. What else is said about a line, its source or its number, is checked by the way.
_WAYS: tuple[tuple[str, ...], ...] = (
    ("--beam", "1"),
    ("--beam", "1", "--json"),
    ("--beam", "2", "--nbest", "2"),
    ("--beam", "1", "--overlong", "truncate"),
    ("--beam", "1", "--overlong", "error", "--json"),
    ("--beam", "2", "--nbest", "2", "--json", "--overlong", "truncate"),
)


class Record(NamedTuple):
    """What came of a line."""

    source: str | None  # if it is said
    texts: tuple[str, ...]
    failed: bool | None  # if it is said


def run(options: Options, scratch: Path) -> list[Check]:
    """All of it, with a model of each of three tasks."""
    models = {task: train_model(RECIPES[task], scratch / task) for task in ("translation", "pointing", "story_qa")}
    count = options.cases(full=5000, quick=200)
    translator, clock = models["translation"], Clock(options.minutes)
    tries: list[Callable[[], Check]] = [
        *(lambda way=way: check_translations(translator, way, count, options, scratch) for way in _WAYS),
        lambda: check_records(models["pointing"], ["point"], ["-"], count // 5, options, number_lines),
        lambda: check_records(models["story_qa"], ["ask"], ["--file", "-"], count // 5, options, question_lines),
        lambda: check_endless(translator, _ENDLESS / 4 if options.quick else _ENDLESS),
        lambda: check_first_answer(translator, 20_000 if options.quick else 200_000, scratch),
        lambda: check_typed(translator),
    ]
    checks: list[Check] = []
    for one in tries:
        if clock.is_up():
            checks.append(Check("lines: the rest", cut_short=True))
            break
        checks.append(one())
        print(f"{checks[-1].name}: {checks[-1].cases} cases, {checks[-1].verdict}", file=sys.stderr, flush=True)
    return checks


def any_line(rng: random.Random) -> bytes:
    """A line, without its end."""
    kind = rng.choices(list(_KINDS), weights=[weight for _, weight in _KINDS.values()])[0]
    return _KINDS[kind][0](rng).replace(b"\n", b" ")


def _character(rng: random.Random) -> str:
    plane = rng.choice([0x80, 0x300, 0x3000, 0xD800, 0x110000])
    code = rng.randrange(plane)
    return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"


def _characters(rng: random.Random) -> bytes:
    return "".join(_character(rng) for _ in range(rng.randint(1, 60))).encode()


def _marks(rng: random.Random) -> bytes:
    marks = (chr(rng.randrange(0x300, 0x370)) for _ in range(rng.choice([10, 1000, 20_000])))
    return ("a" + "".join(marks)).encode()


def _no_text(rng: random.Random) -> bytes:
    """Not UTF-8, whatever else is drawn."""
    broken = (b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"abc \x80 def")
    return rng.choice([*broken, rng.randbytes(20) + b"\xfe"])


_KINDS: dict[str, tuple[Callable[[random.Random], bytes], int]] = {
    "good": (lambda rng: rng.choice(_GOOD).encode(), 300),
    "characters": (_characters, 400),
    "marks": (_marks, 20),
    "control characters": (lambda rng: bytes(rng.randrange(32) for _ in range(20)), 60),
    "no text": (_no_text, 80),
    "blank": (lambda rng: rng.choice([b"", b" ", b"\t \r", "\u3000\u2028\x85".encode()]), 60),
    "NUL": (lambda rng: b"a\0b" * rng.randint(1, 5), 20),
    "ends of DOS": (lambda rng: rng.choice(_GOOD).encode() + b"\r", 40),
    "long": (lambda rng: b"le 9 novembre " * rng.choice([50, 100]), 5),
    "very long": (lambda rng: b"le 9 novembre " * rng.choice([1000, 2000]), 1),
    "longer than is read": (lambda rng: b"x" * (rng.choice([1, 3]) * _MOST_BYTES + 1), 1),
}


def number_lines(rng: random.Random) -> bytes:
    """Problems to point at, and others."""
    numbers = (repr(rng.choice([rng.uniform(-5, 5), rng.randrange(100), 1e308, 0.0])) for _ in range(5))
    good = " ".join(numbers).encode()
    return rng.choice([good, good, b"[[1], [2]]", b"[" * 5000, b"nan inf", b"1e400 2", any_line(rng)])


def question_lines(rng: random.Random) -> bytes:
    """Questions as JSON, and others."""
    text = _characters(rng).decode()
    records = [
        {"story": ["Mary went to the garden."], "question": "Where is Mary?"},
        {"story": [text, "Mary went to the garden."], "question": f"Where is {text}?"},
        {"story": [], "question": ""},
        {"story": 5, "question": []},
        {"story": ["x"] * 1000, "question": "x"},
    ]
    return rng.choice([json.dumps(rng.choice(records)).replace("\n", " ").encode(), any_line(rng)])


def is_text(line: bytes) -> bool:
    """Whether a line can be read at all."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return len(line) <= _MOST_BYTES


def _lines(count: int, seed: str, kind: Callable[[random.Random], bytes]) -> list[bytes]:
    """So many lines; the last is not blank, so that it counts as one without an end, too."""
    rng = random.Random(seed)
    first = _GOOD[0].encode()  # nothing that could be taken for the beginning of a packed file
    return [first, *(kind(rng).replace(b"\n", b" ") for _ in range(count - 2)), first]


def check_translations(model: Path, way: tuple[str, ...], count: int, options: Options, scratch: Path) -> Check:
    """Many lines at once, and those of them that are good by themselves: the answers are the same."""
    check = Check(f"lines: translate {' '.join(way)}")
    seed = f"{options.seed} lines {options.first}"
    lines = _lines(count, seed, any_line)
    path = scratch / "lines.txt"
    path.write_bytes(b"\n".join(lines))
    command = ["translate", str(model), str(path), *way]
    outcome = forked(lambda: main(command), seconds=_LIMIT, memory=_MEMORY)
    check.cases, why, records = len(lines), [], read_records(outcome.out, way)
    check.count(outcome)
    why += wrong_records(lines, records, outcome)
    if not why:
        good = [index for index, record in enumerate(records) if _is_good(lines[index], record)]
        path.write_bytes(b"".join(lines[index] + b"\n" for index in good))
        alone = forked(lambda: main(command), seconds=_LIMIT, memory=_MEMORY)
        check.count(alone)
        again = read_records(alone.out, way)
        if alone.code or len(again) != len(good):
            why.append(f"of {len(good)} good lines alone, {len(again)} are answered; exit code {alone.code}")
        differing = [index for index, one in zip(good, again, strict=False) if one.texts != records[index].texts]
        why += [f"line {index + 1}, {lines[index][:80]!r}: another answer beside others" for index in differing[:3]]
    if why:
        check.breaks(f"saccade {' '.join(command)}, with the lines of seed {seed!r}", why, _last_of(outcome))
    return check


def _is_good(line: bytes, record: Record) -> bool:
    return is_text(line) and record.failed is not True and any(record.texts)


def _last_of(outcome: Outcome) -> Outcome:
    return outcome._replace(out=outcome.out[-500:], err=outcome.err[-2000:])


def read_records(out: bytes, way: tuple[str, ...]) -> list[Record]:
    """The records of an output, one for each line of the input."""
    rows = out.decode(errors="replace").split("\n")[:-1]
    if "--json" in way:
        found = [json.loads(row) for row in rows]
        return [Record(one["source"], (one["text"],), "error" in one) for one in found]
    if "--nbest" not in way:
        return [Record(None, (row,), None) for row in rows]
    by_number: dict[int, list[str]] = {}
    for row in rows:
        number, _, text = row.split("\t", 2)
        if by_number and int(number) not in (last := max(by_number), last + 1):
            return []  # out of order
        by_number.setdefault(int(number), []).append(text)
    return [Record(None, tuple(texts), None) for texts in by_number.values()]


def wrong_records(lines: list[bytes], records: list[Record], outcome: Outcome) -> list[str]:
    """The promises that an output breaks."""
    if outcome.hung or outcome.traceback:
        return ["it hung" if outcome.hung else "a traceback"]
    bad = sum(not is_text(line) for line in lines)
    why: list[str] = []
    if len(records) != len(lines):
        why.append(f"{len(records)} records in order, wanted {len(lines)}")
    if outcome.code != 1 and bad:
        why.append(f"exit code {outcome.code}, wanted 1: {bad} lines are no text")
    for number, (line, record) in enumerate(zip(lines, records, strict=False), start=1):
        wanted = line.decode().removesuffix("\r") if is_text(line) else ""
        if record.source not in (None, wanted):
            why.append(f"line {number} is {line[:80]!r}, and its record says {record.source[:80]!r}")
        if not is_text(line) and (record.failed is False or any(record.texts)):
            why.append(f"line {number} is no text, {line[:80]!r}, and was answered")
    return why[:5]


def check_records(
    model: Path,
    command: list[str],
    rest: list[str],
    count: int,
    options: Options,
    kind: Callable[[random.Random], bytes],
) -> Check:
    """Of other commands: a record for each line, with --json and without."""
    check = Check(f"lines: {command[0]}")
    seed = f"{options.seed} {command[0]} {options.first}"
    lines = _lines(count, seed, kind)
    for way in ([], ["--json"]):
        words = [*command, str(model), *rest, *way]
        outcome = forked(lambda words=words: main(words), seconds=_LIMIT, memory=_MEMORY, stdin=b"\n".join(lines))
        check.cases += len(lines)
        check.count(outcome)
        records = outcome.out.count(b"\n")
        why = [] if records == len(lines) else [f"{records} records, wanted {len(lines)}"]
        if outcome.hung or outcome.traceback or outcome.code != 1:
            why.append(f"exit code {outcome.code}, wanted 1: some lines are no text")
        if way and not why:
            why += _wrong_json(outcome.out)
        if why:
            check.breaks(f"saccade {' '.join(words)}, with the lines of seed {seed!r}", why, _last_of(outcome))
    return check


def _wrong_json(out: bytes) -> Iterator[str]:
    for number, row in enumerate(out.split(b"\n")[:-1], start=1):
        try:
            json.loads(row)
        except ValueError:
            yield f"record {number} is no JSON: {row[:80]!r}"
            return


def check_endless(model: Path, seconds: float) -> Check:
    """Input that does not end: lines, and one line. Memory stays, and answers come."""
    check = Check("endless input: memory stays")
    command = ["translate", str(model), "-", "--beam", "1"]
    inputs = {"lines": "".join(f"{line}\n" for line in _GOOD * 200).encode(), "one line": b"x" * (1 << 16)}
    for name, content in inputs.items():
        seen: list[tuple[float, int]] = []
        with talking(lambda: main(command)) as talk:
            talk.feed(content, seconds, watch=lambda megabytes, came, seen=seen: seen.append((megabytes, came)))
            talk.child.signal(9)
            outcome = talk.child.wait(0.0)
        check.cases += 1
        check.megabytes = max(check.megabytes, outcome.megabytes)
        check.slowest = max(check.slowest, outcome.seconds)
        why = grown(seen, answered=name == "lines")
        if why:
            check.breaks(f"saccade {' '.join(command)}, endless {name}: {seen}", why, _last_of(outcome))
    return check


def grown(seen: list[tuple[float, int]], *, answered: bool) -> list[str]:
    """What is wrong with the memory, and what came, second after second; the first third is for getting ready."""
    later = seen[len(seen) // 3 :]
    if not later:
        return ["nothing was seen"]
    growth = later[-1][0] - later[0][0]
    why = [f"memory grew by {growth:.0f} MB"] if growth > _GROWTH else []
    return why + (["nothing was answered"] if answered and not later[-1][1] else [])


def check_first_answer(model: Path, many: int, scratch: Path) -> Check:
    """Of a long file, the first answer is there about as soon as that of a short one."""
    check = Check("the first answer of a long file")
    waited: dict[int, float] = {}
    for count in (1, many):
        path = scratch / f"{count}.txt"
        path.write_bytes(f"{_GOOD[0]}\n".encode() * count)
        command = ["translate", str(model), str(path)]
        began = time.monotonic()
        with talking(lambda command=command: main(command)) as talk:
            answered = talk.read_lines(1, 60.0)
            waited[count] = time.monotonic() - began
            check.megabytes = max(check.megabytes, talk.child.megabytes())
        if not answered:
            check.breaks(f"saccade {' '.join(command)}", ["no answer in a minute"])
    check.cases, check.slowest = len(waited), max(waited.values())
    if max(waited.values()) > min(waited.values()) + _SOON:
        check.breaks("saccade translate", [f"seconds to the first answer, by the file's lines: {waited}"])
    return check


def check_typed(model: Path) -> Check:
    """Lines typed at a terminal, each answered while the input stays open; then its end."""
    check = Check("typed at a terminal")
    command = ["translate", str(model)]
    began = time.monotonic()
    with talking(lambda: main(command), terminal=True) as talk:
        for number, line in enumerate(_GOOD, start=1):
            talk.write(f"{line}\n".encode())
            check.cases += 1
            if talk.read_lines(1, 10.0).count(b"\n") != 1:
                check.breaks(f"saccade {' '.join(command)}, at a terminal", [f"line {number} is not answered"])
        talk.write(b"\x04")
        outcome = talk.child.wait(10.0)
    check.count(outcome)
    check.slowest = time.monotonic() - began
    if outcome.code or outcome.hung:
        check.breaks(f"saccade {' '.join(command)}, at a terminal", ["it does not end with the input"], outcome)
    return check
