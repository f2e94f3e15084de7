"""Pictures and video without a display: triangles to pixels by the project's own compiled code. Start at `renderer.py`."""
