"""Brain images: searchlights, permutation tests, mean maps of classes, maps of several brains.

`SearchLight` reads NIfTI images by nibabel (``pip install 'suffice[images]'``), and arrays
without it.
"""

from suffice.images.group import GroupMap, group_map
from suffice.images.searchlight import SearchLight

__all__ = ["GroupMap", "SearchLight", "group_map"]
