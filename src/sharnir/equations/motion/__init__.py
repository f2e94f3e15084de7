"""The equations of a motion in time: rates, constraint forces, projection, stabilisation, energy account, impacts."""
