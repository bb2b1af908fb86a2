"""What a Neural Turing Machine does, step by step: the six panels of Graves 2014, figure 6, and a table in plain text.

Time goes across, locations of the memory go down. Scales are fixed: 0 to 1 for bits and weightings, -1 to 1 for what is
added and read, so that two figures can be laid side by side.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.files import write_file
from saccade.look import drawable, figure_bytes
from saccade.look.figure import form_of
from saccade.look.maps import as_path, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saccade.tasks.algorithms.trace import Trace

Phases = Sequence[tuple[str, int]]  # what begins at which step

_ONE_WAY, _TWO_WAYS = "Blues", "RdBu_r"
_LINES = ("g", "β", "γ", "shift")


def draw_trace(trace: "Trace", phases: Phases = (), *, title: str = "") -> "Figure":
    """Inputs and outputs, adds and reads, write and read weightings; below them g, β, γ and the mean shift.

    Several heads of a kind stand side by side. Only the locations that some head ever looked at are shown; as the
    memory is a ring, they may go on with the first after the last.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only figures need

    wide = 2.4 + 0.07 * len(trace.inputs)
    across = max(len(trace.adds), len(trace.reads))
    figure = Figure(figsize=(min(30.0, 2 * across * wide), 10.0), layout="constrained")
    sides: Any = figure.subfigures(1, 2)
    left, right = sides
    locations = used_locations(trace.weights)
    for side, top, middle, bottom, names in (
        (left, trace.inputs, trace.adds, trace.write_weights, ("inputs", "adds", "write weightings")),
        (right, trace.outputs, trace.reads, trace.read_weights, ("outputs", "reads", "read weightings")),
    ):
        # one grid, so that a step stands at the same place in all rows
        grid = side.add_gridspec(4, len(bottom), height_ratios=[1.0, 1.6, 2.6, 1.6])
        _panel(side.add_subplot(grid[0, :]), top.T, names[0], lowest=-1 if (top < 0).any() else 0, phases=phases)
        for head in range(len(bottom)):
            number = "" if len(bottom) == 1 else f", head {head + 1}"
            second, third, fourth = (side.add_subplot(grid[row, head]) for row in (1, 2, 3))
            _panel(second, middle[head].T, names[1] + number, lowest=-1, phases=phases)
            _panel(third, bottom[head][:, locations].T, names[2] + number, lowest=0, phases=phases)
            _name_locations(third, locations)
            _curves(fourth, trace, head + len(trace.reads) if side is left else head, phases)
    if title:
        figure.suptitle(plain(textwrap.fill(title, 90)), fontsize=11)
    return figure


def save_trace(file: str | Path, trace: "Trace", phases: Phases = (), *, title: str = "") -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF."""
    file = as_path(file)
    form = form_of(file)
    write_file(file, figure_bytes(draw_trace(trace, phases, title=title), form))


def steps_of(trace: "Trace", phases: Phases = ()) -> list[str]:
    """A line for each step: what went in, what came out, and where each head was, with its weight there."""
    starts = {step: name for name, step in phases}
    heads = [f"read {number + 1}" for number in range(len(trace.reads))]
    heads += [f"write {number + 1}" for number in range(len(trace.adds))]
    width = max(trace.inputs.shape[1], 6), max(trace.outputs.shape[1], 7)
    lines = [f"{'step':>4}  {'input':<{width[0]}}  {'output':<{width[1]}}" + "".join(f"  {head:>10}" for head in heads)]
    for step in range(len(trace.inputs)):
        if step in starts:
            lines.append(f"{starts[step]}:")
        found = [(int(row.argmax()), float(row.max())) for row in trace.weights[:, step]]
        locations = "".join(f"  {f'{location} ({weight:.2f})':>10}" for location, weight in found)
        into, out = _bits(trace.inputs[step]), _bits(trace.outputs[step])
        lines.append(f"{step:>4}  {into:<{width[0]}}  {out:<{width[1]}}{locations}")
    return lines


def _bits(numbers: NDArray[np.float32]) -> str:
    return "".join("1" if number > 0.5 else "0" if number > -0.5 else "-" for number in numbers)


def used_locations(weights: NDArray[np.float32], *, least: float = 0.05) -> list[int]:
    """Where the heads `[H, T, N]` ever were, with what lies between: all of the ring but its longest empty stretch.

    One location to each side of it belongs to the picture.
    """
    count = weights.shape[2]
    where = np.flatnonzero((weights > least).any(axis=(0, 1))).tolist()
    if not where:
        return list(range(count))
    gaps = [((after - before - 1) % count, after) for before, after in zip([where[-1], *where], where, strict=False)]
    longest, first = max(gaps) if len(where) > 1 else (count - 1, where[0])
    if longest <= 2:
        return list(range(count))
    shown = count - longest + 2
    return [(first - 1 + number) % count for number in range(shown)]


def _panel(axes: "Axes", numbers: NDArray[np.float32], name: str, *, lowest: float, phases: Phases) -> None:
    """Numbers `[down, time]`."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    down, time = numbers.shape
    axes.imshow(
        numbers,
        cmap=_ONE_WAY if lowest == 0 else _TWO_WAYS,
        vmin=lowest,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        extent=(0, time, down, 0),
    )
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(name, fontsize=9)
    axes.tick_params(labelsize=7)
    _mark(axes, phases)


def _name_locations(axes: "Axes", locations: list[int]) -> None:
    """A label for some of the locations, whose numbers may begin anew after the last."""
    step = max(1, round(len(locations) / 12))
    axes.set_yticks(
        [row + 0.5 for row in range(0, len(locations), step)], [str(location) for location in locations[::step]]
    )
    axes.set_ylabel("location", fontsize=8)


def _curves(axes: "Axes", trace: "Trace", head: int, phases: Phases) -> None:
    """g, β, γ and the shift of one head; those that have no upper bound on the scale of the right."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    steps = np.arange(len(trace.inputs)) + 0.5
    bounded, free = axes, axes.twinx()
    series = zip(_LINES, (trace.gates, trace.betas, trace.gammas, trace.shifts), strict=True)
    for number, (name, numbers) in enumerate(series):
        on = bounded if name in ("g", "shift") else free
        on.plot(steps, numbers[head], color=f"C{number}", linewidth=1, label=name)
    bounded.set_ylim(-1.05, 1.05)
    free.set_ylim(bottom=0)
    bounded.set_xlim(0, len(steps))
    bounded.xaxis.set_major_locator(MaxNLocator(integer=True))
    bounded.set_xlabel("step", fontsize=8)
    for one in (bounded, free):
        one.tick_params(labelsize=7)
    handles = [*bounded.get_lines(), *free.get_lines()]
    bounded.set_ylabel("g, shift", fontsize=8)
    free.set_ylabel("β, γ", fontsize=8)
    bounded.legend(handles=handles, fontsize=7, ncol=4, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    _mark(bounded, phases)


def _mark(axes: "Axes", phases: Phases) -> None:
    """A line where a phase begins."""
    for name, step in phases:
        if step:
            axes.axvline(step, color="0.4", linewidth=0.8, linestyle=":", gid=f"phase-{drawable(name)}")
