"""The live view in a browser: `view`. Start at `view.py`; what it does is in classes that know no browser."""
