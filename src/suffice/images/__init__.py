"""Brain images: mean maps of classes, searchlight, whole-mask classification, permutation test.

`SearchLight` reads NIfTI images by nibabel (``pip install 'suffice[images]'``), and arrays
without it.
"""

from suffice.images.searchlight import SearchLight

__all__ = ["SearchLight"]
