"""``NAME=VALUE`` as ``-p`` and ``-r`` take it: Python literals, or plain words."""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from suffice.cli.options.names import listed
from suffice.errors import ParameterError
from suffice.phrases import meant

__all__ = ["named_values", "value_of", "words_of", "written_value"]

MAPPINGS = ("families", "class_weight", "ordered", "reference", "written", "label_map")
SEQUENCES = ("categorical", "text", "missing", "names", "candidates", "leave_out")
TEXTS = (
    *("formula", "separator", "quote", "decimal", "thousands", "sheet", "encoding"),
    "label_suffix",
)
WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}
MARKS = {"tab": "\t", r"\t": "\t", "none": None}


def named_values(
    option: str, given: Sequence[str] | None, known: Collection[str], owner: str
) -> dict[str, Any]:
    """Return the values by name; lists and mappings that are given twice are joined.

    Parameters
    ----------
    option : str
        Such as ``-p``, for messages.
    given : sequence of str, optional
    known : collection of str
        The names that there are.
    owner : str
        What has them, for messages.

    Raises
    ------
    ParameterError
        If one is not written NAME=VALUE, or the name is unknown.

    Examples
    --------
    >>> named_values("-p", ["alpha=0.5", "unseen=error"], ["alpha", "unseen"], "NaiveBayes")
    {'alpha': 0.5, 'unseen': 'error'}
    """
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
    """Return the value of a parameter, of which its name tells whether it is a list or a mapping.

    Examples
    --------
    >>> value_of("C", "inf"), value_of("penalty", "none"), value_of("costs", "[[0,1],[5,0]]")
    (inf, None, [[0, 1], [5, 0]])
    >>> value_of("class_weight", "spam:5,ham:1"), value_of("families", "x:poisson")
    ({'spam': 5, 'ham': 1}, {'x': 'poisson'})
    >>> value_of("ordered", "size:S,M,L"), value_of("written", "day:DD/MM/YYYY")
    ({'size': ['S', 'M', 'L']}, {'day': 'DD/MM/YYYY'})
    """
    if name in TEXTS:
        return text if name == "formula" else MARKS.get(text, text)
    if name in MAPPINGS and ":" in text and not text.startswith("{"):
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
    """Read KEY:VALUE,KEY:VALUE; a part without a key belongs to the one before."""
    pairs: list[tuple[str, list[str]]] = []
    for part in listed([text]):
        key, sign, value = part.partition(":")
        if sign:
            pairs.append((key.strip(), [value.strip()]))
        elif pairs:
            pairs[-1][1].append(part)
    if name == "ordered":
        return dict(pairs)
    if name == "class_weight":
        return {_plain(key): _plain(",".join(values)) for key, values in pairs}
    return {key: ",".join(values) for key, values in pairs}


def _plain(text: str) -> Any:
    """Return a label or a number: true, false, a number as it is printed, or the text."""
    value = value_of("", text)
    return value if isinstance(value, bool) or str(value) == text else text


def written_value(value: Any) -> str:
    """Return a value as it is written after ``NAME=``.

    Examples
    --------
    >>> written_value("firth"), written_value(None), written_value({"day": "DD/MM/YYYY"})
    ('firth', 'none', 'day:DD/MM/YYYY')
    >>> written_value(["a", "b"]), written_value({"a": ["low", "high"]}), written_value(0.5)
    ('a,b', 'a:low,high', '0.5')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{key}:{written_value(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(written_value, value))
    return str(value)


def words_of(option: str, given: Iterable[str] | None) -> list[str]:
    """Return the words of a line that say the same again."""
    return [word for one in given or () for word in (option, one)]


def short_options(
    args: Sequence[str], own: Collection[str], takes: Collection[str], model: str
) -> list[str]:
    """Return the words of a line with parameters of the reader and the model behind -r and -p.

    Examples
    --------
    >>> short_options(["a.csv", "--missing", "x", "--no-header"], ["--label"], ["-r"], "")
    ['a.csv', '-r', 'missing=x', '-r', 'header=false']
    """
    words, rest = list[str](), list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*words, word, *rest]
        name, sign, value = word.removeprefix("--").partition("=")
        found = word.startswith("--") and f"--{name}" not in own and _short(name, takes, model)
        if not found:
            words.append(word)
            continue
        short, parameter, known = found
        if sign:
            words += [short, f"{parameter}={value}"]
        elif known is not None:
            given = rest and rest[0].lower() in ("true", "false")
            words += [short, f"{parameter}={rest.pop(0) if given else known}"]
        elif rest:
            words += [short, f"{parameter}={rest.pop(0)}"]
        else:
            raise ParameterError(f"{word} has no value", f"write {word} VALUE")
    return words


def _short(name: str, takes: Collection[str], model: str) -> tuple[str, str, str | None] | None:
    """Return what a long option is called behind -r or -p; of a switch, its value too."""
    from suffice.cli.options.reading import reader_parameters
    from suffice.cli.options.recipes import model_parameters

    plain = name.replace("-", "_")
    switches = [(plain, "true")]
    if plain.startswith("no_"):
        switches += [(plain[3:], "false"), (f"fit_{plain[3:]}", "false")]
    for short, known in (("-r", reader_parameters), ("-p", lambda: model_parameters(model))):
        if short not in takes:
            continue
        parameters = known()
        for one, value in switches:
            if one in parameters and (parameters[one] or value == "true"):
                return short, one, value if parameters[one] else None
    return None
