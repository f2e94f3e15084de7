"""The live view in a browser: `view`. Start at `view.py`; what it does is in modules that know no browser."""
