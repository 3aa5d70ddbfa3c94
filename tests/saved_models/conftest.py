"""Files of fitted models, a folder for each group of them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.saved_models.models import write


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder with the files of a group, which are written once."""

    @cache
    def folder(group: str) -> Path:
        path = tmp_path_factory.mktemp(group)
        write(path, group)
        return path

    return folder
