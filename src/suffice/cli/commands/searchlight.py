"""``suffice searchlight``: a map of how well the voxels around each voxel tell classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.options.names import listed
from suffice.cli.options.running import RUNNING
from suffice.cli.options.searchlight import OUT, Around, Permuting, Volumes, Written
from suffice.cli.options.shared import AsJson
from suffice.cli.output.searchlight import facts_of, rendered, write_files
from suffice.cli.output.tables import deliver, refuse_result
from suffice.errors import ParameterError

__all__ = ["searchlight"]


def searchlight(
    *,
    scans: Annotated[
        list[str],
        typer.Argument(
            metavar="SCANS",
            help="4-D images, one or several runs, .nii or .nii.gz.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="IMAGE",
            help="The map of accuracies, .nii or .nii.gz.",
            rich_help_panel=OUT,
            show_default=False,
        ),
    ],
    written: Written,
    volumes: Volumes,
    around: Around,
    permuting: Permuting,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Default: all cores.", rich_help_panel=RUNNING),
    ] = None,
    progress: Annotated[
        bool,
        typer.Option(
            "--progress/--no-progress",
            help="A bar for what takes longer than a second, where there is a terminal.",
            rich_help_panel=RUNNING,
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Map how well the voxels around each voxel tell the classes apart.

    Gaussian naive Bayes, leaving out one run at a time, from sums: the images
    are read once.
    """
    from suffice.images import SearchLight

    events = [name for name in scans if name.endswith(".tsv")]  # of --events sub-01_*_events.tsv
    images = [name for name in scans if not name.endswith(".tsv")]
    if not images:
        raise ParameterError("no scan is given", "a searchlight needs a 4-D image at least")
    _check_outputs(output, written, [*images, *around.images], permuting.permutations)
    light = SearchLight(
        **around.parameters(),
        zscore=volumes.zscore,
        leave_out=listed(volumes.leave_out),
        permutations=permuting.permutations,
        exchange=permuting.exchange,
        random_state=permuting.seed,
        n_jobs=threads or -1,
        progress=progress,
    )
    labels, runs = volumes.read(images, events)
    light.fit(images, labels, runs)
    facts = facts_of(light, write_files(light, output, written))
    deliver(facts, lambda: rendered(light, facts), as_json, None)


def _check_outputs(
    output: Path, written: Written, inputs: Sequence[Any], permutations: int
) -> None:
    """Refuse outputs that cannot be written before anything is read."""
    options = {"--output": output, "--png": written.png, "--p-values": written.p_values}
    for option, path in options.items():
        refuse_result(path, inputs, option)
        if path is not None and option != "--png" and not path.name.endswith((".nii", ".nii.gz")):
            raise ParameterError(
                f"{option} {path}", "a map is a NIfTI image", "end the name in .nii.gz"
            )
    if written.p_values is not None and not permutations:
        raise ParameterError(
            "--p-values is given without --permutations", "p-values come from permuted labels"
        )
    if written.png is not None:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise ParameterError(
                "--png is given", "pictures are drawn by matplotlib", "pip install 'suffice[plot]'"
            ) from None
