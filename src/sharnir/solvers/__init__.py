"""What stands behind `Dynamics`: one solver for each kind of model and method."""
