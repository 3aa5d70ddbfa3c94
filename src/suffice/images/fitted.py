"""What follows from a fitted searchlight: images, p-values, thresholds, and images of classes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, UnavailableError
from suffice.images.class_images import class_evidence, class_mean, class_sd
from suffice.images.design import Design
from suffice.images.grids import Grid, Mask
from suffice.images.permutations import Cluster, Null
from suffice.images.scoring import LearntSums
from suffice.models.base.fitted_attributes import KeptArray, read_only
from suffice.models.base.scikit_learn import ScikitLearnInterface, not_fitted
from suffice.phrases import Option, Phrase

__all__ = ["FittedSearchLight"]


class FittedSearchLight(ScikitLearnInterface):
    """What a fit keeps, and what is computed from it when it is asked for."""

    classes_ = KeptArray()
    scores_ = KeptArray()
    masked_scores_ = KeptArray()
    predictions_ = KeptArray()
    roi_scores_: dict[str, float]
    n_elements_: int

    _mask: Mask
    _centres: Mask
    _plan: Design
    _learnt: LearntSums
    _truth: NDArray[np.int32]
    _null: Null | None

    @property
    def grid_(self) -> Grid:
        """Voxel sizes and places in millimetres."""
        self._fitted("scores_")
        return self._mask.grid

    @property
    def chance_(self) -> float:
        """The fraction of the most frequent class among the volumes that are predicted."""
        self._fitted("scores_")
        return float(np.bincount(self._truth).max() / len(self._truth))

    @property
    def best_voxel_(self) -> tuple[int, int, int]:
        """The first of the voxels with the largest score."""
        x, y, z = self._centres.voxels[self._fitted("masked_scores_").argmax()].tolist()
        return x, y, z

    @property
    def scores_img_(self) -> Any:
        """The scores as an image on the grid of the mask."""
        return self._image(self._fitted("scores_"))

    @property
    def mask_img_(self) -> Any:
        """The mask as an image."""
        self._fitted("scores_")
        return self._image(self._mask.inside.astype(np.uint8))

    @cached_property
    def confusion_(self) -> NDArray[np.intp]:
        """True classes in rows, predicted ones in columns, for every centre, (N, k, k)."""
        k = len(self._fitted("classes_"))
        table = np.zeros((self.n_elements_, k, k), np.intp)
        for c in range(k):
            of_class = self.predictions_[self._truth == c]
            for b in range(k):
                table[:, c, b] = (of_class == b).sum(axis=0)
        return np.asarray(read_only(table))

    @property
    def null_max_(self) -> NDArray[np.float64]:
        """The largest score of every permuted map."""
        return self._of_null().largest

    @property
    def p_img_(self) -> Any:
        """Voxel by voxel p-values, not corrected for their number; 1 outside."""
        return self._image(self._filled(self._of_null().voxel_p(self.masked_scores_), 1.0))

    @property
    def fwe_p_img_(self) -> Any:
        """Family-wise p-values: how often a permuted map is as accurate anywhere; 1 outside."""
        return self._image(self._filled(self._of_null().family_wise_p(self.masked_scores_), 1.0))

    @property
    def fwe_threshold_(self) -> float:
        """Scores above it are significant at 5 %, whatever the number of voxels."""
        null = self._of_null()
        return null.threshold(null.largest)

    @property
    def cluster_cut_(self) -> float:
        """Voxels above it form clusters."""
        return self._of_null().cluster_cut

    @property
    def cluster_threshold_(self) -> float:
        """Clusters of more voxels are significant at 5 %."""
        null = self._of_null()
        return null.threshold(null.largest_clusters)

    @property
    def clusters_(self) -> tuple[Cluster, ...]:
        """The clusters of the scores, the largest first."""
        return self._of_null().clusters(self.masked_scores_)

    @property
    def roi_p_(self) -> dict[str, float]:
        """How often permuted labels are as accurate in the whole mask and in each region."""
        scores = np.array(list(self.roi_scores_.values()))
        found = self._of_null().region_p(scores).tolist()
        return dict(zip(self.roi_scores_, found, strict=True))

    def class_mean_img(self, c: Any) -> Any:
        """The mean of each voxel over the volumes of a class; 0 outside the mask.

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        return self._voxel_image(class_mean(self._learnt, self._number(c)))

    def class_sd_img(self, c: Any) -> Any:
        """The standard deviation (divisor n) of each voxel over the volumes of a class.

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        return self._voxel_image(class_sd(self._learnt, self._number(c)))

    def contrast_img(self, a: Any, b: Any) -> Any:
        """The mean of each voxel over the volumes of class a, less that over those of class b.

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        one, other = (class_mean(self._learnt, self._number(c)) for c in (a, b))
        return self._voxel_image(one - other)

    def evidence_img(self, c: Any) -> Any:
        """How much each voxel speaks for a class on its held-out volumes, in nats a volume.

        log p(x | c) less the mean of log p(x | b) over the other classes b, from what was learnt
        without the run of x. Evidence adds up: that of a neighbourhood is the sum over its voxels.

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        return self._voxel_image(class_evidence(self._learnt, self._plan, self._number(c)))

    def _number(self, c: Any) -> int:
        (found,) = np.nonzero(self._fitted("classes_") == c)
        if not len(found):
            names = ", ".join(repr(name) for name in self.classes_.tolist())
            raise ParameterError(f"there is no class {c!r}", f"the classes are {names}")
        return int(found[0])

    def _fitted(self, name: str) -> Any:
        if "scores_" not in vars(self):
            raise not_fitted("this SearchLight is not fitted yet; call fit first")
        return vars(self)[name]

    def _of_null(self) -> Null:
        self._fitted("scores_")
        if self._null is None:
            raise UnavailableError(
                "there is no permuted map",
                Option("permutations", "0"),
                Phrase("fit with ", Option("permutations", "1000")),
            )
        return self._null

    def _filled(self, values: NDArray[Any], outside: float) -> NDArray[Any]:
        return self._centres.filled(values, outside)

    def _voxel_image(self, values: NDArray[np.float64]) -> Any:
        return self._image(self._mask.filled(values))

    def _image(self, volume: NDArray[Any]) -> Any:
        from nibabel.nifti1 import Nifti1Image

        affine = self._mask.grid.affine
        image = Nifti1Image(volume, np.eye(4) if affine is None else affine)
        image.header.set_xyzt_units("mm" if affine is not None else None)
        return image
