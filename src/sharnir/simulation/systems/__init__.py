"""A model as a system of differential equations, on every execution."""
