"""What a model keeps of single rows."""

from suffice.privacy.audit import audit
from suffice.privacy.finding import Audit, Finding

__all__ = ["Audit", "Finding", "audit"]
