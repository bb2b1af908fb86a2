"""The panels of a machine: which locations of the ring are shown, and that what is drawn is what was done."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import AxesImage

from saccade.base.errors import InputError
from saccade.look import figure_bytes
from saccade.tasks.algorithms.figure import draw_trace, save_trace, used_locations
from saccade.tasks.algorithms.problems import make_episodes
from tests.tasks.algorithms.test_model import by_hand, make


def weights_at(*locations: int, count: int = 10) -> np.ndarray:
    """One head that is at these locations, one after the other."""
    return np.eye(count, dtype=np.float32)[list(locations)][None]


@pytest.mark.parametrize(
    ("locations", "shown"),
    [
        ((3, 4, 5), [2, 3, 4, 5, 6]),
        ((0, 9, 8), [7, 8, 9, 0, 1]),  # around the end
        ((4,), [3, 4, 5]),
        ((0, 5), [4, 5, 6, 7, 8, 9, 0, 1]),  # of two stretches as long, one is left out
        (tuple(range(10)), list(range(10))),
    ],
)
def test_the_longest_stretch_of_nothing_is_not_shown(locations: tuple[int, ...], shown: list[int]) -> None:
    assert used_locations(weights_at(*locations)) == shown


def test_heads_that_are_nowhere_in_particular_show_the_whole_memory() -> None:
    assert used_locations(np.full((1, 3, 30), 1 / 30, np.float32)) == list(range(30))


def test_each_panel_has_its_numbers() -> None:
    machine = make(read_heads=2)
    episodes = make_episodes(machine.settings.data, 1, seed=0, length=4)
    trace = machine.trace(episodes.inputs[0])
    figure = draw_trace(trace, episodes.phases, title="a title")
    drawn = {
        axes.get_title(): np.asarray(image.get_array())
        for axes in figure.axes
        for image in axes.get_children()
        if isinstance(image, AxesImage)
    }
    locations = used_locations(trace.weights)
    np.testing.assert_array_equal(drawn["inputs"], trace.inputs.T)
    np.testing.assert_array_equal(drawn["outputs"], trace.outputs.T)
    np.testing.assert_array_equal(drawn["adds"], trace.adds[0].T)
    np.testing.assert_array_equal(drawn["reads, head 2"], trace.reads[1].T)
    np.testing.assert_array_equal(drawn["write weightings"], trace.write_weights[0][:, locations].T)
    np.testing.assert_array_equal(drawn["read weightings, head 1"], trace.read_weights[0][:, locations].T)


def test_scales_do_not_depend_on_the_numbers() -> None:
    machine = by_hand()
    trace = machine.trace(make_episodes(machine.settings.data, 1, seed=0, length=4).inputs[0])
    limits = {
        axes.get_title(): image.get_clim()
        for axes in draw_trace(trace).axes
        for image in axes.get_children()
        if isinstance(image, AxesImage)
    }
    assert limits["inputs"] == limits["outputs"] == limits["write weightings"] == limits["read weightings"] == (0, 1)
    assert limits["adds"] == limits["reads"] == (-1, 1)


def test_another_kind_of_file_is_refused() -> None:
    machine = by_hand()
    trace = machine.trace(make_episodes(machine.settings.data, 1, seed=0, length=2).inputs[0])
    with pytest.raises(InputError, match=r"\.png"):
        save_trace("steps.gif", trace)


def test_a_step_stands_at_the_same_x_in_all_rows() -> None:
    machine = make()
    episodes = make_episodes(machine.settings.data, 1, seed=0, length=4)
    figure = draw_trace(machine.trace(episodes.inputs[0]), episodes.phases, title="long " * 40)
    figure.draw_without_rendering()
    edges = {(round(box.x0, 4), round(box.x1, 4)) for box in (axes.get_position() for axes in figure.axes)}
    shown = {(round(box.x0), round(box.x1)) for box in (axes.get_window_extent() for axes in figure.axes)}
    assert len(figure.axes) == 10  # four rows of two, and two scales more
    assert len(shown) == 2, edges


def test_titles_and_phases_of_strange_characters() -> None:
    machine = by_hand()
    trace = machine.trace(make_episodes(machine.settings.data, 1, seed=0, length=2).inputs[0])
    figure = draw_trace(trace, [("out\x00", 2)], title="copy\x1b $ \udcff")
    content = figure_bytes(figure, "svg")
    ET.fromstring(content)  # noqa: S314 - our own file
    assert "phase-out�" in content.decode()
    assert "copy� $ �" in content.decode()
