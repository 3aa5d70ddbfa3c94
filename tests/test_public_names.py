"""The public names: listed, there, and explained."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import suffice


def modules() -> list[str]:
    """Modules that list names: the public ones."""
    found = (m.name for m in pkgutil.walk_packages(suffice.__path__, "suffice."))
    names = ["suffice", *(name for name in found if not name.endswith("__main__") and there(name))]
    return [name for name in names if hasattr(import_module(name), "__all__")]


def there(module: str) -> bool:
    """Whether a module can be imported: the library that it needs may be an extra."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        return str(error.name).startswith("suffice")
    return True


def known(module: ModuleType, entry: str) -> bool:
    """Whether a module has a name, or would have it with a library that is an extra."""
    try:
        return hasattr(module, entry)
    except ModuleNotFoundError as error:
        return not str(error.name).startswith("suffice")


def public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Public callables that a module defines, and the public methods of its classes."""
    for name in getattr(module, "__all__", ()):
        try:
            found = getattr(module, name)
        except ModuleNotFoundError:  # `known` tells whether that may be
            continue
        if getattr(found, "__module__", None) != module.__name__ or not callable(found):
            continue
        yield name, found
        if isinstance(found, type):
            for attribute, value in vars(found).items():
                if not attribute.startswith("_") and (
                    callable(value) or isinstance(value, property | classmethod | staticmethod)
                ):
                    yield f"{name}.{attribute}", value


def test_the_package_shows_what_it_lists() -> None:
    classes = [
        *("AODE", "AutoClassifier", "BayesClassifier", "ElasticNet", "GroupedSums", "Lasso"),
        *("LinearDiscriminantAnalysis", "LinearRegression", "LogisticRegression", "NaiveBayes"),
        *("QuadraticDiscriminantAnalysis", "Ridge"),
    ]
    others = [
        *("__version__", "engine", "load", "read_csv", "read_excel", "read_sql", "read_table"),
        *("report", "set_engine", "sql_of_sums"),
    ]
    assert sorted(suffice.__all__) == classes + others
    assert dir(suffice) == sorted(suffice.__all__)
    namespace: dict[str, object] = {}
    exec("from suffice import *", namespace)
    assert set(suffice.__all__) <= set(namespace)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'nothing'"):
        _ = suffice.nothing  # type: ignore[attr-defined]


def test_public_names_are_listed_once_there_and_explained() -> None:
    for name in modules():
        module = import_module(name)
        assert module.__doc__, f"{name} has no docstring"
        listed = list(getattr(module, "__all__", ()))
        assert len(listed) == len(set(listed)), name
        assert [entry for entry in listed if not known(module, entry)] == [], name
        assert [entry for entry, found in public(module) if not found.__doc__] == [], name
