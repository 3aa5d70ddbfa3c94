"""``suffice searchlight``: accuracy of a classifier in the neighbourhood of every voxel."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.atomic import atomic_writer
from suffice.cli.models import refuse_result
from suffice.cli.options import AsJson, option
from suffice.cli.output import deliver
from suffice.cli.values import named_values
from suffice.errors import ParameterError, library
from suffice.numerics.in_print import Table, percent, probability, short
from suffice.phrases import amount

if TYPE_CHECKING:
    from suffice.images import SearchLight


def searchlight(
    *,
    scans: Annotated[
        list[str], typer.Argument(metavar="SCANS", help="4-D images, .nii or .nii.gz.")
    ],
    output: Annotated[Path, option("IMAGE", "The map of accuracies.", "--output", "-o")],
    labels: Annotated[Path, option("FILE", "A line for every volume: label, run.")],
    mask: Annotated[Path | None, option("IMAGE", "Voxels to use, those not zero.")] = None,
    parameters: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Of suffice.images.SearchLight, also --NAME VALUE: --radius 6 (mm), or --shape "
            "cube --radius 1 (3 x 3 x 3 voxels); --leave-out rest, --detrend run, --zscore run, "
            "--permutations 1000, --random-state 0.",
            "--parameter",
            "-p",
        ),
    ] = None,
    p_values: Annotated[Path | None, option("IMAGE", "Family-wise p-values.")] = None,
    maps: Annotated[Path | None, option("FOLDER", "The mean map of each class.")] = None,
    png: Annotated[Path | None, option("FILE", "The map as a picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Map the accuracy of searchlights in brain images.

    Gaussian naive Bayes on the voxels around each voxel, leaving out one run at a
    time; the images are read once.

    Example: suffice searchlight bold.nii --labels runs.txt --radius 6 -o map.nii
    """
    from suffice.images.labels import read_attributes

    light = _light(mask, parameters)
    inputs = [*scans, *([mask] if mask else [])]
    _check_outputs(output, p_values, png, inputs, light.permutations)
    light.fit(scans, *read_attributes(labels))
    images = {output: light.scores_img_}
    if p_values is not None:
        images[p_values] = light.fwe_p_img_
    if maps is not None:
        for c in light.classes_.tolist():
            name = re.sub(r"[^\w.-]", "_", str(c))
            images[maps / f"mean_{name}.nii.gz"] = light.class_mean_img(c)
        maps.mkdir(parents=True, exist_ok=True)
    _write(images, png, light, scans)
    facts = _facts(light, [*images, *([png] if png else [])])
    deliver(facts, _shown(facts), as_json)


def _light(mask: Path | None, given: Sequence[str] | None) -> SearchLight:
    """Return the searchlight that the options stand for."""
    from suffice.images import SearchLight

    known = list(signature(SearchLight).parameters)[1:]
    found = named_values("-p", given, known, "SearchLight")
    if "radius" not in found:
        raise ParameterError(
            "--radius is not given",
            "a searchlight has a size",
            "for example --radius 6 (mm), or --shape cube --radius 1 (voxels)",
        )
    shown = sys.stderr is not None and sys.stderr.isatty()
    return SearchLight(mask, **{"n_jobs": -1, "progress": shown, **found})


def _check_outputs(
    output: Path, p_values: Path | None, png: Path | None, inputs: Sequence[Any], permutations: int
) -> None:
    """Refuse outputs that cannot be written before anything is read."""
    for name, path in {"--output": output, "--p-values": p_values, "--png": png}.items():
        refuse_result(path, inputs, name)
        if path is not None and name != "--png" and not path.name.endswith((".nii", ".nii.gz")):
            raise ParameterError(
                f"{name} {path}", "a map is a NIfTI image", "end the name in .nii.gz"
            )
    if p_values is not None and not permutations:
        raise ParameterError(
            "--p-values is given without --permutations", "p-values come from permuted labels"
        )
    if png is not None:
        library("matplotlib", "--png is given", "pip install 'suffice[plot]'")


def _write(
    images: dict[Path, Any], png: Path | None, light: SearchLight, scans: Sequence[str]
) -> None:
    """Write all files, or none: each takes its name when all are complete."""
    with ExitStack() as stack:
        for path, image in images.items():
            image.set_data_dtype("float32")
            data = image.to_bytes()
            file = stack.enter_context(atomic_writer(path))
            file.write(gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)
        if png is not None:
            import numpy as np

            from suffice.images.mosaic import draw_mosaic
            from suffice.images.scans import open_scans

            threshold = light.fwe_threshold_ if light.permutations else None
            framed = "" if threshold is None else f"; framed: above {percent(threshold)}"
            draw_mosaic(
                stack.enter_context(atomic_writer(png)),
                light.scores_,
                light.process_mask_,
                light.grid_,
                f"Accuracy of {light.n_elements_:,} searchlights{framed}",
                f"accuracy (chance {percent(light.chance_)})",
                threshold,
                anatomy=np.asarray(open_scans(scans)[0].data[..., 0]),
            )


def _facts(light: SearchLight, files: Sequence[Path]) -> dict[str, Any]:
    best = light.best_voxel_
    facts = {
        "output": str(files[0]),
        "files": list(map(str, files)),
        "classes": light.classes_.tolist(),
        "folds": len(light.folds_),
        "volumes": len(light.volumes_),
        "voxels": light.n_elements_,
        "chance": light.chance_,
        "mean": float(light.masked_scores_.mean()),
        "best": {
            "accuracy": float(light.scores_[best]),
            "voxel": list(best),
            "mm": light.grid_.position(best).tolist(),
        },
        "whole_mask": light.whole_mask_score_,
    }
    if light.permutations:
        facts["permutations"] = len(light.null_max_)
        facts["threshold"] = light.fwe_threshold_
        facts["voxels_above"] = int((light.masked_scores_ > light.fwe_threshold_).sum())
        facts["whole_mask_p"] = light.whole_mask_p_
    return facts


def _shown(facts: dict[str, Any]) -> Iterator[str | Table]:
    yield (
        f"{amount(facts['volumes'])} volumes of {len(facts['classes'])} classes, "
        f"{facts['folds']} folds, {amount(facts['voxels'])} searchlights\n"
    )
    best = ", ".join(short(round(place, 1)) for place in facts["best"]["mm"])
    p = f", p = {probability(facts['whole_mask_p'])}" if "whole_mask_p" in facts else ""
    rows = {
        "chance (most frequent class)": facts["chance"],
        "mean of all searchlights": facts["mean"],
        f"best, around ({best}) mm": facts["best"]["accuracy"],
        f"whole mask{p}": facts["whole_mask"],
    }
    yield Table("", ["", "accuracy"], [[name, percent(share)] for name, share in rows.items()])
    if "threshold" in facts:
        yield (
            f"  {amount(facts['voxels_above'])} voxels above {percent(facts['threshold'])} "
            f"(family-wise error 5 %, {amount(facts['permutations'])} permutations)"
        )
    yield "\n".join(["  written:", *(f"    {name}" for name in facts["files"])])
