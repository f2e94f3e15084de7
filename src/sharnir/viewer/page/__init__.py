"""A scene as one HTML page that plays offline. Start at `animate.py`."""
