"""What the examples' pictures have in common: quiet axes, a few colours, a folder to be written to."""

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl

BLUE, RED, GREEN, YELLOW, VIOLET, GREY = "#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#777777"
STYLE = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY, "axes.grid": True, "grid.color": "#eeeeee",
    "axes.titlesize": 10, "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.labelsize": 9, "xtick.labelsize": 8,
    "ytick.labelsize": 8, "axes.axisbelow": True, "savefig.dpi": 150, "legend.fontsize": 8, "legend.frameon": False,
    "axes.prop_cycle": mpl.cycler(color=[BLUE, RED, GREEN, YELLOW, VIOLET, "#00798c", "#8d6a4f"]),
}  # fmt: skip


def figure(rows: int = 1, columns: int = 1, width: float = 9.0, height: float = 5.0, **options: Any) -> tuple[Any, Any]:
    """Figure and axes; no window is opened."""
    from matplotlib.figure import Figure

    mpl.rcParams.update(STYLE)
    fig = Figure(figsize=(width, height), layout="constrained")
    return fig, fig.subplots(rows, columns, **options)


def options(text: str, name: str) -> Path:
    """Where the picture goes: results/<name>.png, or what the command line says."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results") / f"{name}.png", help="where to draw")
    path: Path = parser.parse_args().plot
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
