"""
A map of a brain
================

What did a person look at? Around every voxel of a brain image lies a small neighbourhood. How well
does it alone predict the label? One slice of one subject of Haxby and colleagues (2001): 1,452
volumes, twelve runs, eight kinds of pictures.

If there is no output below, this page was not run: the files were not there when the site was
built. ``SUFFICE_DATA`` names the folder that has them.
"""

# %%
# Labels and runs
# ---------------

import os
from collections import Counter
from pathlib import Path

from suffice.images import SearchLight
from suffice.images.labels import read_attributes

folder = Path(os.environ["SUFFICE_DATA"]) / "haxby_slice"
labels, runs = read_attributes(folder / "attributes_literal.txt")
print(Counter(labels).most_common())

# %%
# The map
# -------
# In each cube of voxels a naive Bayes classifier is fitted to eleven runs and predicts the twelfth,
# each in turn. Sums over runs are kept; what eleven runs teach is a sum of sums. So 530 x 12
# classifiers take milliseconds. Rest is no class.
# The trend of each run is taken out, and its scale.

light = SearchLight(
    folder / "mask.nii.gz",
    radius=1,
    shape="cube",
    detrend="run",
    zscore="run",
    leave_out=["rest"],
    permutations=200,
    random_state=0,
)
light.fit(folder / "bold.nii.gz", labels, runs)
print(f"guessing: {light.chance_:.3f}, mean {light.masked_scores_.mean():.3f}")
print(f"best: {light.masked_scores_.max():.3f} at voxel {light.best_voxel_}")

# %%
# What is more than luck?
# -----------------------
# The best of 530 places is above chance even if no picture left a trace. Whole blocks of volumes
# exchange their labels, 200 times, and the map is made again: a voxel above the threshold would be
# seen in one such map of twenty.

import matplotlib.pyplot as plt
import numpy as np

print(f"threshold: {light.fwe_threshold_:.3f}")
shown = np.where(light.process_mask_, light.scores_, np.nan)[:, :, 0].T
fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
picture = axes[0].imshow(shown, origin="lower", vmin=light.chance_)
fig.colorbar(picture, ax=axes[0], label="accuracy")
axes[0].set_title("accuracy")
axes[1].imshow(np.where(np.isnan(shown), np.nan, shown > light.fwe_threshold_), origin="lower")
axes[1].set_title("significant at 5 %, over all voxels")
for ax in axes:
    ax.set_axis_off()
