"""Options of ``suffice searchlight``: what volumes show, which voxels, what chance would show."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.errors import ParameterError

__all__ = ["OUT", "PARAMETERS", "Around", "Permuting", "Volumes", "Written"]

PARAMETERS = {
    "exchange": ("blocks", "volumes"),
    "leave_out": (),
    "permutations": (),
    "zscore": ("run",),
}
"""Options that `SearchLight` has by the same name, and the words that they take."""

VOLUMES, AROUND, NULL, OUT = (
    "What the volumes show",
    "Which voxels are used together",
    "What chance would show",
    "What is written",
)


@dataclass(frozen=True, kw_only=True)
class Volumes:
    """Where the labels of volumes come from."""

    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A line for every volume: its label, and its run.",
            rich_help_panel=VOLUMES,
        ),
    ] = None
    events: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="BIDS events, one file for each scan; by default those beside the scans.",
            rich_help_panel=VOLUMES,
        ),
    ] = None
    delay: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="By how much the blood follows an event.",
            rich_help_panel=VOLUMES,
        ),
    ] = 0.0
    repetition_time: Annotated[
        float | None,
        typer.Option(
            "--tr",
            metavar="SECONDS",
            help="From volume to volume; by default what the JSON file or the header says.",
            rich_help_panel=VOLUMES,
        ),
    ] = None
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Labels that are no class, such as rest.", rich_help_panel=VOLUMES
        ),
    ] = None
    zscore: Annotated[
        str | None,
        typer.Option(
            metavar="run", help="Standardise every voxel in each run.", rich_help_panel=VOLUMES
        ),
    ] = None

    def read(self, scans: Sequence[str], events: Sequence[str]) -> tuple[list[Any], Any]:
        """The label and the run of every volume; no run where each scan is one.

        Raises
        ------
        ParameterError
            If labels are given twice, or not at all.
        """
        from suffice.images.labels import read_attributes

        events = [*(self.events or ()), *events]
        if self.labels is not None and events:
            raise ParameterError(
                "--labels and --events are both given", "labels come from one of them"
            )
        if self.labels is None:
            return self._of_events(scans, events), None
        labels, runs = read_attributes(self.labels)
        return list(labels), runs

    def _of_events(self, scans: Sequence[str], events: Sequence[str]) -> list[Any]:
        from suffice.images.labels import label_volumes, read_events
        from suffice.images.scans import open_scans

        files = _of_scans(scans, events)
        found: list[Any] = []
        for scan, opened, file in zip(scans, open_scans(list(scans)), files, strict=True):
            seconds = self._seconds(scan, opened.seconds)
            found += label_volumes(
                read_events(file), opened.volumes, seconds, self.delay, str(file)
            )
        return found

    def _seconds(self, scan: str, of_header: float | None) -> float:
        from suffice.images.labels import seconds_of

        seconds = self.repetition_time or seconds_of(scan) or of_header
        if seconds is None or not seconds > 0:
            raise ParameterError(
                f"neither the header of {scan} nor a JSON file says how long a volume takes",
                "events are in seconds",
                "give the repetition time with --tr",
            )
        return seconds


@dataclass(frozen=True, kw_only=True)
class Around:
    """Which voxels are used together."""

    mask: Annotated[
        Path | None,
        typer.Option(
            metavar="IMAGE",
            help="Voxels whose values are used, those that are not zero.",
            rich_help_panel=AROUND,
        ),
    ] = None
    process_mask: Annotated[
        Path | None,
        typer.Option(
            metavar="IMAGE", help="Voxels to be scored; by default all.", rich_help_panel=AROUND
        ),
    ] = None
    cube: Annotated[
        int | None,
        typer.Option(
            metavar="VOXELS",
            min=0,
            help="Voxels up to so many steps away: 1 is 3 x 3 x 3.",
            rich_help_panel=AROUND,
        ),
    ] = None
    ball: Annotated[
        float | None,
        typer.Option(metavar="MM", help="Voxels up to so far away.", rich_help_panel=AROUND),
    ] = None
    roi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=IMAGE",
            help="A region whose voxels are used together.",
            rich_help_panel=AROUND,
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of `SearchLight` that these options stand for.

        Raises
        ------
        ParameterError
            If a ball and a cube are given, or neither; or a region has no name.
        """
        if (self.cube is None) == (self.ball is None):
            both = "both given" if self.cube is not None else "both missing"
            raise ParameterError(
                f"--cube and --ball are {both}",
                "a searchlight has one shape",
                "for example --cube 1, or --ball 6",
            )
        size: dict[str, Any] = (
            {"shape": "ball", "radius": self.ball}
            if self.cube is None
            else {"shape": "cube", "radius": self.cube}
        )
        return size | {
            "mask_img": self.mask,
            "process_mask_img": self.process_mask,
            "regions": dict(_region(given) for given in self.roi or ()),
        }

    @property
    def images(self) -> list[Path]:
        """All images that are named."""
        regions = [Path(_region(given)[1]) for given in self.roi or ()]
        return [path for path in (self.mask, self.process_mask, *regions) if path is not None]


@dataclass(frozen=True, kw_only=True)
class Permuting:
    """What chance would show."""

    permutations: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Permute the labels of blocks within runs so many times.",
            rich_help_panel=NULL,
        ),
    ] = 0
    exchange: Annotated[
        str,
        typer.Option(
            metavar="blocks|volumes",
            help="What is permuted; single volumes only where they do not follow each other.",
            rich_help_panel=NULL,
        ),
    ] = "blocks"
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Of the draw.", rich_help_panel=NULL)
    ] = None


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written besides the map."""

    png: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The map as a picture.", rich_help_panel=OUT),
    ] = None
    p_values: Annotated[
        Path | None,
        typer.Option(metavar="IMAGE", help="Family-wise p-values of voxels.", rich_help_panel=OUT),
    ] = None
    maps: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Mean, standard deviation and evidence of each class, contrasts of all pairs.",
            rich_help_panel=OUT,
        ),
    ] = None


def _region(given: str) -> tuple[str, str]:
    name, sign, image = given.partition("=")
    if not (name and sign and image):
        raise ParameterError(
            f"--roi {given!r}", "a region is written NAME=IMAGE", "for example --roi V1=v1.nii.gz"
        )
    return name, image


def _of_scans(scans: Sequence[str], events: Sequence[str]) -> list[Any]:
    """The events file of each scan."""
    from suffice.images.labels import events_beside

    if events:
        if len(events) != len(scans):
            raise ParameterError(
                f"{len(events)} events files are given for {len(scans)} scans",
                "each scan has one",
                "name them in the same order",
            )
        return _in_order_of(scans, events)
    found = [events_beside(scan) for scan in scans]
    for scan, file in zip(scans, found, strict=True):
        if file is None:
            raise ParameterError(
                f"nothing says what the volumes of {scan} show",
                "labels come from --labels or --events",
                "a BIDS events file beside the scan is found by its name",
            )
    return found


def _in_order_of(scans: Sequence[str], events: Sequence[str]) -> list[Any]:
    """Events in the order of the scans: by the names of BIDS where they fit, else as given."""
    stems = {re.sub(r"_events\.tsv$", "", os.path.basename(file)): file for file in events}
    ordered = [
        next((stems[stem] for stem in stems if os.path.basename(scan).startswith(f"{stem}_")), None)
        for scan in scans
    ]
    return list(events) if None in ordered or len(set(ordered)) < len(events) else ordered
