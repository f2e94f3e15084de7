"""Runs: options, preparation, one motion or many, steps from Python."""
