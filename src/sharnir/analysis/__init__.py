"""Questions to a model beyond one state."""
