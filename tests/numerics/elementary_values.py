"""Print the SHA-256 of a million values of each elementary function, as JSON.

Arguments are made of whole numbers, so that a program in any language has the same: wᵢ is the
i-th number of splitmix64 from seed 0 (i from 0 on). Of the even ones, v = (wᵢ >> 11) 2⁻⁵³ is a
number in [0, 1), and the argument is a + b v; the odd ones modulo 0x7FF0 << 48 are the bits of a
finite number not below 0, which is the argument as it is; of exp, all are a + b v. Digests are of
the results as little-endian doubles, one after the other.
"""

import json
from hashlib import sha256

import numpy as np

from suffice.numerics import kernels

#: The offset a and the factor b of each function.
SPANS = {
    "exp": (-748.0, 1460.0),
    "log": (0.0, 4.0),
    "log1p": (-1.0, 3.0),
    "lgamma": (0.0, 16.0),
    "digamma": (0.0, 16.0),
}


def words(n: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return n numbers of splitmix64 (Steele, Lea and Flood, 2014), from seed 0."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def digests(n: int = 1_000_000) -> dict[str, str]:
    """Return the digest of every function."""
    given, found = words(n), {}
    for name, (first, length) in SPANS.items():
        x = first + length * ((given >> np.uint64(11)) * 2.0**-53)
        if name != "exp":
            x[1::2] = (given[1::2] % np.uint64(0x7FF0 << 48)).view(np.float64)
        getattr(kernels.elementary, name)(x.reshape(1, -1), x.reshape(1, -1))
        found[name] = sha256(x.astype("<f8").tobytes()).hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests(), indent=1))
