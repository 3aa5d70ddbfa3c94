"""Naive Bayes beside ``sklearn.naive_bayes``."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import rows
from benchmarks.measure.task import MEMORY, MILLION, Method, Target, Task

__all__ = ["TASKS"]

gaussian_fit = Method("GaussianNB", "fit")
gaussian_proba = Method("GaussianNB", "predict_proba")
float32 = partial(rows.normal, dtype=np.float32)
fortran = partial(rows.normal, order="F")
fit_targets = (Target("ratio", 20), Target("floors", 3.5), MEMORY)
proba_targets = (Target("ratio", 25),)

TASKS = (
    Task("gaussian-fit", gaussian_fit, rows.normal, MILLION, fit_targets),
    Task("gaussian-fit-float32", gaussian_fit, float32, MILLION, (MEMORY,)),
    Task("gaussian-fit-fortran", gaussian_fit, fortran, MILLION, fit_targets),
    Task("gaussian-proba", gaussian_proba, rows.normal, MILLION, proba_targets),
    Task("gaussian-proba-float32", gaussian_proba, float32, MILLION, proba_targets),
    Task("gaussian-proba-fortran", gaussian_proba, fortran, MILLION, proba_targets),
    Task(
        "bernoulli-fit",
        Method("BernoulliNB", "fit"),
        rows.booleans,
        MILLION,
        (Target("ratio", 100), MEMORY),
    ),
    Task(
        "bernoulli-predict",
        Method("BernoulliNB", "predict"),
        rows.booleans,
        MILLION,
        (Target("ratio", 10),),
    ),
    Task(
        "categorical-fit",
        Method("CategoricalNB", "fit"),
        rows.codes,
        MILLION,
        (Target("ratio", 20), MEMORY),
    ),
    Task(
        "categorical-predict",
        Method("CategoricalNB", "predict"),
        rows.codes,
        MILLION,
        (Target("ratio", 20),),
    ),
    Task(
        "multinomial-fit",
        Method("MultinomialNB", "fit"),
        rows.words,
        200_000,
        (Target("ratio", 3), MEMORY),
    ),
    Task(
        "multinomial-predict",
        Method("MultinomialNB", "predict"),
        rows.words,
        200_000,
        (Target("ratio", 2),),
    ),
    Task(
        "gaussian-batches",
        Method("GaussianNB", "partial_fit"),
        rows.normal,
        MILLION,
        (Target("fits", 1.3), MEMORY),
    ),
    Task("iris", Method("GaussianNB", "fit + predict"), rows.iris, 150, (Target("ratio", 1),)),
)
