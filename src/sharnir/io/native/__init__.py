"""sharnir's own format: YAML, checked field by field, able to express everything a Model can (docs/native_format.md)."""

from .read import load_native, loads
from .write import dumps

__all__ = ["dumps", "load_native", "loads"]
