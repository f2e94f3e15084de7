"""A study for tests: a pendulum with a spring, by its mass and its start; and what it means that two are the same."""

from __future__ import annotations

import xarray as xr

import sharnir as sh

RUN = {"duration": 0.3, "v0": {"hinge": 2.0}}
OUTPUTS = {
    "end": "final of hinge",
    "speed": "peak of speed of hinge",
    "top": lambda r: r.point("bar", (1.0, 0.0, 0.0))[:, 2].max(),
}
OVER = {"bar.mass": [0.5, 1.0, 2.0], "q0.hinge": [0.0, 0.5]}


def spring_pendulum() -> sh.Model:
    model = sh.samples.pendulum()
    model.add_force(sh.JointSpring("hinge", stiffness=3.0, damping=0.1), name="spring")
    return model


def same(a: xr.Dataset, b: xr.Dataset) -> bool:
    """To the last bit, with all labels."""
    return bool(a.drop_attrs().load().identical(b.drop_attrs().load()))
