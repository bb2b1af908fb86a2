"""`saccade look` and `saccade align`, as a person runs them."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import saccade
from saccade.cli.main import main
from saccade.look import as_pharaoh, links, load_map
from saccade.tasks.translation.maps import map_for_alignment, maps_of
from saccade.tasks.translation.model import Translator
from tests.tasks.translation.test_model import make

SENTENCE = "Dienstag, 9. November 2026"
PAIRS = [(SENTENCE, "2026-11-09"), ("le 9 mai 2026", "2026-05-09")]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Transformer, an RNN, and an RNN without attention; none of them has learnt anything."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("transformer", "rnn", "rnn none"):
        make(name).save(folder / name / "model")
    return folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that goes well prints."""
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command that cannot be done gives."""
    try:
        code = main(arguments)
    except SystemExit as error:
        code = error.code
    assert code == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


def test_a_map_in_the_terminal(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "look", str(models / "rnn" / "model"), SENTENCE, "--target", "2026-11-09 x")
    lines = out.splitlines()
    assert lines[0].startswith("rnn: 2026-11-09 x (log probability -")
    rows = [line for line in lines if line.lstrip().startswith(("2026-11-09  ", "x  ", "</s>  "))]
    assert len(rows) == 3
    assert max(map(len, lines)) <= 80
    decoding = saccade.load(models / "rnn" / "model", Translator).score([SENTENCE], ["2026-11-09 x"])[0]
    shades = "·░▒▓█"
    for line, weights in zip(rows, maps_of(decoding)[0].matrix(), strict=True):
        assert line.split()[1:] == [shades[min(4, int(weight * 5))] * 2 for weight in weights]


def test_files(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = {form: tmp_path / f"map.{form}" for form in ("html", "png", "svg", "pdf")}
    options = [word for form, path in paths.items() for word in (f"--{form}", str(path))]
    model = models / "transformer" / "model"
    which = ["--layer", "2", "--head", "3", "--kind", "decoder"]
    assert main(["look", str(model), SENTENCE, *which, *options, "--json"]) == 0
    printed, told = capsys.readouterr()
    assert {f"written: {path}" for path in paths.values()} <= set(told.splitlines())
    (tmp_path / "map.json").write_text(printed)
    found = saccade.load(model, Translator).translate([SENTENCE], attention=True)[0]
    kept = load_map(tmp_path / "map.json")
    assert kept.kind == "decoder"
    np.testing.assert_allclose(kept.weights, maps_of(found)[2].weights[1:2, 2:3], atol=1e-6)
    page = paths["html"].read_text()
    assert '"kind": "cross"' in page
    assert '"first": {"map": 2, "layer": 1, "head": 2}' in page
    assert '"piece"' in page  # the beam search's tree
    for form in ("png", "svg", "pdf"):
        assert paths[form].stat().st_size > 1000


def test_two_models_on_a_page(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = str(models / "rnn" / "model"), str(models / "transformer" / "model")
    said(capsys, "look", first, SENTENCE, "--compare", second, "--html", str(tmp_path / "both.html"))
    page = (tmp_path / "both.html").read_text()
    assert page.count('"title"') == 2
    out = said(capsys, "look", first, SENTENCE, "--compare", second)
    assert "rnn: " in out
    assert "transformer: " in out


def test_two_models_in_figures(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = str(models / "rnn" / "model"), str(models / "transformer" / "model")
    paths = {form: tmp_path / f"both.{form}" for form in ("html", "png", "svg", "pdf")}
    options = [word for form, path in paths.items() for word in (f"--{form}", str(path))]
    assert main(["look", first, SENTENCE, "--compare", second, "--target", "2026-11-09", *options]) == 0
    assert set(capsys.readouterr().err.splitlines()) == {f"written: {path}" for path in paths.values()}
    root = ET.fromstring(paths["svg"].read_bytes())  # noqa: S314 - our own file
    texts = " ".join("".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "rnn: 2026-11-09" in texts
    assert "transformer: 2026-11-09" in texts
    assert texts.count("</s>") == 4  # at the end of the rows and of the columns of each
    said(capsys, "look", first, SENTENCE, "--target", "2026-11-09", "--png", str(tmp_path / "one.png"))
    with Image.open(paths["png"]) as both, Image.open(tmp_path / "one.png") as one:
        assert both.width > 1.5 * one.width
    assert paths["pdf"].read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["\udcff"], "SENTENCE: not UTF-8, from letter 1 on"),
        ([SENTENCE, "--target", "ab\udce4"], "--target: not UTF-8, from letter 3 on"),
        ([SENTENCE, "--title", "\udce4"], "--title: not UTF-8"),
        ([SENTENCE, "--html", "no/page.html"], "no/page.html cannot be written: there is no folder"),
        ([SENTENCE, "--html", "."], ". cannot be written: it is a folder"),
        ([SENTENCE, "--pdf", "no/page.pdf"], "no/page.pdf cannot be written: there is no folder"),
        ([SENTENCE, "--svg", "page.png"], "--svg: found page.png, wanted a name that ends in .svg"),
        (["--png", "no/map.png"], "no/map.png cannot be written: there is no folder"),
        ([" "], "SENTENCE: found nothing but space"),
        ([SENTENCE, "--target", " "], "--target: found nothing but space"),
    ],
    ids=ascii,
)
def test_what_cannot_be_done_is_refused_before_a_model_is_read(
    options: list[str],
    message: str,
    models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Translator, "load", lambda folder: pytest.fail("the model is read"))
    assert message in refused(capsys, "look", str(models / "rnn" / "model"), *options)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_not_utf8(models: Path, tmp_path: Path) -> None:
    """A folder and a file may be called anything; what cannot be written of it has a sign in its place."""
    (tmp_path / "m\udcff").symlink_to(models / "rnn")
    command = [sys.executable, "-m", "saccade.cli.main", "look", f"{tmp_path}/m\udcff/model", SENTENCE]
    page = tmp_path / "p\udcff.html"
    for options, says in ((["--html", str(page)], f"written: {tmp_path}/p�.html\n"), ([], "m�: ")):
        ran = subprocess.run([*command, *options], capture_output=True, check=True)  # noqa: S603
        assert says in (ran.stderr if options else ran.stdout).decode()
    assert '"title": "m\\ufffd: ' in page.read_text()


def test_links_in_pharaohs_form(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for index, name in enumerate(("source", "target")):
        (tmp_path / name).write_text("".join(f"{pair[index]}\n" for pair in PAIRS))
    model = str(models / "transformer" / "model")
    files = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    out = said(capsys, "align", model, *files, "--layer", "1", "--head", "2")
    decodings = saccade.load(model, Translator).score([source for source, _ in PAIRS], [target for _, target in PAIRS])
    wanted = [links(maps_of(decoding)[0], layer=0, head=1) for decoding in decodings]
    assert [[tuple(map(int, link.split("-"))) for link in line.split()] for line in out.splitlines()] == wanted

    others = [next(i for i in range(4) if (i, 0) not in line) for line in wanted]  # a link more, in each pair
    gold = [as_pharaoh([*line, (other, 0)]) for line, other in zip(wanted, others, strict=True)]
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in gold))
    scored = said(
        capsys, "align", model, *files, "--layer", "1", "--head", "2", "--gold", str(tmp_path / "gold"), "--json"
    )
    count = sum(map(len, wanted))
    assert json.loads(scored)["recall"] == pytest.approx(100 * count / (count + 2), abs=0.01)
    assert json.loads(scored)["precision"] == (100.0 if count else 0.0)
    said(capsys, "align", model, *files, "--reverse", model, "--output", str(tmp_path / "links"))
    assert len((tmp_path / "links").read_text().splitlines()) == 2


def test_bad_input(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rnn, none = str(models / "rnn" / "model"), str(models / "rnn none" / "model")
    assert "this model looks at nothing" in refused(capsys, "look", none, SENTENCE)
    assert "--kind: found encoder, which this model does not have; it has cross" in refused(
        capsys, "look", rnn, SENTENCE, "--kind", "encoder"
    )
    assert "--layer: found 2, wanted 1 to 1" in refused(capsys, "look", rnn, SENTENCE, "--layer", "2")
    page = tmp_path / "page.html"
    refused(capsys, "look", rnn, SENTENCE, "--layer", "2", "--html", str(page))
    assert not page.exists()  # nothing is written before all is known to be right
    assert "found nothing but space" in refused(capsys, "look", rnn, "  ")
    assert "a model that translates, and does not take it" in refused(capsys, "look", rnn, SENTENCE, "--swap", "1", "2")
    assert "wanted a name that ends in .png" in refused(capsys, "look", rnn, SENTENCE, "--png", "x.svg")
    assert "--json: it is the numbers of one map" in refused(capsys, "look", rnn, SENTENCE, "--compare", rnn, "--json")
    (tmp_path / "file").write_text("a\nb\n")
    assert "cannot be written" in refused(capsys, "look", rnn, SENTENCE, "--html", str(tmp_path / "file" / "page.html"))
    files = ["--source", str(tmp_path / "file"), "--target", str(tmp_path / "file")]
    assert "wanted either --source and --target, or --table" in refused(capsys, "align", rnn)
    assert "looks at nothing" in refused(capsys, "align", none, *files)
    assert "none without --gold" in refused(capsys, "align", rnn, *files, "--json")
    assert "--head: found 3, wanted 1 to 1" in refused(capsys, "align", rnn, *files, "--head", "3")
    (tmp_path / "gold").write_text("0p0\n\n")
    assert "has no sure links" in refused(capsys, "align", rnn, *files, "--gold", str(tmp_path / "gold"))
    (tmp_path / "gold").write_text("0-0\n")
    assert "has 1 lines, wanted 2" in refused(capsys, "align", rnn, *files, "--gold", str(tmp_path / "gold"))


def test_what_would_be_ignored_is_refused(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rnn = str(models / "rnn" / "model")
    assert "--grid: it is for figures" in refused(capsys, "look", rnn, SENTENCE, "--grid")
    assert "--target: found nothing but space" in refused(capsys, "look", rnn, SENTENCE, "--target", " ")
    (tmp_path / "file").write_text("a\nb c\n")
    files = ["--source", str(tmp_path / "file"), "--target", str(tmp_path / "file")]
    assert "--symmetrize: it is for two directions" in refused(capsys, "align", rnn, *files, "--symmetrize", "union")
    (tmp_path / "gold").write_text("0-0\n0-0 2p1\n")
    message = refused(capsys, "align", rnn, *files, "--gold", str(tmp_path / "gold"))
    assert "gold, line 2: found the link 2-1, but the pair has 2 and 2 words" in message


def test_links_a_step_later(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = models / "transformer" / "model"
    (tmp_path / "source").write_text("".join(f"{source}\n" for source, _ in PAIRS) + "x\n")
    (tmp_path / "target").write_text("".join(f"{target} x\n" for _, target in PAIRS) + "\n")
    files = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    lines = said(capsys, "align", str(model), *files, "--shift", "--layer", "2").splitlines()
    decodings = saccade.load(model, Translator).score(
        [source for source, _ in PAIRS], [f"{target} x" for _, target in PAIRS]
    )
    wanted = [as_pharaoh(links(map_for_alignment(decoding, shift=True), layer=1)) for decoding in decodings]
    assert lines == [*wanted, ""]
