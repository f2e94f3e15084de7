"""Questions to a model beyond one state: linear models, modes."""
