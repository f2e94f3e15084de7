"""The rows of constraints: residuals, rates, Jacobians, sparse or dense."""
