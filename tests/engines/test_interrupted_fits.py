"""Fits that signals end at drawn moments, and a disk that is full: the same bytes in the end."""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.laws.interruption_laws import check_resuming
from tests.running import on

from suffice import LinearDiscriminantAnalysis, NaiveBayes
from suffice.engines import checkpoint
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import LocalEngine
from suffice.errors import ModelFileError, ParameterError

FITS: dict[str, Callable[..., Any]] = {
    "naive Bayes": NaiveBayes.textbook,
    "LDA": LinearDiscriminantAnalysis,
    "naive Bayes with weights": NaiveBayes,
}
ONE_SUM = ("naive Bayes", "LDA")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty row groups of numbers, and a label."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rng = np.random.default_rng(0)
    x = rng.normal([0.0, 1e6, -3.0], [1.0, 2.0, 1e-3], (4_000, 3))
    kind = np.where(x[:, 0] + rng.normal(size=len(x)) > 0, "yes", "no")
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "kind": kind}
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


def test_a_fit_that_signals_end_goes_on(file: Path) -> None:
    done = check_resuming(NaiveBayes.textbook, file, "kind", moments=3, seed=1)
    assert done.again <= done.signals.total()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FITS)
def test_fits_that_signals_end_at_a_hundred_moments_go_on(name: str, file: Path) -> None:
    done = check_resuming(FITS[name], file, "kind", moments=100)
    assert done.signals.total() + done.late == 100
    # The part that is begun is lost, and nothing else; other fits also read what is no sum.
    if name in ONE_SUM:
        assert done.again <= done.signals.total()
    print(name, done)


def checkpointed(folder: Path) -> CheckpointedEngine:
    return CheckpointedEngine(LocalEngine(1), folder / "checkpoint", every=0.0)


@pytest.mark.parametrize("name", ["naive Bayes", pytest.param("LDA", marks=pytest.mark.exhaustive)])
def test_a_disk_that_gets_full_costs_no_more_than_a_part(
    name: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SHARE", float("inf"))
    whole = FITS[name]().fit(file, "kind")
    whole.save(tmp_path / "whole")
    # The first states of a fit fit on the disk, a later one does not.
    with monkeypatch.context() as patch:
        written: list[int] = []
        patch.setattr(checkpoint, "write_model", partial(_measured, written))
        on(checkpointed(tmp_path), FITS[name]()).fit(file, "kind")
    limit = sorted(set(written))[len(set(written)) // 2]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(ModelFileError, match="checkpoint cannot be written: File too large"):
            on(checkpointed(tmp_path), FITS[name]()).fit(file, "kind")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert 0 < (tmp_path / "checkpoint").stat().st_size <= limit
    on(checkpointed(tmp_path), FITS[name]()).fit(file, "kind").save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "whole"]


WRITE = checkpoint.write_model


def _measured(written: list[int], path: Path, *content: Any, **how: Any) -> None:
    WRITE(path, *content, **how)
    written.append(path.stat().st_size)


def test_a_checkpoint_of_another_version_is_refused(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.TreeSum, "total", interrupt)
        with pytest.raises(KeyboardInterrupt):
            on(checkpointed(tmp_path), NaiveBayes.textbook()).fit(file, "kind")
    kept = (tmp_path / "checkpoint").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "__version__", "99.0")
        with pytest.raises(ParameterError, match="is the checkpoint of other work"):
            on(checkpointed(tmp_path), NaiveBayes.textbook()).fit(file, "kind")
    assert (tmp_path / "checkpoint").read_bytes() == kept
    on(checkpointed(tmp_path), NaiveBayes.textbook()).fit(file, "kind")
