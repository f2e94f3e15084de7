"""Every method on every backend for one model: agreement, operations, time, memory. Start with `run.py`."""
