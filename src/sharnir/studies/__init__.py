"""Studies: many runs of one model, on threads, processes or a cluster, as one labelled dataset."""
