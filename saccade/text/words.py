"""From weights between tokens to weights between words."""

import numpy as np
from numpy.typing import NDArray


def merge_to_words(
    weights: NDArray[np.float32], rows: list[int], columns: list[int], *, words: int
) -> NDArray[np.float32]:
    """The weights of words, from those of their tokens: `[..., T, S]` -> `[..., target words, source words]`.

    What a token looks at in a source word is the **sum** over the word's tokens, so that a row still sums to what it
    summed to. What a target word looks at is the **mean** over its tokens. `rows` and `columns` say of each token which
    word it belongs to; there are `words` source words, and one without tokens is looked at by nobody.
    """
    by_column = np.zeros((*weights.shape[:-1], words), dtype=weights.dtype)
    for index, word in enumerate(columns):
        by_column[..., word] += weights[..., index]
    merged = np.zeros((*weights.shape[:-2], max(rows) + 1, by_column.shape[-1]), dtype=weights.dtype)
    for index, word in enumerate(rows):
        merged[..., word, :] += by_column[..., index, :] / rows.count(word)
    return merged
