"""Pictures are drawn without a screen, and closed."""

from collections.abc import Iterator

import pytest

mpl = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    yield
    plt.close("all")
