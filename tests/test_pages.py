"""What the pages show: their Python runs, their commands too, and both print what they say."""

import doctest
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from benchmarks import mixed_file
from numpy.testing import assert_allclose
from scipy import stats
from tests.laws.estimator_laws import check_estimator_laws
from tests.laws.family_laws import check_family
from typer.testing import CliRunner

from suffice import NaiveBayes
from suffice.cli.app import app
from suffice.models.generative.saved import SAVED
from suffice.sums.batch import Batch
from suffice.sums.block import RealBlock
from suffice.sums.vocabulary import Vocabulary

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TIME = re.compile(r"(?<= )[\d.]+(?=(  best)?$)")
SHOWN = re.compile(r"^ *print\(.*\)  # (.+)$")


def blocks(page: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def test_every_page_that_shows_python_is_run_here() -> None:
    shown = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert [page for page in shown if blocks(page)] == [
        "README.md",
        "docs/choosing_models.md",
        "docs/engines.md",
        "docs/extending.md",
        "docs/groups.md",
        "docs/how_it_works.md",
        "docs/index.md",
        "docs/pictures.md",
        "docs/privacy.md",
        "docs/probabilities.md",
        "docs/searchlight.md",
    ]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")


@pytest.fixture(scope="module")
def few_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixed") / "rows.parquet"
    mixed_file.write(path, 10_000, row_group=1_000)
    return path


@pytest.fixture
def rows(tmp_path: Path, few_rows: Path) -> Path:
    """A tenth of the rows that the page speaks of."""
    return Path(shutil.copy(few_rows, tmp_path))


@pytest.mark.usefixtures("rows")
def test_the_page_of_engines(capsys: pytest.CaptureFixture[str]) -> None:
    found = blocks("docs/engines.md")
    assert len(found) == 6
    namespace: dict[str, object] = {}
    for block in found:
        exec(block, namespace)
    lines = (line for block in found for line in block.replace("100000", "10000").splitlines())
    shown = [match[1] for line in lines if (match := SHOWN.match(line))]
    assert capsys.readouterr().out.splitlines() == shown


def test_the_python_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("README.md")
    exec(block, {})
    probabilities, evidence = capsys.readouterr().out.split("\n", 1)
    assert probabilities == "[[0.04 0.96]]"
    assert "size" in evidence
    assert Path("fruit.suffice").exists()


def test_the_first_page(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / "penguins" / "penguins.csv", tmp_path)
    (block,) = blocks("docs/index.md")
    test = doctest.DocTestParser().get_doctest(block, {}, "index.md", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_how_it_works(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("docs/how_it_works.md")
    exec(block, {})
    error, rates = capsys.readouterr().out.splitlines()
    assert float(error) == pytest.approx(0.158655253931457, rel=1e-12)
    assert [float(rate) for rate in rates.split()] == pytest.approx([0.15848, 0.15895], abs=1e-12)


def check_options(commands: str) -> None:
    """Check that commands have the options that a page shows."""
    for line in commands.splitlines():
        words = shlex.split(line, comments=True)
        options = {word for word in words if word.startswith("--")}
        helped = CliRunner().invoke(app, [words[1], "--help", "all"]).output
        assert all(option in helped for option in options)


def test_the_page_of_choosing_models(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = {}
    for block in blocks("docs/choosing_models.md"):
        exec(block, found)
    lines = capsys.readouterr().out.splitlines()
    ranked = repr(found["found"]).splitlines()
    assert lines[: len(ranked)] == ranked
    assert [line[:11].strip() for line in ranked[1:4]] == ["lda", "naive Bayes", "logistic"]
    gap, best, curve, *averaged = lines[len(ranked) :]
    loss = list(eval(curve).values())
    assert loss[0] > loss[-1] == min(loss)
    printed = repr(found["model"].candidates_).splitlines()
    assert averaged[: len(printed)] == printed
    assert averaged[len(printed)].startswith("Row 1: ")
    assert gap == f"log loss {found['gap'].mean:.3f} more, from {found['gap'].low:.3f} to " + (
        f"{found['gap'].high:.3f}"
    )
    assert eval(best) == found["search"].best_params_
    check_options("".join(blocks("docs/choosing_models.md", "sh")))


def test_the_page_of_privacy(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    for block in blocks("docs/privacy.md"):
        exec(block, namespace)
    printed = " ".join(capsys.readouterr().out.split())
    assert "rare value age 8 1 from 86.3411 to 86.5222; label ill" in printed
    assert "few numbers age 1 1 86.5; label ill" in printed


def test_the_page_of_probabilities(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = {}
    for block in blocks("docs/probabilities.md"):
        exec(block, found)
    *choices, weights, losses = capsys.readouterr().out.split("\n[[")[0].splitlines()
    assert [choice.partition(" ")[0] for choice in choices][2] == "kernel_density"
    model = found["model"]
    shown = [float(weight) for weight in weights.strip("[]").split()]
    assert shown == pytest.approx(model.calibration_.weights, abs=0.01)
    assert model.calibration_.weights[:2].max() < 0.8
    before, after = map(float, losses.split())
    assert after < before
    assert found["paired"] > 0.9 > 0.7 > found["alone"]
    check_options(blocks("docs/probabilities.md", "sh")[0])


def test_the_page_of_the_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    (block,) = blocks("docs/pictures.md")
    exec(block, {})
    plt.close("all")
    assert capsys.readouterr().out.splitlines() == ["2 against 1 1.7"]
    assert {file.name for file in tmp_path.glob("*.png")} == {"density.png"}


@pytest.fixture
def _in_a_folder_of_the_slice(data: Path, tmp_path: Path) -> None:
    for file in (data / "haxby_slice").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())


@pytest.mark.usefixtures("_in_a_folder_of_the_slice")
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_the_page_of_the_searchlight(
    few: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With fewer permutations than the page has, what depends on them is not compared."""
    pytest.importorskip("nibabel")
    pytest.importorskip("matplotlib")
    found = blocks("docs/searchlight.md")
    namespace: dict[str, object] = {}
    for block in found:
        exec(block.replace("permutations=200", "permutations=19") if few else block, namespace)
    lines = [line for block in found for line in block.splitlines() if SHOWN.match(line)]
    printed = capsys.readouterr().out.splitlines()
    for said, line in zip(printed, lines, strict=True):
        assert SHOWN.sub(r"\1", line) == said or (few and ("fwe" in line or "_p_" in line))
    assert len(list(tmp_path.glob("*.png"))) == 3
    ((command, lines),) = dialogues("docs/searchlight.md")
    command = command.replace("--permutations 200", "--permutations 19")  # the first line stays
    assert suffice(command).splitlines()[0] == lines[0]


# -- the commands that the pages show


def suffice(command: str) -> str:
    """What a command of the shell prints."""
    program, *words = shlex.split(command, comments=True)
    assert program == "suffice"
    done = CliRunner().invoke(app, words, prog_name="suffice")
    assert done.exit_code == 0, (command, done.stderr)
    return done.stdout


def dialogues(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands that a page shows with what they print."""
    for block in blocks(page, "console"):
        for said in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = said.splitlines()
            yield command, lines


def test_the_commands_of_the_readme() -> None:
    for command in ("demo --files .", "split wines.csv --label cultivar --test 0.5"):
        suffice(f"suffice {command}")
    shown = list(dialogues("README.md"))
    assert len(shown) == 6
    for command, (*expected, end) in shown:
        printed = suffice(command).splitlines()[: len(expected)]
        if " cv " in command:  # seconds differ
            printed, expected = ([TIME.sub("", one) for one in x] for x in (printed, expected))
        assert [one.split() for one in printed] == [one.split() for one in expected], command
        assert end == "..."


def test_the_commands_of_the_example(data: Path, tmp_path: Path) -> None:
    for name in ("adult.data", "adult.test"):
        (tmp_path / name).symlink_to(data / "adult" / name)
    (block,) = blocks("docs/example_adult.md", "sh")
    fit, evaluate = block.replace("\\\n", " ").splitlines()
    suffice(fit)
    assert "13.10 %" in suffice(evaluate)


# -- the family that the page for contributors makes


@pytest.fixture
def exponential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file that the page shows, in place."""
    (source,) = blocks("docs/extending.md")
    path = tmp_path / "exponential.py"
    path.write_text(source)
    spec = spec_from_file_location("exponential", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "exponential", module)
    spec.loader.exec_module(module)
    return module


def waits(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Waiting times in two columns, with gaps, in three classes of which one has no time at all."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n).astype(np.intp)
    x = rng.exponential(1.0 + codes[:, None], (n, 2))
    x[rng.random(x.shape) < 0.2] = np.nan
    x[codes == 2] = np.nan
    return x, codes


@pytest.mark.parametrize("estimation", ["bayes", "mle", "map"])
def test_a_new_family_keeps_the_laws(exponential: ModuleType, estimation: str) -> None:
    family = exponential.Exponential(alpha=1.5, estimation=estimation)
    assert family.name == "exponential"
    classes = Vocabulary(("often", "seldom", "never"))
    batches = []
    for n, seed in ((30, 0), (1, 1), (0, 2), (17, 3)):
        x, codes = waits(n, seed)
        weights = np.random.default_rng(seed).integers(0, 4, n) / 2
        batches.append(Batch(n, (RealBlock(x),), codes, classes, weights))
    check_family(family, batches)


def test_a_new_family_works_at_once(exponential: ModuleType) -> None:
    x, codes = waits(60)
    x[codes == 2, 0] = 5.0
    kind = np.array(["often", "seldom", "never"])[codes]
    table = pa.table({"wait": x[:, 0], "kind": kind})
    model = NaiveBayes.textbook({"wait": exponential.Exponential(estimation="mle")})
    model.fit(table, "kind")
    mean = [np.nanmean(x[kind == label, 0]) for label in model.classes_]
    wait = np.array([0.0, 0.5, 3.0])
    expected = np.log(model.class_prior_) + stats.expon.logpdf(wait[:, None], scale=mean)
    assert_allclose(model.predict_joint_log_proba({"wait": wait}), expected, rtol=1e-13)


def test_a_new_family_that_joined_the_library_keeps_the_laws_of_models(
    exponential: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = exponential.Exponential
    monkeypatch.setitem(SAVED, family.__name__, family)  # the last step, so that it can be saved
    x, codes = waits(60)
    kind = np.array(["often", "seldom", "never"])[codes]
    table = pa.table({"wait": x[:, 0], "other": x[:, 1], "kind": kind})
    families = {"wait": family(), "other": "gaussian"}
    check_estimator_laws(lambda: NaiveBayes.textbook(families), table, "kind")
