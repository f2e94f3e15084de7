"""The solvers behind `Dynamics`, one for each kind of model and method."""
