"""In the dialect: triangles to samples, samples to pixels. Start at `strips.py`."""
