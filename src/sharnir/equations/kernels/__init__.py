"""The equations with constraints in the dialect of the kernels."""
