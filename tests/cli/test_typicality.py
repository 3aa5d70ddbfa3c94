"""``suffice predict --typicality``: how unlike the training rows each row is."""

import csv
import io

import suffice


def test_typicality_is_a_column(run, model, fruit):
    rows = fruit.with_name("new.csv")
    rows.write_text("id,size,color\n1,1.1,red\n2,900,blue\n3,,violet\n")
    result = run("predict", model, rows, "--typicality")
    assert result.exit_code == 0, result.stderr
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    expected = suffice.load(model).typicality(str(rows))
    assert list(found[0]) == ["prediction", "typicality", "missing", "unseen"]
    assert [float(row["typicality"]) for row in found] == expected.probability.tolist()
    assert [int(row["missing"]) for row in found] == expected.missing.tolist()
    assert [int(row["unseen"]) for row in found] == expected.unseen.tolist()
    assert (expected.missing + expected.unseen).tolist() == [0, 0, 2]
    assert expected.probability[1] < 0.1 < expected.probability[0]


def test_a_model_of_numbers_or_of_labels_has_none(run, fruit, tmp_path):
    fit = ("fit", fruit, "--ignore", "id", "--incomplete", "drop", "-o")
    assert run(*fit, tmp_path / "a", "--label", "size", "--model", "linear").exit_code == 0
    result = run("predict", tmp_path / "a", fruit, "--typicality")
    assert result.exit_code == 2
    assert "--typicality is given for a LinearRegression" in result.stderr
    assert run(*fit, tmp_path / "b", "--label", "kind", "--model", "logistic").exit_code == 0
    result = run("predict", tmp_path / "b", fruit, "--typicality")
    assert result.exit_code == 2
    assert "LogisticRegression models labels" in result.stderr
