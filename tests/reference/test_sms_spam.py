"""Raw text messages: tab separated, no header, quotes that quote nothing."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes, read_csv

TYPES = {"label": pa.string(), "text": pa.string()}


@pytest.fixture(scope="module")
def messages(data: Path) -> pa.Table:
    file = data / "sms_spam" / "SMSSpamCollection"
    table = read_csv(file, header=False, names=list(TYPES), separator="\t", quote=None, missing=[])
    parts = table.parts(TYPES)
    return pa.Table.from_batches([batch for s in parts for batch in s.record_batches()])


# The split: numpy.random.default_rng(0).permutation, its first 30 % for the test, the rest for
# training. Regression numbers; the issue asks for 97.5 %.
@pytest.mark.parametrize(
    ("families", "wrong"), [(None, 23), ({"text": "multinomial"}, 23), ({"text": "bernoulli"}, 35)]
)
def test_thirty_seventy_split(messages, families, wrong):
    assert messages.num_rows == 5574
    order = np.random.default_rng(0).permutation(5574)
    test, train = messages.take(order[:1672]), messages.take(order[1672:])
    model = NaiveBayes.textbook(families=families).fit(train, "label")
    found = model.evaluate(test, "label")
    assert found.weight - found.confusion.value.trace() == wrong
    assert found.accuracy >= 0.975
