"""Who computes the runs of a study, and where results are kept."""
