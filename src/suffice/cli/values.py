"""``NAME=VALUE``: parameters of models and of the reader, from text and back."""

from __future__ import annotations

import csv
import math
import re
import shlex
from ast import literal_eval
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from inspect import getdoc, signature
from typing import Any, Literal, get_args, get_origin, get_type_hints

import suffice
from suffice.errors import ParameterError
from suffice.numerics import in_print
from suffice.phrases import meant, printable

NAIVE_BAYES, LINEAR, LOGISTIC = "naive-bayes", "linear", "logistic"
OF_FAMILIES = (NAIVE_BAYES, "aode")
REGRESSIONS = ("linear", "ridge", "lasso", "elastic-net")
MODELS = {
    NAIVE_BAYES: "NaiveBayes",
    "aode": "AODE",
    "lda": "LinearDiscriminantAnalysis",
    "qda": "QuadraticDiscriminantAnalysis",
    LINEAR: "LinearRegression",
    "ridge": "Ridge",
    "lasso": "Lasso",
    "elastic-net": "ElasticNet",
    LOGISTIC: "LogisticRegression",
    "logistic-bins": "LogisticRegression",
    "auto": "AutoClassifier",
}
OWN = {"logistic-bins": ("numbers=bins",)}  # parameters that are said by the name of a model
LABELS = ("label_suffix", "label_map")  # of the reader, whatever the format
SWITCHES = ("header", "strip")  # of the reader

OF_LABELS = ("class_weight", "class_prior", "priors", "words")  # mappings to numbers
MAPPINGS = (*OF_LABELS, "families", "ordered", "reference", "written", "label_map")
SEQUENCES = ("categorical", "text", "missing", "names", "candidates", "leave_out")
TEXTS = (
    *("formula", "separator", "quote", "decimal", "thousands", "sheet", "encoding"),
    "label_suffix",
)
WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}
MARKS = {"tab": "\t", r"\t": "\t", "none": None}


# Names of columns -----------------------------------------------------------------------------


def listed(given: Sequence[str] | None) -> tuple[str, ...]:
    """Cut comma lists of names into names; one that holds a comma stands in quotes, as in CSV."""
    names: list[str] = []
    for item in given or ():
        try:
            names += next(csv.reader([item], skipinitialspace=True)) or [""]
        except csv.Error:  # a name has lines
            names += item.split(",")
    return tuple(map(str.strip, names))


def check_columns(option: str, given: Iterable[str], names: Collection[str]) -> None:
    """Refuse what an option names that is no column."""
    for name in given:
        if name in names:
            continue
        known = [one for one in names if "," in one and name in map(str.strip, one.split(","))]
        step = meant(name, names)
        if known:
            quoted = '"' + known[0].replace('"', '""') + '"'
            step = f"a name that holds a comma stands in quotes: --{option} {shlex.quote(quoted)}"
        fact = f"--{option} names the column {name!r}"
        raise ParameterError(fact, f"the columns are {in_print.listed(map(repr, names))}", step)


# Models and their parameters --------------------------------------------------------------------


def class_of(model: str) -> Any:
    if model not in MODELS:
        raise ParameterError(f"--model {model!r}", f"the models are {', '.join(map(repr, MODELS))}")
    return getattr(suffice, MODELS[model])


@cache
def parameters_of(model: str) -> Mapping[str, bool]:
    """Return the parameters of a model that ``-p`` sets, and which are true or false."""
    from suffice.models.base.scikit_learn import effective

    defaults = signature(class_of(model)).parameters
    names = effective(class_of(model))
    return {name: isinstance(defaults[name].default, bool) for name in names}


def reader_parameters() -> Mapping[str, bool]:
    """Return the parameters of the reader that ``-r`` sets, and which are true or false."""
    from suffice.data.text_format import TextFormat

    known = [*(field.name for field in fields(TextFormat)), "sheet", *LABELS]
    return {name: name in SWITCHES for name in known}


def described(model: str) -> list[tuple[str, str]]:
    """Return the parameters with the first sentences of what the docstring of the class says."""
    said: dict[str, str] = {}
    current: list[str] = []
    for cls in reversed(class_of(model).__mro__):
        for line in (getdoc(cls) or "").splitlines() if cls.__doc__ else ():
            names, colon, _ = line.partition(" : ")
            if colon and not line.startswith(" "):
                current = [name.strip() for name in names.split(",")]
                said |= dict.fromkeys(current, "")
            elif line.startswith("    ") and current:
                said |= {name: f"{said[name]} {line.strip()}" for name in current}
            elif line and not line.startswith(" "):
                current = []
    defaults = signature(class_of(model)).parameters
    sentences = {
        name: text.strip().replace("``", "").partition(". ") for name, text in said.items()
    }
    hints = get_type_hints(class_of(model))
    with suppress(NameError):  # of names that only the module of a base class has
        hints |= get_type_hints(class_of(model).__init__)
    values = {
        name: dict.fromkeys(map(written_value, (defaults[name].default, *_words_of(hints[name]))))
        for name in parameters_of(model)
    }
    return [
        (f"{name}={'|'.join(written)}", "".join(sentences.get(name, ("",))[:2]).strip())
        for name, written in values.items()
    ]


def _words_of(hint: Any) -> Iterator[Any]:
    """Yield the words that a type takes."""
    if get_origin(hint) is Literal:
        yield from (value for value in get_args(hint) if value != "deprecated")
        return
    for part in get_args(hint):
        yield from _words_of(part)


# Values -----------------------------------------------------------------------------------------


def named_values(
    option: str, given: Sequence[str] | None, known: Collection[str], owner: str
) -> dict[str, Any]:
    """Return the values by name; lists and mappings that are given twice are joined."""
    found: dict[str, Any] = {}
    for one in given or ():
        name, sign, text = one.partition("=")
        name = name.strip().replace("-", "_")
        if name not in known:
            rule = f"its parameters are {', '.join(known)}"
            fact = f"{option} {one}: {owner} has no parameter {name!r}"
            raise ParameterError(fact, rule, meant(name, known))
        if not sign:
            raise ParameterError(
                f"{option} {one}", "it is a name, =, and a value", f"write {option} {name}=VALUE"
            )
        value = value_of(name, text)
        if isinstance(value, dict) and isinstance(found.get(name), dict):
            value = found[name] | value
        elif isinstance(value, list) and isinstance(found.get(name), list):
            value = found[name] + value
        found[name] = value
    return found


def value_of(name: str, text: str) -> Any:
    """Return the value of a parameter; its name tells whether it is a list or a mapping."""
    if name in TEXTS:
        return text if name == "formula" else MARKS.get(text, text)
    if name in MAPPINGS and re.search("[:=]", text) and not text.startswith("{"):
        return _mapping(name, text)
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        value = text
    if name in SEQUENCES:
        return list(value) if text[:1] in ("[", "(") else list(listed([text]))
    if name == "calibration" and text == "none":
        return text
    return WORDS.get(text.lower(), value)


def _mapping(name: str, text: str) -> dict[Any, Any]:
    """Read KEY:VALUE,KEY:VALUE, or KEY=VALUE; a part without a key belongs to the one before."""
    pairs: list[tuple[str, list[str]]] = []
    for part in listed([text]):
        mark = re.search("[:=]", part)
        if mark:
            pairs.append((part[: mark.start()].strip(), [part[mark.end() :].strip()]))
        elif pairs:
            pairs[-1][1].append(part)
    if name == "ordered":
        return dict(pairs)
    if name in OF_LABELS:
        return {_plain(key): _plain(",".join(values)) for key, values in pairs}
    return {key: ",".join(values) for key, values in pairs}


def _plain(text: str) -> Any:
    """Return a label or a number: true, false, a number as it is printed, or the text."""
    value = value_of("", text)
    return value if isinstance(value, bool) or str(value) == text else text


def written_value(value: Any) -> str:
    """Return a value as it is written after ``NAME=``."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{key}:{written_value(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(written_value, value))
    return str(value)


# Parameters as options ----------------------------------------------------------------------------


def short_options(args: Sequence[str], own: Collection[str], command: str | None) -> list[str]:
    """Return the words of a line with parameters of the reader and of models behind -r and -p.

    ``own`` are the options of the command, which come first.
    """
    words, rest = list[str](), list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*words, word, *rest]
        name, sign, value = word.partition("=")
        found = (
            _short(name[2:], own, command) if name.startswith("--") and name not in own else None
        )
        if found is None:
            words.append(word)
            continue
        short, parameter, switch = found
        if not sign:
            if switch is not None and not (rest and rest[0].lower() in ("true", "false")):
                value = switch
            elif rest:
                value = rest.pop(0)
            else:
                raise ParameterError(f"{word} has no value", "a parameter has one", f"{word} VALUE")
        words += [short, f"{parameter}={value}"]
    return words


def _short(
    name: str, own: Collection[str], command: str | None
) -> tuple[str, str, str | None] | None:
    """Return the parameter of a long option behind its -r or -p; of a switch, its value too."""
    plain = name.replace("-", "_")
    spellings = {plain: "true"}
    if plain.startswith("no_"):
        spellings |= {plain[3:]: "false", f"fit_{plain[3:]}": "false"}
    for short, parameters in _parameters(own, command):
        for one, value in spellings.items():
            if one in parameters and (parameters[one] or value == "true"):
                return short, one, value if parameters[one] else None
    return None


def _parameters(
    own: Collection[str], command: str | None
) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """Yield the parameters that a command takes, and which are true or false."""
    if "-r" in own:
        yield "-r", reader_parameters()
    if command == "searchlight":
        yield "-p", dict.fromkeys(OF_SEARCHLIGHT, False)
    elif "-p" in own:
        yield from (("-p", parameters_of(model)) for model in MODELS)


# Messages of the library: ``name=value`` as it is typed ------------------------------------------

FLAGS = {"learnt=False": "--new", "again=True": "--again"}
NAMES = {
    "cv": "--folds",
    "columns": "--ignore",
    "kind": "--interval",
}  # of options that are called otherwise
SAME = (
    *("ignore", "categorical", "text", "engine", "interval", "level"),
    "min_count",
    "permutations",
    "metric",
    "positive",
)
OF_SEARCHLIGHT = (
    *("leave_out", "permutations", "shape", "radius", "detrend", "zscore", "random_state"),
)
VALUE = r"'[^']*'|\"[^\"]*\"|\{[^{}]*\}|\[[^\[\]]*\]|\.\.\.|-?[\w.+-]*\w"
NAMED = re.compile(
    rf"(?<![\w.'\"-])(?<!-p )(?<!-r )(?<!--grid )(?P<name>[A-Za-z]\w*)=(?P<value>{VALUE})"
)


@cache
def _options() -> frozenset[str]:
    """Return the names that are options."""
    of_models = (name for model in MODELS for name in parameters_of(model))
    return frozenset((*SAME, *OF_SEARCHLIGHT, *reader_parameters(), *of_models))


def spelled(text: str) -> str:
    """Return a message with ``name=value`` as the command line has it."""
    text = str(text)
    return printable(NAMED.sub(_typed, text)) if "=" in text else text


def _typed(found: re.Match[str]) -> str:
    """Return ``name=value`` as it is typed; the same where the command line has no such name."""
    name, value = found["name"], found["value"].removeprefix("np.")
    if found[0] in FLAGS:
        return FLAGS[found[0]]
    if name not in NAMES and name not in _options():
        return found[0]
    option = NAMES.get(name) or f"--{name.replace('_', '-')}"
    if value == "...":
        return option
    if name in SWITCHES:
        return option if value == "True" else f"--no-{name}"
    with suppress(ValueError, SyntaxError):
        value = written_value(literal_eval(value))
    if name == "written":
        value = value.replace(":", "=", 1)  # a spelling may have colons of its own
    return f"{option} {shlex.quote(value)}" if value else f"{option} ''"


def words_of(option: str, given: Iterable[Any] | None) -> list[str]:
    """Return the words of a line that say the same again."""
    return [word for one in given or () for word in (option, str(one))]
