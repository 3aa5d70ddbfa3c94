"""What ``suffice searchlight`` prints of a map, and the files that it writes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.atomic import atomic_writer
from suffice.cli.options.searchlight import Written
from suffice.cli.output.tables import amount, grid, percent, short

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.images import SearchLight

__all__ = ["facts_of", "rendered", "write_files"]

MOST_CLUSTERS = 10


# -- files


def write_files(light: SearchLight, output: Path, written: Written) -> list[Path]:
    """Write all files, or none: each takes its name when all are complete. Return the names."""
    names = []
    with ExitStack() as stack:
        for path, image in _images(light, output, written):
            if path.parent == written.maps:
                path.parent.mkdir(parents=True, exist_ok=True)
            _write_image(stack.enter_context(atomic_writer(path)), image, path)
            names.append(path)
        if written.png is not None:
            _draw(stack.enter_context(atomic_writer(written.png)), light)
            names.append(written.png)
    return names


def _images(light: SearchLight, output: Path, written: Written) -> Iterator[tuple[Path, Any]]:
    yield output, light.scores_img_
    if written.p_values is not None:
        yield written.p_values, light.fwe_p_img_
    if written.maps is None:
        return
    names = light.classes_.tolist()
    for name in names:
        yield written.maps / f"mean_{_safe(name)}.nii.gz", light.class_mean_img(name)
        yield written.maps / f"sd_{_safe(name)}.nii.gz", light.class_sd_img(name)
        yield written.maps / f"evidence_{_safe(name)}.nii.gz", light.evidence_img(name)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            file = f"contrast_{_safe(one)}_{_safe(other)}.nii.gz"
            yield written.maps / file, light.contrast_img(one, other)


def _safe(name: Any) -> str:
    """A label as part of the name of a file."""
    return re.sub(r"[^\w.-]", "_", str(name))


def _write_image(file: Any, image: Any, path: Path) -> None:
    image.set_data_dtype("float32")
    data = image.to_bytes()
    file.write(gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)


def _draw(file: Any, light: SearchLight) -> None:
    from suffice.images.mosaic import draw_mosaic

    threshold = light.fwe_threshold_ if light.permutations else None
    framed = "" if threshold is None else f"; framed: above {percent(threshold)}"
    draw_mosaic(
        file,
        light.scores_,
        light.process_mask_,
        light.grid_,
        f"Accuracy of {light.n_elements_:,} searchlights{framed}",
        f"accuracy (chance {percent(light.chance_)})",
        threshold,
    )


# -- words


def facts_of(light: SearchLight, files: Sequence[Path]) -> dict[str, Any]:
    """What is known of a map, for JSON and for tables."""
    best = light.best_voxel_
    facts: dict[str, Any] = {
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
        "regions": light.roi_scores_,
    }
    if light.permutations:
        facts["permutations"] = len(light.null_max_)
        facts["threshold"] = light.fwe_threshold_
        facts["voxels_above"] = int((light.masked_scores_ > light.fwe_threshold_).sum())
        facts["region_p"] = light.roi_p_
        facts["cluster_cut"] = light.cluster_cut_
        facts["cluster_threshold"] = light.cluster_threshold_
        facts["clusters"] = [
            {"voxels": c.voxels, "peak": list(c.peak), "mm": list(c.position),
             "accuracy": c.score, "p": c.p}
            for c in light.clusters_[:MOST_CLUSTERS]
        ]  # fmt: skip
    return facts


def rendered(light: SearchLight, facts: dict[str, Any]) -> Iterator[RenderableType]:
    """The same for people."""
    from suffice.numerics.in_print import probability

    best = facts["best"]
    table = grid("", "accuracy")
    table.add_row("chance (most frequent class)", percent(facts["chance"]))
    table.add_row("mean of all searchlights", percent(facts["mean"]))
    table.add_row(f"best, around {_mm(best['mm'])}", percent(best["accuracy"]))
    for name, score in facts["regions"].items():
        p = f", p = {probability(facts['region_p'][name])}" if "region_p" in facts else ""
        table.add_row(f"{name}{p}", percent(score))
    yield (
        f"{amount(facts['volumes'])} volumes of {len(facts['classes'])} classes, "
        f"{facts['folds']} folds, {amount(facts['voxels'])} searchlights"
    )
    yield table
    if "threshold" in facts:
        yield (
            f"  {amount(facts['voxels_above'])} voxels above {percent(facts['threshold'])}, "
            f"significant at 5 % by {amount(facts['permutations'])} permutations\n"
            f"  clusters above {percent(facts['cluster_cut'])}: more than "
            f"{amount(facts['cluster_threshold'])} voxels are significant"
        )
        clusters = grid("cluster", "voxels", "accuracy", "p")
        for c in facts["clusters"]:
            clusters.add_row(
                _mm(c["mm"]), str(c["voxels"]), percent(c["accuracy"]), probability(c["p"])
            )
        if facts["clusters"]:
            yield clusters
    yield "\n".join(["  written:", *(f"    {name}" for name in facts["files"])])


def _mm(position: Sequence[float]) -> str:
    return f"({', '.join(short(round(place, 1)) for place in position)}) mm"
