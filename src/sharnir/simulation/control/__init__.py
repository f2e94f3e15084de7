"""Sampled controllers and laws for joint forces."""
