"""Weights of classes are an option of ``suffice fit``, and stay in the model file."""

import pytest

import suffice


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i % 7},{i * i % 5},{'aab'[i % 3]},{i % 2}" for i in range(30)]
    path.write_text("\n".join(["u,v,y,z", *rows]))
    return str(path)


@pytest.mark.parametrize("model", ["naive-bayes", "lda", "logistic"])
def test_classes_are_weighed(run, table, tmp_path, model):
    files = ("fit", table, "--label", "y", "-o", str(tmp_path / "m"), "--model", model)
    assert run(*files, "--ignore", "z", "-p", "class_weight=a:1,b:2").exit_code == 0
    assert suffice.load(tmp_path / "m").class_weight == {"a": 1.0, "b": 2.0}


def test_labels_that_are_numbers_are_weighed(run, table, tmp_path):
    files = ("fit", table, "--label", "z", "-o", str(tmp_path / "m"))
    assert run(*files, "-p", "class_weight=0:1,1:3").exit_code == 0
    assert suffice.load(tmp_path / "m").class_prior_.tolist() == [0.25, 0.75]


def test_what_is_no_weight_is_refused(run, table, tmp_path):
    files = ("fit", table, "--label", "y", "-o", str(tmp_path / "m"))
    result = run(*files, "-p", "class_weight=a")
    assert result.exit_code == 2
    assert "--class-weight a; it is 'balanced', or maps labels" in result.stderr.replace("\n", " ")
