"""Training beside the peers: `make peers`, then `python -m bench.train [CASE ...] --data DIR`.

Every side trains the same sizes on the same pairs, with at most as many padded tokens a batch, in its own way.
One JSON line a case: real target tokens/s (median and range), how many times as fast saccade is, peak memory.
"""

from bench.race import Case, Side, job, main

CASES = (
    Case(
        "transformer",
        job(task="train"),
        (
            Side("saccade"),
            Side("joeynmt"),
            Side("marian"),
            Side("plain"),
            Side("marian", heap_kept=True),
            Side("plain", heap_kept=True),
        ),
    ),
    Case(
        "rnn-fed",
        job(task="train", model="rnn-fed", batch_tokens=1280, turn_tokens=8000),
        (Side("saccade"), Side("joeynmt"), Side("opennmt")),
    ),
    Case(
        "rnn-bahdanau",
        job(task="train", model="rnn-bahdanau", batch_tokens=1280, turn_tokens=8000),
        (Side("saccade"), Side("plain")),
    ),
    Case(
        "rnn-luong",
        job(task="train", model="rnn-luong", batch_tokens=1280, turn_tokens=8000),
        (Side("saccade"), Side("opennmt")),
    ),
    Case(
        "transformer-bfloat16",
        job(task="train"),
        (Side("saccade", precision="bfloat16"), Side("saccade"), Side("joeynmt"), Side("plain")),
    ),
    Case(
        "rnn-bahdanau-bfloat16",
        job(task="train", model="rnn-bahdanau", batch_tokens=1280, turn_tokens=8000),
        (Side("saccade", precision="bfloat16"), Side("saccade"), Side("plain")),
    ),
)

if __name__ == "__main__":
    main("Training beside the peers.", CASES)
