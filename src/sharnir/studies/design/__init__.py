"""Which runs a study makes, and what their inputs stand for."""
