"""Closed loops and other constraints on top of the equations of a tree."""
