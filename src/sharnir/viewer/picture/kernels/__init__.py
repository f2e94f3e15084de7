"""Kernels of pictures in the dialect: triangles to samples, samples to pixels. Start at `strips.py`."""
