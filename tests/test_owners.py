"""Sums of several owners: the model of all rows, and what each owner's file tells and refuses."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner, Result

from suffice import LinearRegression, NaiveBayes, Ridge, load, owners
from suffice.cli.app import app
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import DataError, ModelFileError, ParameterError, SchemaError
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

pytest.importorskip("cryptography", reason="cryptography is not installed")

LABELS = np.array(["dead", "ill", "well"])
Rows = Mapping[str, NDArray[Any]]


def keys_in(folder: Path, many: int) -> list[Path]:
    found = [folder / f"site{i}.key" for i in range(many)]
    for file in found:
        owners.keys(file)
    return found


def public(keys: Sequence[Path]) -> list[Path]:
    return [file.with_name(f"{file.name}.pub") for file in keys]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return keys_in(tmp_path_factory.mktemp("keys"), 6)


def patients(rng: np.random.Generator, n: int) -> dict[str, NDArray[Any]]:
    """Columns over ten decades, some far from 0, missing cells, categories and truth values."""
    return {
        "age": np.round(rng.normal(60, 15, n), 1),
        "dose": rng.lognormal(-12, 2, n),
        "cells": np.where(rng.random(n) < 0.1, np.nan, rng.normal(4e9, 1e3, n)),
        "town": np.array(["Bonn", "Kiel", "Ulm"])[rng.integers(0, 3, n)],
        "smoker": rng.random(n) < 0.3,
        "stay": rng.normal(10, 3, n),
    }


def numbers(rows: Rows) -> dict[str, NDArray[Any]]:
    return {name: rows[name] for name in ("age", "dose", "stay", "town")}


def codes(rows: Rows) -> NDArray[np.int64]:
    return np.column_stack([rows["age"] // 30 % 4, rows["stay"] // 4 % 3]).astype(np.int64)


FIRST = ("age", "dose", "cells")
MODELS: list[tuple[Any, Callable[[Rows], Any], str]] = [
    (GaussianNB(), lambda t: np.column_stack([t[name] for name in FIRST]), "y"),
    (NaiveBayes.textbook(), dict, "y"),
    (LinearDiscriminantAnalysis(), numbers, "y"),
    (LinearDiscriminantAnalysis("lsqr", "auto"), numbers, "y"),
    (QuadraticDiscriminantAnalysis(), lambda t: np.column_stack([t["age"], t["dose"]]), "y"),
    (CategoricalNB(), codes, "y"),
    (BernoulliNB(), lambda t: codes(t) % 2, "y"),
    (MultinomialNB(), codes, "y"),
    (LinearRegression(), numbers, "cost"),
    (LinearRegression(incomplete="drop"), lambda t: {n: t[n] for n in FIRST}, "cost"),
    (Ridge(2.0), numbers, "cost"),
]


def cut(rows: Any, index: NDArray[Any]) -> Any:
    return {k: v[index] for k, v in rows.items()} if isinstance(rows, dict) else rows[index]


def pooled(
    estimator: Any, X: Any, y: Any, site: NDArray[np.intp], keys: Sequence[Path], **weights: Any
) -> Any:
    """Return the sums of rows that are divided among owners."""
    agreed = owners.plan(estimator, X, y, public=public(keys), **weights)
    files = [
        owners.masked_sums(
            cut(X, site == i),
            y[site == i],
            plan=agreed,
            key=key,
            **{name: w[site == i] for name, w in weights.items()},
        )
        for i, key in enumerate(keys)
    ]
    return owners.unmasked(files, agreed)


def answers(model: Any, X: Any) -> list[Any]:
    """Return all that rows are told, and the parameters."""
    if hasattr(model, "predict_joint_log_proba"):
        return [model.predict_joint_log_proba(X), model.class_count_]
    return [model.predict(X), model.coef_, model.intercept_]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_the_model_of_masked_sums_is_that_of_one_fit(number: int, keys: list[Path]) -> None:
    """To the bit, in ten random partitions each."""
    estimator, columns, target = MODELS[number]
    for seed in range(10):
        rng = np.random.default_rng([number, seed])
        n, many = int(rng.integers(120, 300)), int(rng.integers(3, 7))
        rows = patients(rng, n)
        told = {"y": LABELS[rng.integers(0, 3, n)], "cost": rows["age"] + rng.normal(size=n)}
        X, y = columns(rows), told[target]
        site = np.concatenate([np.arange(many), rng.integers(0, many, n - many)])
        expected = estimator.unfitted().fit(X, y)
        found = estimator.unfitted().fit(pooled(estimator, X, y, site, keys[:many]))
        whole = cut(X, ~np.isnan(rows["cells"]))
        for mine, theirs in zip(answers(found, whole), answers(expected, whole), strict=True):
            assert np.array_equal(mine, theirs), seed


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearDiscriminantAnalysis()])
def test_weights_of_rows_are_masked_too(estimator: Any, keys: list[Path]) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(5, 2, (200, 3)), LABELS[rng.integers(0, 3, 200)]
    w = rng.random(200) * 10.0 ** rng.integers(-3, 9, 200)
    found = pooled(estimator, X, y, rng.integers(0, 4, 200), keys[:4], sample_weight=w)
    expected = estimator.unfitted().fit(X, y, w)
    mine, theirs = answers(estimator.unfitted().fit(found), X), answers(expected, X)
    assert all(map(np.array_equal, mine, theirs))


# -- what a file and a plan tell


def bits(content: bytes) -> NDArray[np.int64]:
    return np.unpackbits(np.frombuffer(content, np.uint8)).astype(np.int64)


def looks_random(content: bytes) -> bool:
    """Return whether ones are as frequent, and runs as many, as in random bits, to 5 sigma."""
    found = bits(content)
    n, share = len(found), found.mean()
    frequency = abs(2 * found.sum() - n) / np.sqrt(n)
    runs = 1 + int((found[1:] != found[:-1]).sum())
    usual = 2 * n * share * (1 - share)
    return bool(frequency < 5 and abs(runs - usual) < 5 * usual / np.sqrt(n))


@pytest.fixture(scope="module")
def agreed(keys: list[Path]) -> owners.Plan:
    X = np.array([[1.0, 50.0], [2.0, 70.0], [3.0, 10.0]])
    return owners.plan(GaussianNB(), X, LABELS, public=public(keys[:3]))


def test_ten_owners_of_fifty_columns_and_five_classes(tmp_path: Path) -> None:
    keys, rng = keys_in(tmp_path, 10), np.random.default_rng(0)
    X, y = rng.normal(size=(2_000, 50)), rng.integers(0, 5, 2_000)
    for estimator in (GaussianNB(), QuadraticDiscriminantAnalysis()):
        agreed = owners.plan(estimator, X, y, public=public(keys))
        estimator.sums(X, y).save(tmp_path / "0.sums")
        owners.masked_sums(X, y, plan=agreed, key=keys[0]).save(tmp_path / "0.masked")
        size = (tmp_path / "0.masked").stat().st_size
        assert size < 2e6
        assert size < 4 * (tmp_path / "0.sums").stat().st_size


def test_a_masked_file_is_random_to_everybody_without_the_others(tmp_path: Path) -> None:
    keys, rng = keys_in(tmp_path, 4), np.random.default_rng(0)
    X, y = rng.normal(size=(4_000, 30)), rng.integers(0, 4, 4_000)
    agreed = owners.plan(GaussianNB(), X, y, public=public(keys))
    files = [owners.masked_sums(X[i::4], y[i::4], plan=agreed, key=k) for i, k in enumerate(keys)]
    words = [one.words for one in files]
    assert all(looks_random(one.tobytes()) for one in words)
    assert looks_random((words[0] + words[1] + words[2]).tobytes())
    assert not looks_random(sum(words[1:], words[0]).tobytes())  # all masks have cancelled


def test_a_plan_holds_no_count(keys: list[Path], tmp_path: Path) -> None:
    """Seven times as many rows give the same plan, but for the random number of the round."""
    rows, y = patients(np.random.default_rng(0), 60), np.repeat(LABELS, 20)
    rows["town"] = np.array(["one of many words", "one word of many others"])[np.arange(60) % 2]
    estimator, contents = NaiveBayes.textbook({"town": "categorical"}), []
    for times in (1, 7):
        many = {name: np.repeat(column, times) for name, column in rows.items()}
        plan = owners.plan(estimator, many, np.repeat(y, times), public=public(keys))
        plan.save(tmp_path / "plan.json")
        contents.append(json.loads((tmp_path / "plan.json").read_text()))
    rounds = [content.pop("round") for content in contents]
    assert contents[0] == contents[1]
    assert rounds[0] != rounds[1]


def test_a_plan_holds_no_private_key(tmp_path: Path, keys: list[Path], agreed: owners.Plan) -> None:
    agreed.save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    assert content["labels"] == LABELS.tolist()
    assert owners.Plan.load(tmp_path / "plan.json").digest == agreed.digest
    secret = json.loads(keys[0].read_text())["private"]
    assert secret not in (tmp_path / "plan.json").read_text()


# -- what is refused


@pytest.fixture
def sent(tmp_path: Path, keys: list[Path]) -> tuple[owners.Plan, list[Path]]:
    """A plan of towns and numbers, and the files of its three owners."""
    rows = {"age": [50.0, 60.0, 70.0], "town": ["Bonn", "Kiel", "Ulm"]}
    agreed = owners.plan(NaiveBayes.textbook(), rows, LABELS, public=public(keys[:3]))
    files = [tmp_path / f"{i}.masked" for i in range(3)]
    for i, file in enumerate(files):
        part = {"age": [50.0 + i, 1.5 * i], "town": ["Ulm", "Bonn"]}
        owners.masked_sums(part, ["ill", "well"], plan=agreed, key=keys[i]).save(file)
    return agreed, files


def test_a_missing_doubled_or_stale_file_is_named(
    sent: tuple[owners.Plan, list[Path]], keys: list[Path]
) -> None:
    agreed, files = sent
    assert owners.unmasked(files, agreed).sums.rows == 6
    with pytest.raises(DataError, match="1 of 3 files are missing"):
        owners.unmasked(files[:2], agreed)
    with pytest.raises(DataError, match=re.escape(str(files[0]))):
        owners.unmasked([*files, files[0]], agreed)
    rows = {"age": [50.0, 60.0, 70.0], "town": ["Bonn", "Kiel", "Ulm"]}
    newer = owners.plan(NaiveBayes.textbook(), rows, LABELS, public=public(keys[:3]))
    with pytest.raises(DataError, match=agreed.digest[:8]):
        owners.unmasked(files, newer)


def test_one_changed_byte_is_noticed(sent: tuple[owners.Plan, list[Path]]) -> None:
    agreed, files = sent
    content = files[1].read_bytes()
    for place in np.random.default_rng(0).integers(0, len(content), 40).tolist():
        altered = bytearray(content)
        altered[place] ^= 1 << place % 8
        files[1].write_bytes(altered)
        with pytest.raises(ModelFileError):
            owners.unmasked(files, agreed)


def test_a_file_made_with_another_key_leaves_masks_in_the_sum(
    sent: tuple[owners.Plan, list[Path]], keys: list[Path], tmp_path: Path
) -> None:
    agreed, files = sent
    one = owners.MaskedSums.load(files[0])
    foreign = owners.MaskedSums(one.plan, one.owner, one.words[::-1].copy())
    with pytest.raises(DataError, match="masks"):
        owners.unmasked([foreign, *files[1:]], agreed)


def test_other_rows_under_a_plan_that_was_used(
    sent: tuple[owners.Plan, list[Path]], keys: list[Path]
) -> None:
    agreed, files = sent
    same = {"age": [50.0, 0.0], "town": ["Ulm", "Bonn"]}
    again = owners.masked_sums(same, ["ill", "well"], plan=agreed, key=keys[0])
    assert np.array_equal(again.words, owners.MaskedSums.load(files[0]).words)
    other = {"age": [50.0, 0.5], "town": ["Ulm", "Bonn"]}
    with pytest.raises(ParameterError, match=re.escape(str(keys[0]))):
        owners.masked_sums(other, ["ill", "well"], plan=agreed, key=keys[0])


@pytest.fixture
def mine(tmp_path: Path, keys: list[Path]) -> tuple[owners.Plan, Path]:
    """A plan, and a key of it that has masked nothing."""
    (key,) = keys_in(tmp_path, 1)
    given = public([key, *keys[:2]])
    return owners.plan(GaussianNB(), [[1.0]], ["ill"], public=given), key


def test_a_key_that_several_processes_use_at_once(mine: tuple[owners.Plan, Path]) -> None:
    """Of eight contributions under equal masks, one is masked: two tell their difference."""
    agreed, key = mine

    def is_masked(x: float) -> bool:
        try:
            owners.masked_sums([[x]], ["ill"], plan=agreed, key=key)
        except ParameterError as error:
            return str(key) not in str(error)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(is_masked, range(8))) == 1
    assert not Path(f"{key}.new").exists()


def test_a_key_of_two_names_and_one_that_is_in_use(mine: tuple[owners.Plan, Path]) -> None:
    agreed, key = mine
    link, lock, before = key.with_name("link.key"), Path(f"{key}.new"), key.read_bytes()
    link.symlink_to(key)
    lock.touch()
    with pytest.raises(ParameterError, match=re.escape(str(lock))):
        owners.masked_sums([[1.0]], ["ill"], plan=agreed, key=link)
    assert key.read_bytes() == before
    lock.unlink()
    owners.masked_sums([[1.0]], ["ill"], plan=agreed, key=link)
    with pytest.raises(ParameterError, match="other sums"):
        owners.masked_sums([[2.0]], ["ill"], plan=agreed, key=key)


def test_masks_are_of_one_plan(tmp_path: Path, keys: list[Path]) -> None:
    """Equal sums under two plans of equal content are apart by random numbers."""
    X, y = np.ones((9, 40)), LABELS[np.arange(9) % 3]
    words = []
    for _ in range(2):
        agreed = owners.plan(GaussianNB(), X, y, public=public(keys[:3]))
        words.append(owners.masked_sums(X, y, plan=agreed, key=keys[0]).words)
    assert looks_random((words[0] - words[1]).tobytes())


@pytest.mark.parametrize(
    ("rows", "labels", "error", "named"),
    [
        ({"age": [1.0], "town": ["Bern"]}, ["ill"], DataError, "'town'.*'Bern'"),
        ({"age": [1.0], "town": ["Ulm"]}, ["cured"], DataError, "'cured'"),
        ({"age": [np.inf], "town": ["Ulm"]}, ["ill"], DataError, "'age', row 0: inf"),
        ({"age": [1e40], "town": ["Ulm"]}, ["ill"], DataError, "'age'"),
        ({"age": [], "town": []}, [], DataError, "row"),
        ({"age": [1.0], "town": ["Ulm"]}, [None], DataError, "row"),
        ({"age": [1.0]}, ["ill"], SchemaError, "'town'"),
        ({"age": [1.0], "town": ["Ulm"], "sex": ["f"]}, ["ill"], SchemaError, "'sex'"),
    ],
)
def test_rows_that_the_plan_has_no_place_for(
    rows: Any,
    labels: Any,
    error: type[Exception],
    named: str,
    sent: tuple[owners.Plan, list[Path]],
    keys: list[Path],
) -> None:
    agreed, _ = sent
    with pytest.raises(error, match=named):
        owners.masked_sums(rows, labels, plan=agreed, key=keys[1])


def test_weights_that_a_plan_lacks(sent: tuple[owners.Plan, list[Path]], keys: list[Path]) -> None:
    rows = {"age": [1.0], "town": ["Ulm"]}
    with pytest.raises(ParameterError, match="sample_weight"):
        owners.masked_sums(rows, ["ill"], plan=sent[0], key=keys[1], sample_weight=[0.5])


def test_cells_that_are_missing_where_products_are_summed(keys: list[Path]) -> None:
    X = np.array([[1.0, 2.0], [2.0, 5.0], [4.0, 4.0], [7.0, 5.0]])
    agreed = owners.plan(LinearDiscriminantAnalysis(), X, [0, 0, 1, 1], public=public(keys[:3]))
    X[0, 1] = np.nan
    with pytest.raises(DataError, match="'x1'"):
        owners.masked_sums(X, [0, 0, 1, 1], plan=agreed, key=keys[0])


@pytest.mark.parametrize("many", [1, 2])
def test_two_owners_see_each_others_sums(many: int, keys: list[Path]) -> None:
    with pytest.raises(ParameterError, match=f"{many} owners"):
        owners.plan(GaussianNB(), [[1.0], [2.0]], [0, 1], public=public(keys[:many]))
    with pytest.raises(ParameterError, match="twice"):
        owners.plan(GaussianNB(), [[1.0], [2.0]], [0, 1], public=public([*keys[:2], keys[1]]))


@pytest.mark.parametrize(
    ("estimator", "rows", "named"),
    [
        (NaiveBayes(), {"x": [1.5, 2.5, 4.0]}, r"NaiveBayes\(\)"),
        (NaiveBayes("density", calibration="none"), {"x": [1.5, 2.5, 4.0]}, "density"),
        (
            NaiveBayes.textbook({("hue", "town"): "joint_table"}),
            {"hue": list("abb"), "town": list("xyx")},
            "'hue'",
        ),
        (
            NaiveBayes.textbook({"note": "multinomial"}),
            {"note": ["a lump in the neck", "no pain at all", "a lump in the knee"]},
            "'note'",
        ),
    ],
)
def test_models_that_need_more_than_sums_known_before(
    estimator: Any, rows: Any, named: str, keys: list[Path]
) -> None:
    with pytest.raises(ParameterError, match=named):
        owners.plan(estimator, rows, LABELS, public=public(keys[:3]))


ORDER_8 = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"
NO_POINTS = [
    *("", "key", "00" * 32, f"01{'00' * 31}", ORDER_8, "AB" * 32, "ab" * 31),
    f"ec{'ff' * 30}7f",  # −1, of order 4
    f"f6{'ff' * 30}7f",  # 9 in another spelling
    f"09{'00' * 30}80",  # and in a third one
]


@pytest.mark.parametrize("point", NO_POINTS)
def test_public_keys_that_are_none(
    point: str, tmp_path: Path, keys: list[Path], agreed: owners.Plan
) -> None:
    """Points whose secrets everybody knows, and other spellings of a key."""
    file = tmp_path / "odd.key.pub"
    content = json.loads(public(keys)[0].read_text())
    file.write_text(json.dumps(content | {"public": point}))
    with pytest.raises(ModelFileError, match=re.escape(str(file))):
        owners.plan(GaussianNB(), [[1.0], [2.0]], [0, 1], public=[*public(keys[:2]), file])
    agreed.save(file)
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"owners": [*content["owners"][:2], point]}))
    with pytest.raises(ModelFileError, match=re.escape(str(file))):
        owners.Plan.load(file)


@pytest.mark.parametrize("text", ["", "suffice public key", "[]", "{}", '{"format": 3}'])
def test_what_is_no_key(text: str, tmp_path: Path, keys: list[Path], agreed: owners.Plan) -> None:
    file = tmp_path / "odd.key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ModelFileError, match=re.escape(str(file))):
        owners.plan(GaussianNB(), [[1.0], [2.0]], [0, 1], public=[*public(keys[:2]), file])
    with pytest.raises(ModelFileError, match=re.escape(str(file))):
        owners.masked_sums([[1.0, 2.0]], ["ill"], plan=agreed, key=file)


def test_keys_of_others(tmp_path: Path, keys: list[Path], agreed: owners.Plan) -> None:
    with pytest.raises(ParameterError, match=re.escape(str(keys[5]))):
        owners.masked_sums([[1.0, 2.0]], ["ill"], plan=agreed, key=keys[5])
    with pytest.raises(ParameterError, match=re.escape(str(keys[0]))):
        owners.keys(keys[0])
    taken = tmp_path / "new.key.pub"
    taken.write_text("of another")
    with pytest.raises(ParameterError, match=re.escape(str(taken))):
        owners.keys(tmp_path / "new.key")
    assert [file.name for file in tmp_path.iterdir()] == ["new.key.pub"]
    assert taken.read_text() == "of another"


@pytest.mark.skipif(os.name != "posix", reason="the modes of files are those of POSIX")
def test_keys_that_others_can_read(keys: list[Path], agreed: owners.Plan) -> None:
    owners.masked_sums([[1.0, 2.0]], ["ill"], plan=agreed, key=keys[2])  # which it remembers
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}
    seen = keys[0].with_name("seen.key")
    seen.write_bytes(keys[0].read_bytes())
    seen.chmod(0o644)
    with pytest.raises(ModelFileError, match="chmod 600"):
        owners.masked_sums([[1.0, 2.0]], ["ill"], plan=agreed, key=seen)


def test_a_plan_that_was_altered(tmp_path: Path, agreed: owners.Plan, keys: list[Path]) -> None:
    file = tmp_path / "plan.json"
    agreed.save(file)
    content = json.loads(file.read_text())
    changes: list[dict[str, Any]] = [
        {"owners": content["owners"][:2]},
        {"owners": [content["owners"][0]] * 3},
        {"columns": []},
        {"columns": [{"x0": 10**9, "x1": 3}]},
        {"columns": [{"x0": True, "x1": 3}]},
        {"columns": [{"x0": 3.5, "x1": 3}]},
        {"columns": [{"x0": 3, "x1": 3, "x2": 3}]},
        {"columns": [{"x0": 3}]},
        {"weighted": 1},
        {"round": 1},
        {"labels": ["dead", "dead"]},
        {"read": {}},
        {"estimator": "os"},
        {"arrays": {"0": []}},
        {"format_version": 2},
        {"more": 1},
    ]
    for change in changes:
        file.write_text(json.dumps(content | change))
        with pytest.raises(ModelFileError, match=re.escape(str(file))):
            owners.Plan.load(file)
    for change in ({"labels": ["dead"]}, {"owners": content["owners"][::-1]}, {"round": "0"}):
        file.write_text(json.dumps(content | change))
        assert owners.Plan.load(file).digest != agreed.digest


# -- commands


def test_commands_of_three_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From keys to a model, as the page has it; no error is a traceback."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for i in range(3):
        columns = rng.normal(60, 9, 40).round(1), rng.choice(["Bonn", "Ulm"], 40)
        cells = zip(*columns, rng.choice(["ill", "well"], 40), strict=True)
        lines = ["age,town,outcome", *(",".join(map(str, row)) for row in cells)]
        Path(f"{i}.csv").write_text("\n".join(lines) + "\n")

    def suffice(line: str) -> Result:
        return CliRunner().invoke(app, line.split(), prog_name="suffice")

    for i in range(3):
        assert suffice(f"keys -o {i}.key").exit_code == 0
    given = " ".join(f"--public {i}.key.pub" for i in range(3))
    made = suffice(f"plan 0.csv --label outcome {given} -o plan.json")
    assert "Bonn, Ulm" in made.stdout
    assert "Bonn, Ulm" in suffice("show plan.json").stdout
    for i in range(3):
        done = suffice(f"sums {i}.csv --plan plan.json --key {i}.key -o {i}.masked")
        assert done.exit_code == 0, done.output
    assert suffice("merge 0.masked 1.masked 2.masked --plan plan.json -o all.sums").exit_code == 0
    rows = [f"{i}.csv" for i in range(3)]
    model, found = NaiveBayes.textbook(), NaiveBayes.textbook().fit(load("all.sums"))
    expected = model.fit(rows, "outcome").predict_proba(rows)
    assert np.array_equal(found.predict_proba(rows), expected)
    assert suffice("audit all.sums").exit_code == 0
    assert suffice("fit all.sums --numbers gaussian --calibration none -o m.suffice").exit_code == 0
    for i in range(2):
        line = f"sums {i}.csv --label outcome --numbers gaussian --calibration none -o {i}.sums"
        assert suffice(line).exit_code == 0
    assert suffice("merge 0.sums 1.sums -o two.sums").exit_code == 0
    assert load("two.sums") == NaiveBayes.textbook().sums(rows[:2], "outcome")
    refused = {
        "keys -o 0.key": "0.key is there",
        "plan 0.csv --label outcome --public 0.key.pub --public 1.key.pub -o plan.json": "third",
        "sums 1.csv --plan plan.json --key 0.key -o new.masked": "other sums",
        "sums 1.csv --plan plan.json -o new.masked": "--key",
        "sums 1.csv --plan plan.json --key 1.key -o 1.key": "1.key",
        "sums 1.csv --plan plan.json --key 1.key --label town -o new.masked": "--label",
        "merge 0.masked 1.masked -o new.sums": "--plan",
        "merge 0.sums 0.csv -o new.sums": "0.csv",
        "merge 0.masked 1.masked --plan plan.json -o new.sums": "missing",
        "merge 0.masked 1.masked 2.csv --plan plan.json -o all.sums": "2.csv",
    }
    for line, said in refused.items():
        result = suffice(line)
        assert result.exit_code == 2, line
        assert said in " ".join(result.stderr.split()), line
