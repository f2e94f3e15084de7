"""Settings of every test: one BLAS thread per worker, reproducible examples of hypothesis."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from hypothesis import settings  # noqa: E402

settings.register_profile("sharnir", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("sharnir")
