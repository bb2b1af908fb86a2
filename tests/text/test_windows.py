"""Streams that are longer than the context, in windows."""

import pytest

from saccade.text.windows import Window, sliding_stride, window_begin, windows


@pytest.mark.parametrize("context", [2, 3, 8, 9])
@pytest.mark.parametrize("length", [2, 3, 7, 8, 9, 10, 40])
def test_each_token_is_a_target_once_and_is_foreseen_from_what_it_should(context: int, length: int) -> None:
    for stride in {context, sliding_stride(context), 1}:
        found = list(windows(length, context=context, stride=stride))
        targets = [token for one in found for token in range(one.first + one.seen + 1, one.end + 1)]
        assert targets == list(range(1, length))
        assert all(0 < one.end - one.first <= context for one in found)
        before = {token: token - one.first for one in found for token in range(one.first + one.seen + 1, one.end + 1)}
        # all of the stream, or more than what the window has of the one before it
        assert all(seen == token <= context or seen > context - stride for token, seen in before.items())
        for token, seen in before.items():
            assert token - seen == window_begin(token, context=context, stride=stride)


def test_windows_worked_by_hand() -> None:
    """Of eight tokens, of which the first is not foreseen."""
    assert list(windows(8, context=4, stride=4)) == [Window(0, 4, 0), Window(4, 7, 0)]
    assert list(windows(8, context=4, stride=2)) == [Window(0, 4, 0), Window(2, 6, 2), Window(4, 7, 2)]
    assert list(windows(2, context=4, stride=2)) == [Window(0, 1, 0)]
    assert [window_begin(inputs, context=8, stride=4) for inputs in (1, 8, 9, 12, 13, 17)] == [0, 0, 4, 4, 8, 12]


def test_half_of_a_context_is_read_anew() -> None:
    assert [sliding_stride(context) for context in (2, 3, 8, 9, 64)] == [1, 2, 4, 5, 32]
