"""Every program: which kernels run in which order."""
