"""Fixtures that several folders of tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets, which is not part of the repository."""
    if not DATA.is_dir():
        pytest.skip(f"the data sets are absent: {DATA} (set SUFFICE_DATA)")
    return DATA
