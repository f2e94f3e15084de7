"""`sharnir calibrate`: measure what operations cost on this machine."""

from __future__ import annotations

from ..choice.calibrate import calibrate
from ..choice.calibration import Calibration, current, forget
from ..dialect.cache import default_folder
from ..errors import SharnirError
from ..reporting.progress import ProgressBar


def calibrate_machine(shipped: bool, quiet: bool) -> None:
    if shipped:
        forget()
        print(f"back to the shipped calibration: {current()}")
        return
    made = calibrate() if quiet else _with_bar()
    if current() != made:
        raise SharnirError(f"the calibration could not be saved in {default_folder()}; set SHARNIR_CACHE to a writable folder")
    print(f"calibrated: {made}")
    print(f"root-mean-square error of predicted times: {100 * made.spread['single']:.0f} % for single states, ", end="")
    print(f"{100 * made.spread['batch']:.0f} % for batches")


def _with_bar() -> Calibration:
    with ProgressBar(None, "measuring methods on small models", 1.0) as bar:
        return calibrate(bar.update)
