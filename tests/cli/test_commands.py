"""Every command on a small table, against the Python interface."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.bayes import column_weights

from .conftest import Run, facts_of


class TestFit:
    def test_is_named_after_the_data(self, run: Run, tmp_path: Path, fruit: Path) -> None:
        tabs = fruit.read_text().replace(",", "\t")
        (tmp_path / "north.tsv.gz").write_bytes(gzip.compress(tabs.encode()))
        result = run("fit", tmp_path / "north.tsv.gz", "--label", "kind")
        assert "Saved to north.suffice" in result.stdout
        assert suffice.load("north.suffice").schema_[0].name == "id"

    def test_shows_what_it_decided(self, run: Run, fruit: Path) -> None:
        result = run("fit", fruit, "--label", "kind", "--ignore", "id")
        assert "color category categorical 2 distinct strings" in " ".join(result.stdout.split())
        assert "Ignored: id" in result.stdout
        assert "6 rows, 0 left out without label" in result.stdout

    def test_families(self, run: Run, tmp_path: Path) -> None:
        table = {
            "a": [1, 2, 3, 0], "b": [0, 1, 1, 2], "c": [0, 1, 1, 0], "d": [3, 1, 0, 2],
            "e": ["so it is", "or not", "it is", "not so"], "f": [1, 2, 1, 2], "y": list("nnyy"),
        }  # fmt: skip
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        result = run(
            "fit", "t.parquet", "--label", "y", "-p", 'families={("a","b"): "multinomial"}', "-p",
            "families=c:bernoulli",
            "-p", "families=d:poisson", "--text", "e", "--categorical", "f",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        fitted = suffice.load("t.suffice")
        chosen = {part.layout.columns: part.family.name for part in fitted.model_.parts}
        assert chosen == {
            ("a", "b"): "multinomial", ("c",): "bernoulli", ("d",): "poisson",
            ("e",): "multinomial", ("f",): "categorical",
        }  # fmt: skip

    def test_options_reach_the_estimator(self, run: Run, fruit: Path) -> None:
        run(
            "fit", fruit, "--label", "kind", "-p", "estimation=mle", "-p", "alpha=0.5",
            "-p", "class_prior=uniform", "-p", "unseen=smooth", "--engine", "local=1",
            "-r", "label_suffix=!", "-r", "label_map=plum:prune",
        )  # fmt: skip
        fitted = suffice.load("fruit.suffice")
        expected = {
            "estimation": "mle", "alpha": 0.5, "class_prior": "uniform",
            "unseen": "smooth",
        }  # fmt: skip
        assert fitted.get_params().items() >= expected.items()
        assert fitted.classes_.tolist() == ["apple", "prune"]
        assert fitted.reader_.layout.label_suffix == "!"

    def test_weights(self, run: Run, fruit: Path) -> None:
        result = run("fit", fruit, "--label", "kind", "--weight", "id")
        assert "21 total weight (id)" in result.stdout
        # Later commands know the weight column and do not take it for a feature.
        assert run("predict", "fruit.suffice", fruit).exit_code == 0
        facts = facts_of(run, "evaluate", "fruit.suffice", fruit)
        assert facts["rows"] == 21

    def test_skipped_rows_are_a_warning(self, run: Run, tmp_path: Path, fruit: Path) -> None:
        (tmp_path / "bad.csv").write_text(fruit.read_text() + "7\n")
        result = run("fit", "bad.csv", "--label", "kind", "-r", "skip_bad_rows=1")
        assert result.exit_code == 0
        assert result.stderr.startswith(
            "warning: bad.csv: 1 malformed line was left out, as --skip-bad-rows 1 allows; "
        )


class TestReadingIsRemembered:
    @pytest.fixture
    def padded(self, run: Run, tmp_path: Path, fruit: Path) -> Path:
        rows = fruit.read_text().splitlines()[1:]
        path = tmp_path / "padded.data"
        path.write_text("\n".join(row.replace(",,", ",?,").replace(",", " ; ") for row in rows))
        result = run(
            "fit", path, "--label", "kind", "-r", "header=false", "-r", "names=id, size, color, "
            "kind",
            "-r", "separator=;", "-r", "strip=true", "-r", "missing=?", "--ignore", "id",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        return path

    def test_by_every_later_command(self, run: Run, padded: Path) -> None:
        for words in (["predict"], ["evaluate"], ["explain"]):
            assert run(*words, "padded.suffice", padded).exit_code == 0
        assert run("forget", "padded.suffice", padded, "-o", "x.suffice").exit_code == 2


class TestPredict:
    def test_equals_python(self, run: Run, model: Path, fruit: Path) -> None:
        fitted = suffice.load(model)
        result = run("predict", model, fruit, "--proba")
        header, *rows = csv.reader(result.stdout.splitlines())
        assert header == ["prediction", "P(apple)", "P(plum)"]
        assert [row[0] for row in rows] == fitted.predict(fruit).tolist()
        numbers = np.array([row[1:] for row in rows], dtype=np.float64)
        assert np.array_equal(numbers, fitted.predict_proba(fruit))

    def test_impossible_rows_are_a_warning(self, run: Run, fruit: Path, tmp_path: Path) -> None:
        run("fit", fruit, "--label", "kind", "--categorical", "id,size,color", "-p", "alpha=0")
        (tmp_path / "odd.csv").write_text("id,size,color\n1,5.0,red\n")
        result = run("predict", "fruit.suffice", "odd.csv")
        assert result.exit_code == 0
        assert result.stderr == (
            "warning: 1 of 1 row is impossible under every class, and was answered by the "
            "class prior. Smoothing (alpha > 0) avoids this.\n"
        )


class TestEvaluate:
    def test_equals_python(self, run: Run, model: Path, fruit: Path) -> None:
        facts = facts_of(run, "evaluate", model, fruit)
        truth = suffice.load(model).evaluate(fruit, "kind")
        assert facts["error_rate"] == truth.error
        assert facts["log_loss"] == truth.log_loss
        assert facts["brier_score"] == truth.brier
        assert facts["confusion"] == truth.confusion.value.tolist()
        assert facts["largest_class_error"] == 0.5
        assert run("evaluate", model, fruit).stdout.split() == repr(truth).split()


class TestExplain:
    def test_adds_up(self, run: Run, model: Path, fruit: Path) -> None:
        facts = facts_of(run, "explain", model, fruit, "--rows", 6)
        assert len(facts["rows"]) == 6
        probability = suffice.load(model).predict_proba(fruit)
        for row, expected in zip(facts["rows"], probability, strict=True):
            parts = [part["log_odds"] for part in row["columns"]]
            assert parts == sorted(parts, key=abs, reverse=True)
            assert row["sum"] == pytest.approx(row["prior"] + sum(parts), abs=1e-12)
            odds = np.log(expected.max() / expected.min())
            assert row["sum"] == pytest.approx(odds, abs=1e-9)
        first = suffice.read_csv(fruit).head().slice(0, 3)
        said = run("explain", model, fruit).stdout.split()
        assert said == repr(suffice.load(model).explain(pa.Table.from_batches([first]))).split()

    def test_show_says_what_a_distribution_was_chosen_from(self, run: Run, tmp_path: Path) -> None:
        rows = "".join(f"{x},{1e6 + x},{'ab'[40 < x < 70]}\n" for x in range(100))
        (tmp_path / "between.csv").write_text(f"near,far,y\n{rows}")
        run("fit", "between.csv", "--label", "y", "-p", "families=near:density,far:density")
        near, far = facts_of(run, "show", "between.suffice")["columns"]
        choices = suffice.load("between.suffice").model_.parameters[0].choices
        assert near["log_loss_alone"] == choices[0].losses
        assert "sampled_rows" not in near
        assert far["sampled_rows"] == 100
        shown = run("show", "between.suffice").stdout
        assert f"log loss alone: histogram {choices[0].losses['histogram']:.3f}, " in shown
        assert shown.count("far from 0, so its shape is that of 100 rows of a sample") == 1

    def test_columns_that_are_counted_in_part_are_named(self, run: Run, tmp_path: Path) -> None:
        rows = "".join(f"{x},{x},{x % 7},{'ab'[x > 49 + 30 * (x % 3 - 1)]}\n" for x in range(100))
        (tmp_path / "twice.csv").write_text(f"x,again,other,y\n{rows}")
        run("fit", "twice.csv", "--label", "y", "-p", "families=x:density,again:density")
        weights = column_weights(suffice.load("twice.suffice"))
        facts = facts_of(run, "explain", "twice.suffice", "twice.csv")["rows"]
        assert {c["column"]: c["counted"] for c in facts[0]["columns"]} == weights
        assert weights["x"] < 0.9
        shown = " ".join(run("explain", "twice.suffice", "twice.csv").stdout.split())
        named = shown.partition("Weights of columns that repeat each other: ")[2]
        assert f"x {weights['x']:.2f}" in named


class TestShow:
    def test_equals_python(self, run: Run, model: Path) -> None:
        facts = facts_of(run, "show", model)
        fitted = suffice.load(model)
        assert facts["free_parameters"] == fitted.n_parameters_
        size, color = facts["columns"]
        assert (size["family"], size["missing"]) == ("kernel_density", 1)
        assert (color["family"], color["missing"]) == ("categorical", 1)
        assert color["parameters"] == {"blue": [0.25, 0.6], "red": [0.75, 0.4]}

    def test_a_class_without_a_row(self, run: Run, tmp_path: Path, fruit: Path) -> None:
        table = pa.table({"size": [1.0, 5.0, None], "kind": ["apple", "plum", "plum"]})
        kinds = ["apple", "pear", "plum"]
        suffice.NaiveBayes().partial_fit(table, "kind", classes=kinds).save("all.suffice")
        facts = facts_of(run, "show", "all.suffice")
        assert [(c["label"], c["rows"]) for c in facts["classes"]] == [
            ("apple", 1.0),
            ("pear", 0.0),
            ("plum", 2.0),
        ]
        assert facts["columns"][0]["missing"] == 1.0
        assert run("show", "all.suffice").exit_code == 0


class TestMergeAndForget:
    @pytest.fixture
    def halves(self, run: Run, tmp_path: Path, fruit: Path) -> tuple[Path, Path]:
        header, *rows = fruit.read_text().splitlines(keepends=True)
        for name, part in (("a", rows[::2]), ("b", rows[1::2])):
            (tmp_path / f"{name}.csv").write_text("".join([header, *part]))
            run("fit", f"{name}.csv", "--label", "kind", "--ignore", "id")
        return tmp_path / "a.csv", tmp_path / "b.csv"

    def test_forget_equals_a_fit_without(
        self, run: Run, model: Path, halves: tuple[Path, Path]
    ) -> None:
        result = run("forget", model, "b.csv", "-o", model)
        assert " ".join(result.stdout.split()).startswith("3 rows forgotten, 3 left. Saved to")
        assert suffice.load(model).statistic_ == suffice.load("a.suffice").statistic_

    def test_forget_leaves_the_options_as_they_were(
        self, run: Run, model: Path, halves: tuple[Path, Path]
    ) -> None:
        before = suffice.load(model)
        run("forget", model, "b.csv", "-o", "c.suffice", "-r", "missing=?", "-r", "label_map=x:y")
        after = suffice.load("c.suffice")
        assert (after.get_params(), after.reader_.layout) == (
            before.get_params(),
            before.reader_.layout,
        )
