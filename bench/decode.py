"""Decoding beside the peers: `make peers`, then `python -m bench.decode [CASE ...] --data DIR`.

The weights are random, and every output has as many tokens as its source, 16: each side takes the same number of steps.
One JSON line a case: sentences/s (median and range), how many times as fast saccade is, peak memory.
"""

from bench.race import Case, Side, job, main

TRANSFORMERS = (Side("saccade"), Side("joeynmt"), Side("marian"))
RNNS = (Side("saccade"), Side("joeynmt"))
ROUNDED = (Side("saccade", precision="int8"), Side("saccade"), Side("joeynmt"))
ROUNDED_TRANSFORMERS = (*ROUNDED, Side("marian"))


def case(name: str, sides: tuple[Side, ...], *, model: str, batch: int, beam: int, sentences: int) -> Case:
    return Case(name, job(task="decode", model=model, batch=batch, beam=beam, sentences=sentences, length=16), sides)


CASES = (
    case("transformer-1-greedy", TRANSFORMERS, model="transformer", batch=1, beam=1, sentences=40),
    case("transformer-1-beam-5", TRANSFORMERS, model="transformer", batch=1, beam=5, sentences=30),
    case("transformer-64-greedy", TRANSFORMERS, model="transformer", batch=64, beam=1, sentences=512),
    case("transformer-64-beam-5", TRANSFORMERS, model="transformer", batch=64, beam=5, sentences=256),
    case("rnn-64-greedy", RNNS, model="rnn-fed", batch=64, beam=1, sentences=512),
    case("rnn-64-beam-5", RNNS, model="rnn-fed", batch=64, beam=5, sentences=256),
    case("transformer-1-greedy-int8", ROUNDED_TRANSFORMERS, model="transformer", batch=1, beam=1, sentences=40),
    case("transformer-1-beam-5-int8", ROUNDED_TRANSFORMERS, model="transformer", batch=1, beam=5, sentences=30),
    case("transformer-64-greedy-int8", ROUNDED_TRANSFORMERS, model="transformer", batch=64, beam=1, sentences=512),
    case("transformer-64-beam-5-int8", ROUNDED_TRANSFORMERS, model="transformer", batch=64, beam=5, sentences=256),
    case("rnn-64-greedy-int8", ROUNDED, model="rnn-fed", batch=64, beam=1, sentences=512),
    case("rnn-64-beam-5-int8", ROUNDED, model="rnn-fed", batch=64, beam=5, sentences=256),
)

if __name__ == "__main__":
    main("Decoding beside the peers.", CASES)
