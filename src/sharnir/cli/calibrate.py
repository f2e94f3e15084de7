"""`sharnir calibrate`: measure what operations cost on this machine."""

from __future__ import annotations

from argparse import Namespace

from ..choice.calibrate import calibrate
from ..choice.calibration import current, forget
from ..dialect.cache import default_folder
from ..errors import SharnirError
from ..reporting.progress import ProgressBar


def command(options: Namespace) -> None:
    if options.shipped:
        forget()
        print(f"back to the shipped calibration: {current()}")
        return
    with ProgressBar(False if options.quiet else None, "measuring methods on small models", 1.0) as bar:
        made = calibrate(bar.update)
    if current() != made:
        raise SharnirError(f"the calibration could not be saved in {default_folder()}; set SHARNIR_CACHE to a writable folder")
    print(f"calibrated: {made}")
    print(f"root-mean-square error of predicted times: {100 * made.spread['single']:.0f} % for single states, ", end="")
    print(f"{100 * made.spread['batch']:.0f} % for batches")
