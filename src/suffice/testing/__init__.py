"""Laws that statistics, families, estimators and engines keep, to be run on your own.

::

    check_statistic(parts)                      a group: empty, +, −; and model files
    check_family(family, batches)               estimates, scores, samples and forms
    check_estimator_laws(make, table, label)    pieces, order, forgetting, merging, weights, files
    check_rows(model, X)                        what is said of a row depends on that row alone
    check_engine(engine)                        order, exceptions, copies
    check_recovery(engine, kernel, ...)         workers that die
    check_faults(engine, make, path, label)     workers that die, stand still, or are cut off
    check_resuming(make, path, label)           fits that signals end, and that go on

Each takes data, and raises `AssertionError` with the law that is broken. They
need no test runner, and work well with values that Hypothesis draws.
"""

from suffice.testing.engine_laws import check_engine, check_recovery
from suffice.testing.estimator_laws import check_estimator_laws
from suffice.testing.family_laws import check_family
from suffice.testing.fault_laws import check_faults
from suffice.testing.interruption_laws import check_resuming
from suffice.testing.row_laws import check_rows
from suffice.testing.statistic_laws import check_statistic

__all__ = [
    "check_engine",
    "check_estimator_laws",
    "check_family",
    "check_faults",
    "check_recovery",
    "check_resuming",
    "check_rows",
    "check_statistic",
]
