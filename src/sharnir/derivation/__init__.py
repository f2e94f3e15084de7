"""Equations of motion as formulas: `sharnir.derive`."""
