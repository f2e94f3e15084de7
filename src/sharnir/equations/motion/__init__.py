"""The equations of a motion in time: rates, constraint forces, projection, stabilisation, the energy account."""
