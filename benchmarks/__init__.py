"""Measurements against the peers, in one run with them: `make bench`."""
