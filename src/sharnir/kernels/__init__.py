"""Each algorithm once, as plain Python over numbers. Knows no model, no NumPy, no backend: see README.md."""
