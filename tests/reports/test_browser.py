"""The page in a real browser: Chromium, driven by Playwright."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import NaiveBayes

from .conftest import HOSTILE, LONG, MIXED, NUMBERS, messages, rows, ten_tables

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("jinja2", reason="Jinja2 is not installed")

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]
NAMES = ("bayes", "lda", "qda", "mixed", "logistic", "unpenalised", "linear", "multinomial")
AXE = os.environ.get("SUFFICE_AXE")  # the path of axe.min.js, of npm's package axe-core
SERIOUS = "r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target).join(' '))"


@pytest.fixture(scope="module")
def pages(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        columns = {"linear": [*NUMBERS, LONG, "other"], "mixed": [*MIXED, "y"]}.get(name)
        test = None if columns is None else rows(300, 1)[columns]
        suffice.report(models[name][0], folder / f"{name}.html", test)
    suffice.report(models["weights"][0], folder / "weights.html", rows(300, 1))
    suffice.report(models["text"][0], folder / "text.html", messages(60, 1))
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class Reader:
    """A browser with one page open; what went wrong in it is kept."""

    def __init__(self, chromium: Any, pages: Path) -> None:
        self.context = chromium.new_context(viewport={"width": 1280, "height": 900})
        self.page = self.context.new_page()
        self.pages = pages
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith("file:"):
            self.wrong.append(request.url)

    def open(self, name: str, fragment: str = "") -> Any:
        self.page.goto("about:blank")
        self.page.goto((self.pages / f"{name}.html").as_uri() + fragment)
        return self.page

    def answer(self) -> str:
        return str(self.page.locator(".sentence").inner_text())

    def tell(self, column: str, cell: Any) -> None:
        """Answer the question of a column, whatever its control is."""
        control = self.page.get_by_label(column, exact=True).first
        tag = control.evaluate("e => e.tagName")
        if tag == "DIV":
            control.get_by_label(str(cell), exact=True).check()
        elif tag == "SELECT":
            control.select_option(label=str(cell))
        else:
            control.fill(str(cell))

    def probabilities(self) -> list[float]:
        """Return the probabilities of the classes, in per cent."""
        shown = self.page.locator("#answer table").first.locator(".number").all_inner_texts()
        return [float(text.strip("<>% ")) for text in shown]


@pytest.fixture
def reader(chromium: Any, pages: Path) -> Iterator[Reader]:
    made = Reader(chromium, pages)
    yield made
    assert made.wrong == []
    made.context.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_with_an_answer(reader: Reader, name: str) -> None:
    reader.open(name)
    assert reader.answer().endswith(".")
    assert not reader.answer().startswith("No answer")


def test_a_number_that_is_typed_changes_the_answer(reader: Reader, models: dict[str, Any]) -> None:
    page = reader.open("qda")
    before = reader.answer()
    page.get_by_label("far", exact=True).fill("1000004")
    assert reader.answer() != before
    model, rows = models["qda"]
    row = rows.iloc[:1].assign(**dict.fromkeys(rows, float("nan")))
    (expected,) = model.predict_proba(row.assign(far=1000004.0))
    assert reader.answer().startswith(f"{model.classes_[expected.argmax()]}, ")
    assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    assert "far=1000004" in page.url


def test_a_slider_moves_by_keyboard_and_unknown_takes_it_back(reader: Reader) -> None:
    page = reader.open("lda")
    start = reader.answer()
    slider = page.locator("input[type=range]").first
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    assert reader.answer() != start
    page.get_by_role("button", name="far: unknown").click()
    page.get_by_role("button", name="hits: unknown").click()
    page.locator(".question button").first.click()
    page.get_by_role("button", name="Start again").click()
    assert reader.answer() == start


def test_what_is_no_number_is_said(reader: Reader) -> None:
    page = reader.open("lda")
    start = reader.answer()
    page.get_by_label("far", exact=True).fill("many")
    assert page.get_by_text("Not a number").first.is_visible()
    assert reader.answer() == start


def test_a_link_restores_the_row(reader: Reader) -> None:
    page = reader.open("bayes")
    page.get_by_label("far", exact=True).fill("1000002")
    reader.tell("flag", "true")
    answer, fragment = reader.answer(), page.url.partition("#")[2]
    again = reader.open("bayes", f"#{fragment}")
    assert reader.answer() == answer
    assert again.get_by_label("far", exact=True).input_value() == "1000002"
    assert again.get_by_label("flag", exact=True).get_by_label("true").is_checked()


def test_the_next_questions_leave_out_what_is_known(reader: Reader) -> None:
    page = reader.open("bayes")
    assert page.locator(".next tbody tr").count() == 3
    page.get_by_label("far", exact=True).fill("1000001")
    assert "far" not in page.locator(".next").inner_text().split()


@pytest.mark.parametrize("name", ten_tables())
def test_a_page_says_what_python_says(reader: Reader, tmp_path: Path, name: str) -> None:
    table, known = ten_tables()[name]
    test = table.sample(frac=0.4, random_state=1)
    model = NaiveBayes().fit(table.drop(test.index), "y")
    suffice.report(model, tmp_path / "page.html", test)
    assert (tmp_path / "page.html").stat().st_size < 250_000
    reader.pages = tmp_path
    page = reader.open("page")
    for column, cell in known.items():
        reader.tell(column, cell)
    row = pd.DataFrame({column: [known.get(column)] for column in model.feature_names_in_})
    (expected,) = model.predict_proba(row.convert_dtypes())
    if len(expected) <= 8:
        assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    found = suffice.bayes.next_question(model, known)
    shown = {}
    for line in page.locator(".next tbody tr").all():
        shown[line.locator("th").inner_text()] = float(line.locator(".number").inner_text())
    pairs = zip(found.columns, found.bits.tolist(), strict=True)
    asked = {column: bits for column, bits in pairs if bits > 0.0005}
    assert list(shown) == list(asked)[:3]
    assert shown == pytest.approx({column: asked[column] for column in shown}, abs=0.005)
    evaluation = model.evaluate(test, "y")
    confusion = page.locator("[aria-label='True class and answer'] tbody tr")
    counts = [
        [int(cell.split()[0]) for cell in line.locator("td").all_inner_texts()]
        for line in confusion.all()
    ]
    assert counts == evaluation.confusion.value.tolist()
    assert f"{100 * evaluation.error:.1f}" in page.locator(".lead strong").inner_text()
    if len(expected) == 2:
        _moves_as_thresholds_do(page, model, test)


def _moves_as_thresholds_do(page: Any, model: NaiveBayes, test: pd.DataFrame) -> None:
    """Check table, sentence and cost of a page at some thresholds of its slider."""
    positive = page.get_by_label("Answer", exact=True).locator("option:checked").inner_text()
    side = list(map(str, model.classes_)).index(positive)
    truth = (test["y"].astype(str) == positive).to_numpy()
    chance = model.predict_proba(test.drop(columns="y"))[:, side]
    area = model.evaluate(test, "y").roc_area.value
    assert f"area {area:.3f}" in page.locator("#good").inner_text()
    page.get_by_label(f"A missed {positive} costs").fill("5")
    slider = page.get_by_label("from a probability of")
    last = int(slider.get_attribute("max"))
    model_of_page = json.loads(page.locator("#model").inner_text())
    cuts = model_of_page["tested"]["curve"]["cuts"]
    for place in {0, last // 3, last // 2, last - 1, last}:
        slider.fill(str(place))
        cut = cuts[place] if side == 1 else 1 - cuts[last - place]
        if abs(chance - cut).min() < 1e-5 and 0 < place < last:  # cuts have six digits
            continue
        says = chance > cut
        if place in (0, last):
            says = np.full(len(chance), place == 0)
        found, missed = int((says & truth).sum()), int((~says & truth).sum())
        alarms = int((says & ~truth).sum())
        said = page.locator("#at-threshold").inner_text()
        assert said.startswith(f"It finds {found} of {found + missed} {positive} ")
        assert f"{found} of {found + alarms} answers {positive} are right" in said
        cost = float(re.search(r"Cost: ([\d.]+) a row", said)[1])  # type: ignore[index]
        assert cost == pytest.approx((5 * missed + alarms) / len(truth), rel=1e-3)
    page.get_by_role("button", name="Least cost").click()
    best = page.locator("#at-threshold").inner_text()
    least = min(
        (5 * (truth & (chance <= cut)).sum() + (~truth & (chance > cut)).sum()) / len(truth)
        for cut in [-1, *chance]
    )
    cost = float(re.search(r"Cost: ([\d.]+) a row", best)[1])  # type: ignore[index]
    assert cost == pytest.approx(least, rel=1e-3)


def test_a_click_on_a_row_asks_about_it(reader: Reader, models: dict[str, Any]) -> None:
    page = reader.open("weights")
    model, table = models["weights"][0], rows(300, 1)
    button = page.locator("#row-list button").first
    number = int(button.inner_text().split()[1])
    button.click()
    (expected,) = model.predict_proba(table.iloc[[number - 1]].drop(columns="y"))
    assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    assert page.locator("tr.wrong").count() > 0
    page.get_by_role("button", name="Show 180 more").click()
    assert page.locator("#row-list tbody tr").count() == 200


def test_a_column_opens_and_shows_its_distribution(reader: Reader) -> None:
    page = reader.open("weights")
    assert page.locator(".column").count() == 8
    opened = page.locator(".column").filter(has_text="far")
    opened.locator("summary").click()
    opened.locator("svg.chart").nth(1).wait_for()
    assert "counted" in opened.inner_text()
    categories = page.locator(".column").filter(has_text="flag")
    categories.locator("summary").click()
    categories.locator("table").first.wait_for()
    assert "Share of the rows" in categories.inner_text()


def test_numbers_and_categories_of_a_gaussian_are_asked(
    reader: Reader, models: dict[str, Any]
) -> None:
    page = reader.open("mixed")
    model, table = models["mixed"][0], rows(300, 1)
    page.locator("select").first.select_option(label="😀")
    page.get_by_label("hits", exact=True).fill("3")
    row = {"hits": [3.0], LONG: ["😀"], "far": [None]}
    (expected,) = model.predict_proba(row)
    assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    category = page.locator(".column").filter(has_text="nnn")
    category.locator("summary").click()
    category.get_by_text("indicators of a Gaussian").wait_for()
    button = page.locator("#row-list button").first
    number = int(button.inner_text().split()[1])
    button.click()
    (expected,) = model.predict_proba(table.iloc[[number - 1]][MIXED])
    assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    assert page.locator("#nomogram .scale-name").count() > 3  # points, total, answer, and columns


def test_texts_are_typed_and_their_words_speak(reader: Reader, models: dict[str, Any]) -> None:
    page = reader.open("text")
    page.get_by_label("text", exact=True).fill("FREE prize, don't")
    (expected,) = models["text"][0].predict_proba({"text": ["FREE prize, don't"], "length": [None]})
    assert reader.probabilities() == pytest.approx(100 * expected, abs=0.51)
    assert "free" in page.locator("#answer").inner_text().split()
    fragment = page.url.partition("#")[2]
    answer = reader.answer()
    reader.open("text", f"#{fragment}")
    assert reader.answer() == answer


def test_a_thousand_columns_are_found_by_their_name(chromium: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 20
    wide = pd.DataFrame(rng.normal(size=(400, 1_000)), columns=[f"c{j}" for j in range(1_000)])
    suffice.report(NaiveBayes.textbook().fit(wide, y), tmp_path / "wide.html")
    page = chromium.new_page()
    page.goto((tmp_path / "wide.html").as_uri())
    assert page.locator(".column").count() == 50
    page.get_by_label("Find a column").fill("c999")
    assert page.locator(".column").count() == 1
    page.close()


def test_effects_have_intervals(reader: Reader, models: dict[str, Any]) -> None:
    page = reader.open("unpenalised")
    page.locator(".column", has=page.get_by_text("hits", exact=True)).locator("summary").click()
    effects = page.locator(".column[open] table")
    assert "against </script><script>alert(1)</script>, with its 95 %" in effects.inner_text()
    found = models["unpenalised"][0].summary()
    place = found.terms.index("hits")
    middle, se = found.estimate[0, place], found.standard_error[0, place]
    cell = effects.locator("tbody td").nth(1).inner_text().replace("−", "-")
    numbers = [float(number) for number in re.findall(r"[+-][\d.]+", cell)]
    assert numbers == pytest.approx([middle, middle - 1.96 * se, middle + 1.96 * se], abs=1e-3)


def test_unknown_cells_look_unknown(reader: Reader) -> None:
    page = reader.open("bayes")
    question = page.locator(".question", has=page.get_by_label("far", exact=True))
    assert "unknown" in question.get_attribute("class")
    assert question.get_by_role("slider").get_attribute("aria-valuetext") == "unknown"
    reader.tell("far", 1000001)
    assert "unknown" not in question.get_attribute("class")
    reader.tell("flag", "true")
    reader.tell("flag", "unknown")
    assert "flag=" not in page.url


def test_question_and_answer_fit_on_a_phone(reader: Reader) -> None:
    page = reader.open("bayes")
    page.set_viewport_size({"width": 360, "height": 740})
    box = page.get_by_label("far", exact=True)
    box.scroll_into_view_if_needed()
    box.fill("1000002")
    place = page.locator(".said").bounding_box()
    assert place is not None
    assert place["y"] >= 0
    assert place["y"] + place["height"] <= 740
    assert place["height"] < 740 / 3
    asked = box.bounding_box()
    assert asked["y"] + asked["height"] <= place["y"]


def test_hostile_names_are_text(reader: Reader) -> None:
    page = reader.open("bayes")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    titles = page.locator("[title]").evaluate_all("all => all.map(one => one.title)")
    assert HOSTILE in titles
    assert LONG in titles


@pytest.mark.parametrize("width", [360, 768, 1280, 2560])
@pytest.mark.parametrize("name", ["bayes", "linear", "weights"])
def test_nothing_is_wider_than_the_screen(reader: Reader, name: str, width: int) -> None:
    page = reader.open(name)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_has_the_answer_and_no_controls(reader: Reader) -> None:
    page = reader.open("lda")
    page.emulate_media(media="print")
    assert page.locator(".sentence").is_visible()
    assert page.locator("#about").is_visible()
    assert not page.locator("#questions").is_visible()
    assert not page.locator("nav").is_visible()


def test_the_nomogram_prints_on_one_page_of_a4(chromium: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    wide = pd.DataFrame({f"c{j}": rng.normal(size=400) + y for j in range(30)})
    suffice.report(NaiveBayes.textbook().fit(wide, y), tmp_path / "wide.html")
    page = chromium.new_page(viewport={"width": 673, "height": 1001})  # less margins of 16 mm
    page.goto((tmp_path / "wide.html").as_uri())
    page.emulate_media(media="print")
    drawn = page.locator(".nomogram")
    assert drawn.locator(".scale-name").count() == 14 + 3
    assert "taken as unknown: 16." in page.locator("#nomogram").inner_text()
    sheet = page.locator(".sheet").bounding_box()
    assert sheet is not None
    assert sheet["width"] <= 673
    assert sheet["height"] <= 1001
    assert not page.locator("#nomogram select").first.is_visible()
    page.close()


def test_the_nomogram_is_of_the_classes_that_are_chosen(reader: Reader) -> None:
    page = reader.open("lda")
    before = page.locator(".nomogram").inner_html()
    page.get_by_label("Points speak for").select_option(index=2)
    assert page.locator(".nomogram").inner_html() != before
    page.get_by_label("Points speak against").select_option(index=2)
    assert "Choose two classes" in page.locator("#nomogram").inner_text()
    assert "no nomogram" in reader.open("qda").locator("#nomogram").inner_text()


@pytest.mark.skipif(AXE is None, reason="SUFFICE_AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["bayes", "linear", "weights", "text"])
def test_axe_finds_nothing(chromium: Any, pages: Path, name: str, scheme: str) -> None:
    assert AXE is not None
    # The policy of the page forbids axe too, so here it is set aside.
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.goto((pages / f"{name}.html").as_uri())
    for summary in page.locator(".column > summary").all():
        summary.click()
    page.add_script_tag(path=AXE)
    assert page.evaluate(f"axe.run().then({SERIOUS})") == []
    context.close()
