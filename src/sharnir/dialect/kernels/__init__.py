"""Functions of the compiler's own that are written in its dialect."""
