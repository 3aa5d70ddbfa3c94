"""One family, one file: the file's name is the name that users write."""

from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

import suffice.families
from suffice.families import Family, family_named, family_names

FILES = family_names()
#: Families whose prior is part of what they are.
SHAPES = {"density"}


def test_there_are_families() -> None:
    assert {"bernoulli", "categorical", "gaussian", "multinomial", "poisson"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_family_file_answers_to_its_name(name: str) -> None:
    family = family_named(name)
    assert family.name == name
    assert type(family) is getattr(import_module(f"suffice.families.{name}"), type(family).__name__)


@pytest.mark.parametrize("name", FILES)
def test_a_family_is_exported(name: str) -> None:
    cls = type(family_named(name))
    assert getattr(suffice.families, cls.__name__) is cls


@pytest.mark.parametrize("name", FILES)
def test_a_family_is_a_frozen_record_whose_options_have_defaults(name: str) -> None:
    family = family_named(name)
    assert isinstance(family, Family)
    assert is_dataclass(family)
    assert hash(family) == hash(type(family)())
    has_estimation = "estimation" in {f.name for f in fields(family)}
    assert has_estimation == (family.is_distribution and name not in SHAPES)
