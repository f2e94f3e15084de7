"""`sharnir COMMAND …`: the commands and their options. What a command does is imported when it runs, so help is quick
(and plain: rich would take as long again).

Exit codes: 0 good, 1 the model or file is at fault (a line on stderr), 2 the command line is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SharnirError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def sharnir() -> None:
    """Dynamics of multibody systems."""


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="a model: .urdf, .xml, .mjcf, .yaml", show_default=False)],
    floating: Annotated[bool, typer.Option("--floating", help="Free the root from the ground.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file that is not wholly honoured.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print data instead of a tree.")] = False,
    packages: Annotated[
        list[Path] | None, typer.Option("--package-path", help="A folder with ROS packages; may be repeated.")
    ] = None,
) -> None:
    """Show what a model file holds: bodies, joints, freedoms, masses, and what the import did with each part of it."""
    from .inspect import inspect_file

    inspect_file(file, floating=floating, strict=strict, as_json=json, packages=packages or [])


@app.command()
def schema() -> None:
    """Print the JSON schema of the native format, for editors (docs/native_format.md)."""
    from ..io.native.schema import schema_text

    print(schema_text(), end="")


def main() -> None:
    try:
        app()
    except SharnirError as error:
        print(f"sharnir: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # `sharnir inspect … | head`
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
