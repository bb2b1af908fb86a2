"""How good translations are: BLEU and chrF, by sacrebleu, and the share that is exactly right."""

from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from saccade.metrics._checks import expect_texts


class Score(NamedTuple):
    """A figure with the signature that says how it came about."""

    value: float
    signature: str


def score_translations(
    outputs: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> dict[str, Score]:
    """All figures of the translations of a test set, one reference each.

    bleu         BLEU (Papineni 2002), cased, tokenised as mteval-v13a does
    bleu_lower   the same, of lower-cased text: the figure that papers on Multi30k report
    chrf         chrF (Popović 2015)
    exact_match  percent of the outputs that equal their reference

    With `lowercase`, of a model that writes nothing else: `bleu_lower` comes first, chrF and exact match are of
    lower-cased text, as their signatures say, and `bleu` comes last.
    """
    expect_texts("outputs", outputs)
    expect_texts("references", references)
    if len(outputs) != len(references):
        raise ValueError(f"references: found {len(references)}, wanted {len(outputs)}, one for each output")
    if not outputs:
        raise ValueError("outputs: found none, wanted at least one")
    metrics: dict[str, BLEU | CHRF] = {
        "bleu": BLEU(tokenize="13a"),
        "bleu_lower": BLEU(tokenize="13a", lowercase=True),
        "chrf": CHRF(lowercase=lowercase),
    }
    scores: dict[str, Score] = {}
    for name, metric in metrics.items():
        value = metric.corpus_score(list(outputs), [list(references)]).score
        scores[name] = Score(value, str(metric.get_signature()))
    scores["exact_match"] = _exact_match(outputs, references, lowercase=lowercase)
    order = ("bleu_lower", "chrf", "exact_match", "bleu") if lowercase else scores
    return {name: scores[name] for name in order}


def _exact_match(outputs: Sequence[str], references: Sequence[str], *, lowercase: bool) -> Score:
    if lowercase:
        outputs, references = [text.lower() for text in outputs], [text.lower() for text in references]
    right = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    return Score(100 * right / len(outputs), "equal strings, in lower case" if lowercase else "equal strings")


class LengthScores(NamedTuple):
    """The figures of the sentences whose sources have so many words."""

    min_length: int
    max_length: int
    sentences: int
    scores: dict[str, Score]


def score_by_length(
    sources: Sequence[str], outputs: Sequence[str], references: Sequence[str], *, width: int, lowercase: bool = False
) -> list[LengthScores]:
    """`score_translations` for short and long sentences apart: 1 to `width` words of source, and so on.

    Bahdanau 2015 shows by it what attention is for. Lengths that no sentence has are left out.
    """
    for name, texts in (("sources", sources), ("outputs", outputs), ("references", references)):
        expect_texts(name, texts)
    if len(sources) != len(outputs):
        raise ValueError(f"sources: found {len(sources)}, wanted {len(outputs)}, one for each output")
    if width < 1:
        raise ValueError(f"width: found {width}, wanted at least 1")
    groups: dict[int, list[int]] = {}
    for index, source in enumerate(sources):
        groups.setdefault(max(len(source.split()) - 1, 0) // width, []).append(index)
    return [
        LengthScores(
            number * width + 1,
            (number + 1) * width,
            len(indices),
            score_translations(
                [outputs[index] for index in indices], [references[index] for index in indices], lowercase=lowercase
            ),
        )
        for number, indices in sorted(groups.items())
    ]
