"""A geometry with colours of its own as binary glTF 2.0: the only meshes of viser that have such colours and instances."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from ..scene import Geometry

FLOAT, UINT = 5126, 5125
ROUGH = 0.6


def glb(g: Geometry) -> bytes:
    """Matt, seen from both sides."""
    assert g.colours is not None
    srgb = np.clip(g.colours, 0.0, 1.0)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)  # as the format wants them
    arrays: dict[str, tuple[np.ndarray, int, str]] = {
        "POSITION": (np.ascontiguousarray(g.vertices, dtype="<f4"), FLOAT, "VEC3"),
        "NORMAL": (np.ascontiguousarray(g.normals, dtype="<f4"), FLOAT, "VEC3"),
        "COLOR_0": (np.ascontiguousarray(linear, dtype="<f4"), FLOAT, "VEC3"),
        "indices": (np.ascontiguousarray(g.faces, dtype="<u4").ravel(), UINT, "SCALAR"),
    }
    views, accessors, binary = list[dict[str, Any]](), list[dict[str, Any]](), b""
    for name, (array, kind, shape) in arrays.items():
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
        accessors.append({"bufferView": len(views) - 1, "componentType": kind, "count": len(array), "type": shape})
        if name == "POSITION":
            accessors[-1] |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        binary += array.tobytes()  # every array is a multiple of four bytes
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0, "mode": 4}]}
        ],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": ROUGH}, "doubleSided": True}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
