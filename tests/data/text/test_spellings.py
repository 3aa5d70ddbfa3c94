"""Cells are what they mean, however they are spelled, in fit and in predict."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.data.spellings import SPELLINGS

from suffice import LinearRegression, NaiveBayes, load, read_csv
from suffice.errors import DataError, ParameterError, ReadError, SchemaError, SufficeWarning

LABELS = ["a", "b", "a", "b"]


def write(path: Path, columns: dict[str, list[Any]], mark: str = ",") -> Path:
    file = io.StringIO()
    rows = csv.writer(file, delimiter=mark, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    data = file.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", SPELLINGS)
def test_fit_and_predict_know_every_spelling(tmp_path: Path, name: str) -> None:
    cells, values = SPELLINGS[name]
    path = write(tmp_path / "t.csv", {"x": cells, "y": LABELS})
    frame = pa.table({"x": values, "y": LABELS})
    meant = NaiveBayes.textbook().fit(frame, "y")
    model = NaiveBayes.textbook().fit(path, "y")
    assert model.schema_[0].kind == meant.schema_[0].kind
    model.save(tmp_path / "m.suffice")
    answers = meant.predict_proba(frame)
    rows = write(tmp_path / "rows.csv.gz", {"x": cells})
    for given in (path, frame, rows):
        np.testing.assert_array_equal(model.predict_proba(given), answers)
    np.testing.assert_array_equal(load(tmp_path / "m.suffice").predict_proba(rows), answers)


@pytest.mark.parametrize(
    ("cells", "option", "value"),
    [
        (["1,403", "2,500"], {"decimal": ","}, 1.403),
        (["1,403", "2,500"], {"thousands": ","}, 1403),
        (["1,403", "0,111"], {}, 1.403),
        (["1,403", "2,5"], {}, 1.403),
        (["1.225,34 €", "7 €"], {"decimal": ","}, 1225.34),
        (["1.500", "2.500"], {"written": {"x": "1.000"}}, 1500),
        (["01", "02"], {"written": {"x": "number"}}, 1),
        (["01", "02"], {}, "01"),
        (["3/4/2021", "5/6/2021"], {"written": {"x": "DD/MM/YYYY"}}, "2021-04-03"),
        (["4/1/2021", "7/1/2022"], {}, "2021-04-01"),  # the first days of months
        (["\u22124", "7"], {}, -4),
    ],
)
def test_what_settles_two_meanings(
    tmp_path: Path, cells: list[str], option: dict[str, Any], value: Any
) -> None:
    path = write(tmp_path / "t.csv", {"x": cells, "y": LABELS[:2]}, ";")
    found = read_csv(path, **option).head().column(0)[0].as_py()
    assert (str(found) if isinstance(value, str) else found) == value


@pytest.mark.parametrize("cells", [["1,403", "2,500"], ["3/4/2021", "5/6/2021"]])
def test_what_nothing_settles_is_refused(tmp_path: Path, cells: list[str]) -> None:
    path = write(tmp_path / "t.csv", {"x": cells, "z": [1, 2], "y": LABELS[:2]}, ";")
    with pytest.raises(ReadError, match="'x'"):
        NaiveBayes().fit(path, "y")
    NaiveBayes().fit(read_csv(path, ignore=["x"]), "y")


@pytest.mark.parametrize(
    ("fitted", "cell", "option"),
    [("1.5", "50,5", "decimal=','"), ("1.5", "1,234", "thousands=','"), ("1,5", "7.5", "'.'")],
)
def test_another_notation_is_named(tmp_path: Path, fitted: str, cell: str, option: str) -> None:
    path = write(tmp_path / "t.csv", {"x": [fitted, "2", "3", "4"], "y": LABELS}, ";")
    model = NaiveBayes().fit(path, "y")
    with pytest.raises(ReadError, match=f"line 2 .*'x'.*{option}"):
        model.predict(write(tmp_path / "new.csv", {"x": [cell]}, ";"))


class TestDoubt:
    NUMBERS = tuple(f"{n % 20 / 7:.2f}" for n in range(60))

    @pytest.mark.parametrize("odd", ["<0.5", "-", "ERROR", "n.d.", "1,007.5x", "12.3*"])
    def test_of_numbers(self, tmp_path: Path, odd: str) -> None:
        cells = [*self.NUMBERS[:17], odd, *self.NUMBERS[18:]]
        y = [n % 3 for n in range(60)]
        path = write(tmp_path / "t.csv", {"x": cells, "y": y, "k": LABELS * 15})
        with pytest.raises(DataError, match=r"'x'.* 1 of 60 cells.*line 19"):
            LinearRegression().fit(read_csv(path, ignore=["k"]), "y")
        with pytest.warns(SufficeWarning, match=r"'x'.* 1 of 60 cells.*line 19"):
            NaiveBayes().fit(path, "k")
        LinearRegression(categorical=["x"]).fit(read_csv(path, ignore=["k"]), "y")
        table = read_csv(path, ignore=["k"], missing=odd)
        assert len(LinearRegression(incomplete="drop").fit(table, "y").coef_) == 1

    @pytest.mark.parametrize("cells", [["1", "2", "3", "5+"] * 15, ["A1", "12", "7C", "B"] * 15])
    def test_is_none_of_codes(self, tmp_path: Path, cells: list[str]) -> None:
        path = write(tmp_path / "t.csv", {"x": cells, "y": LABELS * 15})
        assert NaiveBayes().fit(path, "y").schema_[0].kind == "category"


class TestMissing:
    def test_tokens_travel_with_the_model(self, tmp_path: Path) -> None:
        columns = {"x": [1, -999, 3, 4], "land": ["NA", "DE", "NA", "DE"], "y": LABELS}
        path = write(tmp_path / "t.csv", columns)
        table = read_csv(path, missing=["-999"])
        model = NaiveBayes.textbook().fit(table, "y")
        answers = model.predict_proba(table)
        np.testing.assert_array_equal(model.predict_proba(path), answers)

    def test_one_more_is_added(self, tmp_path: Path) -> None:
        path = write(tmp_path / "t.csv", {"x": ["1", "NA", "?"], "y": LABELS[:3]})
        assert read_csv(path, missing="?").head().column(0).to_pylist() == [1, None, None]

    def test_a_known_class_is_kept(self, tmp_path: Path) -> None:
        columns = {"x": [1.0, 2.5, 3.0, 4.5], "c": ["null", "q"] * 2, "y": ["None", "b"] * 2}
        model = NaiveBayes.textbook().fit(pa.table(columns), "y")
        path = write(tmp_path / "t.csv", columns)
        assert model.score(path, "y") == model.score(pa.table(columns), "y")
        np.testing.assert_array_equal(
            model.predict_proba(path), model.predict_proba(pa.table(columns))
        )

    def test_lost_labels_are_counted(self, tmp_path: Path) -> None:
        path = write(tmp_path / "t.csv", {"x": [1, 2, 3, 4, 5], "y": [*LABELS, "None"]})
        with pytest.warns(SufficeWarning, match="'None' of 'y'") as said:
            NaiveBayes().fit(path, "y")
        assert sum("'None'" in str(one.message) for one in said) == 1


def test_truth_is_one_thing(tmp_path: Path) -> None:
    flags = [True, False, True, True]
    model = NaiveBayes.textbook().fit(pa.table({"x": flags, "y": LABELS}), "y")
    answers = model.predict_proba(pa.table({"x": flags}))
    for true, false in (("true", "false"), ("YES", "NO"), ("t", "f"), ("1", "0"), ("y", "n")):
        path = write(tmp_path / "t.csv", {"x": [true if f else false for f in flags]})
        np.testing.assert_array_equal(model.predict_proba(path), answers)


def test_a_label_keeps_the_spelling_of_the_file(tmp_path: Path) -> None:
    for labels in (["yes", "no"], ["01", "02"], ["true", "false"]):
        path = write(tmp_path / "t.csv", {"x": [1, 2, 3, 4], "y": labels * 2})
        assert sorted(NaiveBayes().fit(path, "y").classes_) == sorted(labels)


def test_numbers_are_no_dates(tmp_path: Path) -> None:
    days = ["2021-03-05", "2022-01-31", "2020-02-29", "2021-11-25"]
    path = write(tmp_path / "t.csv", {"x": days, "z": [1, 2, 3, 4], "y": LABELS})
    model = NaiveBayes().fit(read_csv(path, ignore=["z"]), "y")
    with pytest.raises(DataError, match="'x'"):
        model.predict(write(tmp_path / "n.csv", {"x": [1, 2]}))
    with pytest.raises(SchemaError, match="'x'"):
        LinearRegression().fit(read_csv(path, ignore=["y"]), "x")


@pytest.mark.parametrize("name", ["DD/YYYY", "money", "1,5,5", "HH:MM Z"])
def test_no_spelling(name: str) -> None:
    with pytest.raises(ParameterError, match="written="):
        read_csv("t.csv", written={"x": name})
