"""A calibration for machines that have none of their own: what `sharnir calibrate` found on the machine named."""

from typing import Any

SHIPPED: dict[str, Any] = {
    "machine": "AMD EPYC (Zen 3)",
    "made": "2026-11-16",
    "single": [6.158e-09, 1.038e-10, 2.389e-09, 3.806e-09, 1.301e-11, 2.57e-11],
    "batch": [5.252e-09, 2.91e-11, 3.482e-10, 1.052e-09, 1.896e-11, 3.979e-12],
    "loops": {
        "composite": [1.033e-07, 3.432e-08, 4.813e-08, 0.0, 1.112e-08, 2.25e-10, 1.714e-10, 1.212e-13],
        "direct": [7.606e-08, 4.398e-08, 5.29e-08, 6.176e-09, 2.425e-09, 7.609e-10, 6.03e-10, 3.605e-11],
        "lagrange1": [0.0, 8.33e-07, 6.372e-08, 0.0, 0.0, 1.718e-13, 1.233e-10, 0.0],
        "separate": [3.705e-08, 6.44e-08, 4.466e-08, 4.784e-08, 1.027e-10, 0.0, 0.0, 0.0],
        "stepanenko": [5.983e-08, 6.427e-08, 4.78e-08, 0.0, 1.27e-08, 4.494e-10, 0.0, 1.202e-11],
    },
    "habits": {
        "single": {"composite": 1.002, "direct": 1.011, "lagrange1": 0.9476, "separate": 1.044, "stepanenko": 1.015},
        "batch": {"composite": 1.009, "direct": 1.019, "lagrange1": 0.9738, "separate": 1.014, "stepanenko": 1.022},
    },
    "spread": {"single": 0.07619, "batch": 0.08119},
    "format": 1,
}
