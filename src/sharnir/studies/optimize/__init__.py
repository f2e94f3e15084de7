"""Optimisation and global sensitivity over the runs of a study."""
