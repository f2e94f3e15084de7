"""Standard output and error of a command: readable in any encoding, no traceback where the reader left or a disk is full."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO
from unicodedata import name, normalize

PLAIN = {
    "…": "...", "–": "-", "−": "-", "×": "x", "·": "*", "→": "->", "µ": "u", "±": "+-", "≤": "<=", "≥": ">=",
    "√": "sqrt", "°": "deg",
    "‖": "||", "ᵀ": "^T", "⁻": "^-", "²": "^2", "³": "^3", "½": "1/2",
    "∂": "d", "Σ": "sum", "∫": "integral of ", "─": "-", "│": "|", "█": "#", "•": "*",
    "\ufeff": "", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip
"""Characters with a spelling of their own in ASCII; Greek letters are spelled out, accents dropped."""


def plain(text: str) -> str:
    """The text in ASCII."""
    return "".join(x if x.isascii() else PLAIN[x] if x in PLAIN else _spelled(x) for x in text)


def _spelled(x: str) -> str:
    if name(x, "").startswith("GREEK "):
        return name(x).split()[3].lower() if len(name(x).split()) > 3 else "?"
    return normalize("NFKD", x).encode("ascii", "ignore").decode() or ("" if name(x, "").startswith("COMBINING") else "?")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return plain(error.object[error.start : error.end]), error.end


codecs.register_error("sharnir.plain", _replaced)


class Output:
    """A stream that goes on where it cannot write: the command still writes its files, and its exit code is its own. A reader
    that has left (`sharnir … | head`) is no error; any other is in `error`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, call: Any, *args: Any) -> None:
        try:
            call(*args)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.error = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # what is in the buffers, and all that follows
            os.close(nowhere)


@contextmanager
def readable() -> Iterator[tuple[Output, Output]]:
    """Standard output and error as `Output`, with what their encoding lacks written in ASCII."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        streams: list[Any] = [stream or nowhere for stream in before]  # None: closed by `>&-`
        errors = [stream.errors for stream in streams]
        try:
            for stream in streams:
                stream.reconfigure(errors="sharnir.plain")
            out, err = map(Output, streams)
            sys.stdout, sys.stderr = out, err
            yield out, err
        finally:
            sys.stdout, sys.stderr = before
            for stream, how in zip(streams, errors, strict=True):
                stream.reconfigure(errors=how)
