"""The compiled formulas of ``error_free.py``, one by one: for tests."""



def fma(a: float, b: float, c: float) -> float:
    """Return fl(a · b + c), rounded once."""

def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return fl(a + b) and its error."""

def two_product(a: float, b: float) -> tuple[float, float]:
    """Return fl(a · b) and its error."""

def add(a: float, a_lo: float, b: float, b_lo: float) -> tuple[float, float]:
    """Return the pair (a + a_lo) + (b + b_lo)."""

def multiply(a: float, a_lo: float, b: float, b_lo: float) -> tuple[float, float]:
    """Return the pair (a + a_lo) · (b + b_lo)."""

def divide(a: float, a_lo: float, b: float, b_lo: float) -> tuple[float, float]:
    """Return the pair (a + a_lo) / (b + b_lo)."""
