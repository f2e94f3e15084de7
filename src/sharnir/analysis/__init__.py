"""Questions to a model beyond one state: where it must be, where it rests, how it moves nearby."""
