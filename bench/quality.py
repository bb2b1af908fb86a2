"""Quality at equal time: `python -m bench.quality --data DIR --minutes 30 > quality.jsonl`.

saccade and JoeyNMT train the same Transformer on Multi30k with the same schedule, side by side on one core each, with
the commands that their users have. One JSON line for each validation: minutes since the start, and greedy BLEU (cased,
13a) on the validation set. Time for validation counts, on both sides.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from sentencepiece import SentencePieceProcessor

from bench.race import PEERS, ROOT, VOCABULARY
from bench.sides.joeynmt_config import transformer
from bench.sides.turns import SMOOTHING
from saccade.base.errors import InputError
from saccade.base.files import read_lines
from saccade.metrics import score_translations
from saccade.text import VocabularySettings, learn_vocabularies, read_aligned, save_vocabularies
from saccade.training import read_journal

TOKENS, RATE, WARMUP = 2048, 3e-3, 500


def main() -> None:
    parser = argparse.ArgumentParser(description="Quality at equal time, beside JoeyNMT.")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "multi30k", help="as `saccade data get` leaves it")
    parser.add_argument("--minutes", type=float, default=30, help="how long both train (30)")
    chosen = parser.parse_args()
    data = chosen.data.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = VocabularySettings(kind="subwords", size=VOCABULARY, joint=True)
        vocabularies = learn_vocabularies(read_aligned(data / "train.en", data / "train.de"), settings)
        save_vocabularies(vocabularies, settings, folder)
        config = joeynmt_config(data, folder)
        (folder / "joeynmt.yaml").write_text(yaml.safe_dump(config))
        began = time.time()
        processes = [
            start(
                [sys.executable, "-m", "saccade.cli.main", *saccade_arguments(data, folder)], folder / "saccade.log", 0
            ),
            start(
                [str(PEERS), "-m", "joeynmt", "train", str(folder / "joeynmt.yaml"), "-t"], folder / "joeynmt.log", 1
            ),
        ]
        time.sleep(60 * chosen.minutes)
        for process in processes:
            ended = process.poll() is not None
            process.kill()
            process.wait()
            if ended:
                logs = "".join((folder / f"{side}.log").read_text()[-3000:] for side in ("saccade", "joeynmt"))
                raise InputError(f"one side ended before its time; its last words are here:\n{logs}")
        for line in (*saccade_curve(folder), *joeynmt_curve(folder, data, began)):
            print(json.dumps(line))


def start(command: list[str], log: Path, core: int) -> "subprocess.Popen[bytes]":
    """A process on one core of its own."""
    return subprocess.Popen(  # noqa: S603
        ["taskset", "-c", str(core), *command],  # noqa: S607
        cwd=ROOT,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def saccade_arguments(data: Path, folder: Path) -> list[str]:
    files = {"train": "train", "valid": "val"}
    paths = [
        f"data.{split}.{side}={data / f'{file}.{language}'}"
        for split, file in files.items()
        for side, language in (("source", "en"), ("target", "de"))
    ]
    schedule = [
        f"train.lr={RATE}",
        f"train.warmup_steps={WARMUP}",
        "train.schedule=inverse-sqrt",
        "train.steps=1000000",
    ]
    habits = [
        f"train.batch_tokens={TOKENS}",
        "train.validate_every=200",
        "train.threads=1",
        "train.select_checkpoint=last",
    ]
    return ["train", "multi30k-transformer", *paths, *schedule, *habits, "--run", str(folder / "run")]


def joeynmt_config(data: Path, folder: Path) -> dict[str, Any]:
    """The same model, schedule and vocabulary, in JoeyNMT's words."""
    (model,) = folder.glob("*.model")
    pieces = SentencePieceProcessor(model_file=str(model))
    texts = [pieces.id_to_piece(number) for number in range(4, pieces.get_piece_size())]  # after the special ones
    (folder / "pieces.txt").write_text("".join(f"{text}\n" for text in texts))
    side = {
        "level": "bpe",
        "max_length": 512,
        "voc_file": str(folder / "pieces.txt"),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(model)},
    }
    return {
        "name": "multi30k",
        "model_dir": str(folder / "joeynmt"),
        "use_cuda": False,
        "data": {
            "train": str(data / "train"),
            "dev": str(data / "val"),
            "dataset_type": "plain",
            "src": {"lang": "en", **side},
            "trg": {"lang": "de", **side},
        },
        "testing": {"batch_size": 64, "batch_type": "sentence", "beam_size": 1, "eval_metrics": ["bleu"]},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": RATE,
            "learning_rate_warmup": WARMUP,
            "scheduling": "warmupinversesquareroot",
            "clip_grad_norm": 1.0,
            "label_smoothing": SMOOTHING,
            "normalization": "tokens",
            "batch_size": TOKENS,
            "batch_type": "token",
            "epochs": 1000,
            "validation_freq": 100,
            "logging_freq": 50,
            "early_stopping_metric": "bleu",
        },
        "model": {"initializer": "xavier_uniform", **transformer()},
    }


def saccade_curve(folder: Path) -> Iterator[dict[str, Any]]:
    for record in read_journal(folder / "run" / "metrics.jsonl"):
        if "valid" in record:
            yield {"side": "saccade", "minutes": record["seconds"] / 60, "bleu": record["valid"]["bleu"]}


def joeynmt_curve(folder: Path, data: Path, began: float) -> Iterator[dict[str, Any]]:
    """JoeyNMT writes what it translated at each validation; when, says the file's time."""
    references = read_lines(data / "val.de")
    for path in sorted((folder / "joeynmt").glob("*.hyps"), key=lambda path: path.stat().st_mtime):
        bleu = score_translations(read_lines(path), references)["bleu"].value
        yield {"side": "joeynmt", "minutes": (path.stat().st_mtime - began) / 60, "bleu": bleu}


if __name__ == "__main__":
    main()
