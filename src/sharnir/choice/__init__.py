"""The choice of a method for a model: the work of each method, and what that costs on this machine."""
