"""A model or a motion to be seen: pages, the live view, pictures. Start at `scene.py`."""
