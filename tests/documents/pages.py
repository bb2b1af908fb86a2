"""What people read, taken apart: sections, and in each of them blocks of code, `spans`, and links."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
DOCUMENTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *PAGES]

COMMANDS = ""  # the language of blocks that are indented
_OPERATORS = frozenset("();<>|&")


class Block(NamedTuple):
    """Lines of code: of a fence, or indented, as command lines are here."""

    language: str
    text: str


class Section(NamedTuple):
    """What stands between two headings."""

    level: int  # of the heading: 1 is the title, 0 is of what stands before it
    heading: str
    blocks: list[Block]
    spans: list[str]  # what stands between backticks, each on one line
    links: list[str]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sections_of(document: Path) -> list[Section]:
    """All of a document, in its order; what stands before the first heading is a section without one."""
    return read_sections(document.read_text(encoding="utf-8"))


def read_sections(text: str) -> list[Section]:
    found: list[Section] = []
    level, heading, prose, blocks = 0, "", list[str](), list[Block]()
    lines = [*text.split("\n"), "# "]  # a heading more, which ends the last section
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"( *)```(.*)", line)
        if fence:
            end = lines.index(f"{fence[1]}```", at + 1)
            code = [inner.removeprefix(fence[1]) for inner in lines[at + 1 : end]]
            blocks.append(Block(fence[2] or "text", "\n".join(code) + "\n"))
            at = end
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = next(n for n in range(at, len(lines)) if lines[n].strip() and not lines[n].startswith("    "))
            blocks.append(Block(COMMANDS, "\n".join(inner[4:] for inner in lines[at:end])))
            at = end - 1
        elif re.match(r"#+ ", line):
            found.append(_section(level, heading, prose, blocks))
            level, heading, prose, blocks = line.index(" "), line.lstrip("#").strip(), [], []
        else:
            prose.append(line)
        at += 1
    return found


def _section(level: int, heading: str, prose: list[str], blocks: list[Block]) -> Section:
    text = "\n".join(prose)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", f"{heading}\n{text}")]
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    return Section(level, heading, blocks, spans, links)


def anchors_of(document: Path) -> set[str]:
    """What a link may name behind its #: every heading, in small letters, with hyphens for spaces and no signs."""
    headings = [section.heading for section in sections_of(document) if section.heading]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def command_lines(block: Block) -> list[str]:
    """The lines of a block as a shell has them: those that end with a backslash go on."""
    return [line for line in block.text.replace("\\\n", " ").split("\n") if line.strip()]


def split_line(line: str) -> list[list[str]]:
    """The commands of a line, word by word, without comments, variables before a command, and files behind a >."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    words = iter(lexer)
    for word in words:
        if word in (">", "<"):
            next(words)
        elif set(word) <= _OPERATORS:
            commands.append([])
        elif commands[-1] or not re.fullmatch(r"[A-Z_]+=\S*", word):
            commands[-1].append(word)
    return commands
