"""The studio: one page to open a model, edit it, run it, watch it, compare methods and take the results away."""
