"""An MJCF file and all that it includes as one text in which every path has been checked.

MuJoCo's own reader opens any file that a model names. Therefore it gets a text that is written from the tree of our reader:
includes are expanded, other files are absolute paths inside the model's folder, parts without effect on the motion are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import FormatError
from ..model.import_report import ImportReport
from ..types import FilePath
from .paths import Folders
from .xml import MAX_DEPTH, MAX_ELEMENTS, Element, attribute, read_xml

SKIPPED = ("size", "visual", "statistic", "texture", "layer", "skin")
"""Memory sizes, appearance and textures: files can be huge or missing, and have no effect on the motion."""
MAX_COPIES = 20_000
MAX_ATTRIBUTES = 200
"""Of one element: MuJoCo's XML reader takes quadratic time."""
TETRAHEDRON = "0 0 0 1 0 0 0 1 0 0 0 1"
_LINE = re.compile(r"(?<![a-z])line (?:number=)?(\d+)", re.IGNORECASE)


@dataclass
class Source:
    """The text for MuJoCo, the origin of each of its lines, and the files it names that do not exist."""

    path: Path
    lines: list[str] = field(default_factory=list)
    origins: list[tuple[str, int]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """Name of a mesh or height field -> its file."""
    uris: dict[str, str] = field(default_factory=dict)
    """Name of a mesh -> the file as the model names it."""
    submodels: dict[str, bytes] = field(default_factory=dict)
    options: list[Element] = field(default_factory=list)
    """`<option>` as the file has it: the compiled model does not tell what was left out."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def error(self, message: str) -> FormatError:
        """MuJoCo's message with the file and line it refers to."""
        words = "; ".join(part.strip() for part in message.strip().splitlines() if part.strip())
        found = _LINE.search(words)
        file, line = str(self.path), 0
        if found and 0 < int(found[1]) <= len(self.origins):
            file, line = self.origins[int(found[1]) - 1]
            words = _LINE.sub(f"line {line}", words, count=1)
        return FormatError(f"{file}{f':{line}' if line else ''}: MuJoCo refuses this model: {words}")


def read_source(path: Path, package_paths: FilePath | Iterable[FilePath], report: ImportReport) -> Source:
    """Read a file with its includes; every path in it must stay inside its folder or a declared one."""
    return _Reader(Folders(path, package_paths), report).read(path)


class _Reader:
    def __init__(self, folders: Folders, report: ImportReport, submodels: dict[str, bytes] | None = None) -> None:
        self.folders, self.report = folders, report
        self.submodels = {} if submodels is None else submodels

    def read(self, path: Path) -> Source:
        root = read_xml(path)
        if root.tag != "mujoco":
            raise root.error(f"the root of an MJCF file is <mujoco>, not <{root.tag}>; a URDF is read by its suffix .urdf")
        self.source = Source(path, submodels=self.submodels)
        self.seen = {path.resolve()}
        self.count = 0
        self._include(root, self.folders.folder)
        self._folders_of_assets(root)
        self._write(root, 0, 1)
        return self.source

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
            if path is None:
                raise child.error(f"there is no file {child.string('file')!r} to include")
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
                self.report.ignored(element.tag, element.where, "appearance only")
            return
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
        self.source.origins.append((element.file, element.line))

    def _file(self, element: Element) -> None:
        name = element.string("file")
        if element.tag == "model":
            self._submodel(element, name)
            return
        if self.strip:
            name = re.split(r"[/\\]", name)[-1]
        path = self.folders.first(element, name, (self.folders.folder / self.meshdir,))
        if "name" not in element.attributes:
            element.attributes["name"] = Path(name).stem
        own = element.attributes["name"]
        if element.tag == "mesh":
            self.source.uris[own] = name
        if path is not None:
            element.attributes["file"] = str(path)
            return
        if element.tag not in ("mesh", "hfield"):
            raise element.error(f"there is no file {name!r}")
        self.source.missing[own] = name  # a placeholder takes its place; whether its mass matters is checked after parsing
        del element.attributes["file"]
        element.attributes.pop("content_type", None)
        element.attributes |= {"vertex": TETRAHEDRON} if element.tag == "mesh" else {"nrow": "2", "ncol": "2"}

    def _submodel(self, element: Element, name: str) -> None:
        """`<model file>` to be attached: read by the same rules and passed to MuJoCo under a name of its own."""
        path = self.folders.first(element, name, (self.folders.folder,))
        if path is None:
            raise element.error(f"there is no file {name!r}")
        if len(self.submodels) > 50:
            raise element.error("more than 50 models inside each other")
        given = f"submodel{len(self.submodels)}.xml"
        self.submodels[given] = b""
        inner = _Reader(Folders(path, self.folders.roots), self.report, self.submodels).read(path)
        if inner.missing:
            raise element.error(f"there is no file {next(iter(inner.missing.values()))!r}, named in {name!r}")
        self.submodels[given] = inner.text.encode()
        self.source.uris |= inner.uris
        element.attributes.setdefault("name", Path(name).stem)
        element.attributes["file"] = given
        element.attributes.pop("content_type", None)


def _copies(element: Element, so_far: int) -> int:
    """How many times the contents of an element are copied; an error where that is too many."""
    many = 1.0
    if element.tag in ("replicate", "composite", "flexcomp", "hfield", "mesh"):
        names = ("nrow", "ncol") if element.tag == "hfield" else ("params",) if element.tag == "mesh" else ("count",)
        for name in names:
            for word in element.attributes.get(name, "").split():
                try:
                    many *= max(1.0, abs(float(word)))
                except ValueError:
                    many *= 1.0  # MuJoCo reports that this is no number
    limit = 1000 * MAX_COPIES if element.tag == "hfield" else MAX_COPIES
    if not math.isfinite(many) or many * so_far > limit:
        raise element.error(f"{many * so_far:g} copies are more than the {limit} that are made")
    return int(many) if element.tag == "replicate" else 1
