"""Simulation: a model in time. `simulate` for one motion, `rollout` for many at once."""
