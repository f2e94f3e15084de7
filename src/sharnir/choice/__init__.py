"""Which method for a model: what it has to do, what that costs on this machine."""
