"""A calibration for machines that have none of their own: what `sharnir calibrate` found on the machine named."""

from typing import Any

SHIPPED: dict[str, Any] = {
    "machine": "AMD EPYC (Zen 3)",
    "made": "2026-11-16",
    "single": [1.258e-09, 1.019e-10, 6.196e-10, 3.288e-09, 8.98e-11, 2.642e-11],
    "batch": [4.584e-09, 2.983e-11, 1.804e-10, 1.042e-09, 2.712e-11, 3.943e-12],
    "loops": {
        "composite": [1.383e-07, 2.222e-08, 5.182e-08, 0.0, 1.057e-08, 2.431e-10, 2.511e-10, 7.874e-14],
        "direct": [5.75e-08, 3.818e-08, 5.472e-08, 1.936e-08, 1.329e-09, 8.224e-10, 2.658e-11, 4.073e-11],
        "lagrange1": [0.0, 8.317e-07, 6.815e-08, 0.0, 0.0, 4.102e-13, 1.506e-10, 0.0],
        "separate": [5.233e-08, 6.202e-08, 4.604e-08, 4.735e-08, 1.5e-10, 0.0, 0.0, 0.0],
        "stepanenko": [8.781e-08, 6.136e-08, 4.798e-08, 0.0, 1.25e-08, 4.814e-10, 0.0, 1.227e-11],
    },
    "habits": {
        "single": {"composite": 1.015, "direct": 1.018, "lagrange1": 0.9631, "separate": 0.9917, "stepanenko": 1.028},
        "batch": {"composite": 1.016, "direct": 1.028, "lagrange1": 0.9906, "separate": 1.002, "stepanenko": 1.024},
    },
    "spread": {"single": 0.06217, "batch": 0.09231},
    "format": 1,
}
