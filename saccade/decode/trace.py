"""What a beam search tried: every hypothesis that was kept or finished, and its parent."""

from typing import NamedTuple

from torch import Tensor


class Branch(NamedTuple):
    """One token of the tree of hypotheses."""

    parent: int | None  # its index in the list of branches; None: the first token
    token: int
    log_prob: float  # of everything up to here
    score: float | None  # log probability with penalties, of a hypothesis that ends here


class Trace:
    """Is given to `beam_search` and filled by it: for each sentence its branches, parents before children."""

    def __init__(self) -> None:
        self.branches: list[list[Branch]] = []
        self._rows: list[tuple[int, int | None]] = []  # for each row of the search, its sentence and its branch so far

    def begin(self, sentences: int, beam: int) -> None:
        self.branches = [[] for _ in range(sentences)]
        self._rows = [(sentence, None) for sentence in range(sentences) for _ in range(beam)]

    def end(self, row: int, token: int, log_prob: float, score: float) -> None:
        """The hypothesis of a row ends with this token."""
        sentence, parent = self._rows[row]
        self.branches[sentence].append(Branch(parent, token, log_prob, score))

    def extend(self, rows: Tensor, tokens: Tensor, log_probs: Tensor) -> None:
        """The hypotheses that are kept, `[R]`: each is that of one of the rows before, with one more token."""
        following: list[tuple[int, int | None]] = []
        for row, token, log_prob in zip(rows.tolist(), tokens.tolist(), log_probs.tolist(), strict=True):
            sentence, branch = self._rows[row]
            if log_prob > float("-inf"):  # where there are fewer continuations than beams, the rest stay empty
                self.branches[sentence].append(Branch(branch, token, log_prob, None))
                branch = len(self.branches[sentence]) - 1
            following.append((sentence, branch))
        self._rows = following


class _NoTrace(Trace):
    """Nothing is written down, at no cost."""

    def begin(self, sentences: int, beam: int) -> None: ...

    def end(self, row: int, token: int, log_prob: float, score: float) -> None: ...

    def extend(self, rows: Tensor, tokens: Tensor, log_probs: Tensor) -> None: ...


NO_TRACE = _NoTrace()


class TreeNode(NamedTuple):
    """One token of the hypotheses that a beam search tried."""

    parent: int | None  # the index of the token before it; None: it is a first token
    piece: str  # as the vocabulary writes it
    log_prob: float  # of everything up to here
    score: float | None  # with penalties, of a hypothesis that ends here
