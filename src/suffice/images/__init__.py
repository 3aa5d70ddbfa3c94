"""Brain images and other voxel grids: class means, searchlight, permutation null.

`SearchLight` reads NIfTI images through nibabel (``pip install 'suffice[images]'``), and arrays
without it.
"""

from suffice.images.searchlight import SearchLight

__all__ = ["SearchLight"]
