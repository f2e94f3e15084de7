"""Motion through singular positions."""
