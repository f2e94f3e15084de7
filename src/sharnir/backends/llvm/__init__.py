"""Straight-line machine code from an expression graph: emission, sine and cosine, compilation, the cache on disk."""
