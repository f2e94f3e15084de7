"""The classification of the forms of the equations of motion, for one model."""
