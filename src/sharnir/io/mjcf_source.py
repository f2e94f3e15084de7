"""An MJCF file and all that it includes as one text in which every path has been checked.

MuJoCo's own reader opens any file that a model names. Therefore it gets a text that is written from the tree of our reader:
includes are expanded, other files are absolute paths inside the model's package, parts without effect on the motion are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FormatError, known
from ..model.import_report import ImportReport
from ..types import FilePath
from .paths import Folders
from .xml import MAX_DEPTH, MAX_ELEMENTS, Element, attribute, read_xml

SKIPPED = ("size", "visual", "statistic", "texture", "layer", "skin")
"""Memory sizes, appearance and textures: files can be huge or missing, and have no effect on the motion."""
MAX_COPIES = 20_000
MAX_ATTRIBUTES = 200
"""Attributes of one element: MuJoCo's XML reader takes quadratic time."""
MAX_BESIDE = 100
"""Files beside a fragment that are searched for an include of it."""
WORDS = {"name", "class", "childclass", "user", "file", "material", "mesh", "joint", "body", "site", "prefix", "model"}
"""Attributes in which "nan" and "inf" are names, or numbers that nothing reads."""
_SUSPECT = re.compile(r"nan|inf|e\+?\d{3}|\d{300}", re.IGNORECASE)
_LINE = re.compile(r"(?<![a-z])line (?:number=)?(\d+)", re.IGNORECASE)


class Asset(NamedTuple):
    """A mesh or height field in a file: how the model names it, where that is, or why it is not read."""

    label: str
    uri: str
    path: Path | None
    fault: str


@dataclass
class Source:
    """The text for MuJoCo, the origin of each of its lines, and the files it names."""

    path: Path
    lines: list[str] = field(default_factory=list)
    origins: list[tuple[str, int]] = field(default_factory=list)
    """File and line of every line of the submodels and, behind them, of the text."""
    before: int = 0
    """Lines that submodels take: no number of a line means two places."""
    assets: dict[str, Asset] = field(default_factory=dict)
    """Files by the names that stand for them in the text. MuJoCo gets the path only where it needs the contents."""
    submodels: dict[str, str] = field(default_factory=dict)
    options: list[Element] = field(default_factory=list)
    """`<option>` as the file has it: the compiled model does not tell what was left out."""

    @property
    def text(self) -> str:
        return "\n" * self.before + "\n".join(self.lines)

    def job(self, floating: bool) -> dict[str, Any]:
        """The job for `mjcf_compile.compiled`."""
        files = {token: (str(a.path) if a.path is not None else None, a.fault) for token, a in self.assets.items()}
        return {"text": self.text, "submodels": self.submodels, "files": files, "floating": floating}

    @property
    def size(self) -> int:
        """Bytes of all that may be read."""
        size = sum(map(len, (self.text, *self.submodels.values())))
        for asset in self.assets.values():
            with suppress(OSError):  # gone since it was found
                size += asset.path.stat().st_size if asset.path is not None else 0
        return size

    def error(self, message: str, line: int = 0, label: str = "") -> FormatError:
        """A message with the file and line it refers to: the given line of the text, or the one that the message names."""
        words = "; ".join(part.strip() for part in message.strip().splitlines() if part.strip())
        found = None if line else _LINE.search(words)
        line = int(found[1]) if found else line
        file, number = self.origins[line - 1] if 0 < line <= len(self.origins) else (str(self.path), 0)
        if found:
            words = words[: found.start()] + f"line {number}" + words[found.end() :]
        return FormatError(f"{file}{f':{number}' if number else ''}: {f'{label}: ' if label else ''}{words}")


def read_source(path: Path, root: Element, package_paths: FilePath | Iterable[FilePath], report: ImportReport) -> Source:
    """Read a file with its includes; every path in it must stay inside its package or a declared folder."""
    return _Reader(path, root, package_paths, report, Source(path)).source


class _Reader:
    """Reads a file into `source`; `outer` is what has been read of the model that it is attached to."""

    def __init__(
        self, path: Path, root: Element, package_paths: FilePath | Iterable[FilePath], report: ImportReport, outer: Source
    ) -> None:
        if root.tag != "mujoco":
            raise root.error(_not_a_model(root, path))
        self.folders, self.report = Folders(path, package_paths), report
        self.source = Source(path, origins=outer.origins, assets=outer.assets, submodels=outer.submodels)
        self.seen = {path.resolve()}
        self.count = 0
        self.own: list[tuple[str, int]] = []
        self._include(root, self.folders.folder)
        self._folders_of_assets(root)
        self._write(root, 0, 1)
        self.source.before = len(self.source.origins)
        self.source.origins += self.own

    def _include(self, parent: Element, beside: Path, depth: int = 0) -> None:
        """Put the contents of included files in place of `<include file>`."""
        if depth > MAX_DEPTH:
            raise parent.error(f"elements and includes are nested more than {MAX_DEPTH} deep")
        children: list[Element] = []
        for child in parent.children:
            if child.tag != "include":
                self._include(child, beside, depth + 1)
                children.append(child)
                continue
            path = self.folders.first(child, child.string("file"), (self.folders.folder, beside))
            if path in self.seen:
                raise child.error(f"{child.string('file')!r} is included a second time, or includes itself")
            self.seen.add(path)
            inner = read_xml(path)
            self._include(inner, path.parent, depth + 1)
            children += inner.children
        parent.children = children

    def _folders_of_assets(self, root: Element) -> None:
        """`meshdir`, `assetdir`, `strippath`: the last one counts; paths are made absolute here instead of by MuJoCo."""
        self.meshdir, self.strip = "", False
        for compiler in root.all("compiler"):
            options = compiler.attributes
            self.meshdir = options.get("meshdir", options.get("assetdir", self.meshdir))
            self.strip = options.get("strippath", str(self.strip)).lower() == "true"
            for name in ("meshdir", "texturedir", "assetdir", "strippath"):
                options.pop(name, None)

    # --- writing ------------------------------------------------------------------------------------------------------
    def _write(self, element: Element, depth: int, copies: int) -> None:
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_ELEMENTS:
            raise element.error(f"more than {MAX_ELEMENTS} elements, or nested more than {MAX_DEPTH} deep")
        if len(element.attributes) > MAX_ATTRIBUTES:
            raise element.error(f"more than {MAX_ATTRIBUTES} attributes")
        if element.tag in SKIPPED:
            if element.tag in ("texture", "skin"):
                self.report.ignored(element.tag, element.where, "appearance only", motion=False)
            return
        _check_finite(element)
        if element.tag == "hfield":  # flat: nothing here collides with it, and it has no mass
            element.attributes |= {"nrow": "2", "ncol": "2"}
            for name in ("elevation", "content_type"):
                element.attributes.pop(name, None)
        copies *= _copies(element, copies)
        if element.tag == "option" and depth == 1:
            self.source.options.append(element)
        if element.tag in ("material", "light"):
            element.attributes.pop("texture", None)
        if any(name.startswith("file") for name in element.attributes):
            self._file(element)
        attributes = "".join(f" {name}={attribute(value)}" for name, value in element.attributes.items())
        self._line(f"<{element.tag}{attributes}{'>' if element.children else '/>'}", element)
        for child in element.children:
            self._write(child, depth + 1, copies)
        if element.children:
            self._line(f"</{element.tag}>", element)

    def _line(self, text: str, element: Element) -> None:
        self.source.lines.append(text.replace("\n", " "))
        self.own.append((element.file, element.line))

    def _file(self, element: Element) -> None:
        name = element.string("file")
        if element.tag == "model":
            self._submodel(element, name)
            return
        if self.strip:
            name = re.split(r"[/\\]", name)[-1]
        places = (self.folders.folder / self.meshdir,)
        if element.tag not in ("mesh", "hfield"):
            element.attributes["file"] = str(self.folders.first(element, name, places))
            return
        path, fault = self.folders.find(name, places)
        own = element.attributes.setdefault("name", Path(name).stem)
        token = f"asset{len(self.source.assets)}{Path(name).suffix[:10]}"
        self.source.assets[token] = Asset(f"{element.tag} {own!r}", name, path, fault)
        if element.tag == "mesh":
            element.attributes["file"] = token
        else:
            del element.attributes["file"]

    def _submodel(self, element: Element, name: str) -> None:
        """`<model file>` to be attached: read by the same rules and passed to MuJoCo under a name of its own."""
        path = self.folders.first(element, name, (self.folders.folder,))
        if len(self.source.submodels) > 50:
            raise element.error("more than 50 models inside each other")
        given = f"submodel{len(self.source.submodels)}.xml"
        self.source.submodels[given] = ""
        inner = _Reader(path, read_xml(path), self.folders.roots, self.report, self.source)
        self.source.submodels[given] = inner.source.text
        element.attributes.setdefault("name", Path(name).stem)
        element.attributes["file"] = given
        element.attributes.pop("content_type", None)


def _not_a_model(root: Element, path: Path) -> str:
    if root.tag != "mujocoinclude":
        return f"the root of an MJCF file is <mujoco>, not <{root.tag}>; a URDF is read by its suffix .urdf"
    whole = []
    for file in sorted(path.parent.glob("*.xml"))[:MAX_BESIDE]:
        with suppress(FormatError):
            if any(e.tag == "include" and e.attributes.get("file", "").endswith(path.name) for e in read_xml(file).walk()):
                whole.append(file.name)
    if whole:
        return f"this is a fragment that other files include; load one of those: {known(whole)}"
    return "this is a fragment; load the model that has an <include> of it"


def _check_finite(element: Element) -> None:
    """MuJoCo takes nan for "not given". Infinity is fine where it says that there is no bound."""
    if element.tag in ("text", "numeric", "config"):
        return
    for name, value in element.attributes.items():
        if name in WORDS or not _SUSPECT.search(value):
            continue
        for word in value.split():
            try:
                number = float(word)
            except ValueError:
                continue  # not a number: MuJoCo says what it is
            if math.isnan(number) or (math.isinf(number) and not name.endswith("range")):
                raise element.error(f"{name}: {word!r} is not a finite number")


def _copies(element: Element, so_far: int) -> int:
    """How many times the contents of an element are copied; an error where that is too many."""
    many = 1.0
    if element.tag in ("replicate", "composite", "flexcomp", "mesh"):
        for word in element.attributes.get("params" if element.tag == "mesh" else "count", "").split():
            with suppress(ValueError):  # MuJoCo reports that this is no number
                many *= max(1.0, abs(float(word)))
    if not math.isfinite(many) or many * so_far > MAX_COPIES:
        raise element.error(f"{many * so_far:g} copies are more than the {MAX_COPIES} that are made")
    return int(many) if element.tag == "replicate" else 1
