"""`sharnir calibrate`: find out what operations cost on this machine."""

from __future__ import annotations

from ..choice.calibrate import calibrate
from ..choice.calibration import Calibration, current, forget
from ..dialect.cache import default_folder
from ..errors import SharnirError


def calibrate_machine(shipped: bool, quiet: bool) -> None:
    if shipped:
        forget()
        print(f"back to the calibration that is shipped: {current()}")
        return
    made = calibrate() if quiet else _with_bar()
    if current() != made:
        raise SharnirError(f"the calibration could not be kept in {default_folder()}; set SHARNIR_CACHE to a folder to write to")
    print(f"calibrated: {made}")
    print(f"predictions are within {100 * made.spread['single']:.0f} % of what was measured for states one at a time, ", end="")
    print(f"{100 * made.spread['batch']:.0f} % in batches (root of mean squares)")


def _with_bar() -> Calibration:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("measuring methods on small models", total=1.0)
        return calibrate(lambda part: bar.update(task, completed=part))
