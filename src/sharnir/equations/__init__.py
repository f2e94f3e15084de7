"""The equations of a motion in time: rates, accelerations, powers, constraints and their stabilisation."""
