"""A lesson as one HTML file that needs nothing else: no network, no script, light and dark."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from saccade.base.files import write_file
from saccade.look import drawable
from saccade.show._numbers import holds_numbers
from saccade.show._svg import STYLE, bars_svg, curves_svg, legend, matrix_svg
from saccade.show.lesson import Bars, Block, Curves, Lesson, Matrix, Table, Text

# Nothing may be fetched and nothing run, whatever stands in the file.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""

_STYLE = """
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem }
p { margin: 0 0 1rem }
figure { margin: 1.5rem 0; overflow-x: auto }
figcaption { font-size: 0.9rem; color: var(--faint); margin-bottom: 0.5rem }
table { border-collapse: collapse; font-size: 0.9rem }
th, td { padding: 0.25rem 1.25rem 0.25rem 0; text-align: left; vertical-align: top }
th { border-bottom: 1px solid var(--line); vertical-align: bottom }
td { border-bottom: 1px solid var(--line) }
th:last-child, td:last-child { padding-right: 0 }
.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: 0.9em; background: var(--shade); padding: 0.1em 0.3em; border-radius: 3px }
.paper { color: var(--faint); font-size: 0.9rem; margin-top: 2rem }
"""


def as_page(lesson: Lesson) -> str:
    """The page itself."""
    body = [line for block in lesson.blocks for line in _draw_block(block)]
    if lesson.paper:
        body.append(f'<p class="paper">{_escape(lesson.paper)}</p>')
    style = STYLE + _STYLE
    return _PAGE.format(policy=html.escape(_POLICY), title=_escape(lesson.title), style=style, body="\n".join(body))


def save_page(path: Path, lesson: Lesson) -> None:
    """Write the page, whole or not at all."""
    write_file(path, as_page(lesson).encode("utf-8"))


def _draw_block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield from (f"<p>{_with_code(paragraph)}</p>" for paragraph in block.paragraphs)
            return
        case Table():
            body = "\n".join(_draw_table(block))
        case Curves():
            body = curves_svg(block) + legend(block)
        case Matrix():
            body = matrix_svg(block)
        case Bars():
            body = bars_svg(block)
    caption = f"<figcaption>{_escape(block.caption)}</figcaption>\n" if block.caption else ""
    yield f"<figure>\n{caption}{body}\n</figure>"


def _draw_table(table: Table) -> Iterator[str]:
    kinds = [' class="number"' if holds_numbers(table, index) else "" for index in range(len(table.header))]
    header = "".join(f"<th{kind}>{_escape(name)}</th>" for kind, name in zip(kinds, table.header, strict=True))
    yield f"<table>\n<thead><tr>{header}</tr></thead>\n<tbody>"
    for row in table.rows:
        cells = "".join(f"<td{kind}>{_escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        yield f"<tr>{cells}</tr>"
    yield "</tbody>\n</table>"


def _escape(text: str) -> str:
    return html.escape(drawable(text))


def _with_code(text: str) -> str:
    """What stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _escape(text))
