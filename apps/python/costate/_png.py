"""Images of PNG files as arrays: 8 bits per channel, with or without transparency, not interlaced, which is what
Chromium writes (W3C, "Portable Network Graphics", sections 5 and 9)."""
from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy
import numpy.typing

Image = numpy.typing.NDArray[numpy.uint8]  # (height, width, 3)

_CHANNELS = {2: 3, 6: 4}  # of the colour types RGB, RGBA


def read_png(path: Path) -> Image:
    data, at, packed, header = path.read_bytes(), 8, b"", b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + size]
        header = chunk if kind == b"IHDR" else header
        packed += chunk if kind == b"IDAT" else b""
        at += size + 12
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if depth != 8 or colours not in _CHANNELS or interlaced:
        raise ValueError(f"{path}: is not a PNG file of 8 bits per channel")
    n = _CHANNELS[colours]
    rows = numpy.frombuffer(zlib.decompress(packed), numpy.uint8).reshape(height, 1 + width * n)
    image = numpy.zeros((height, width, n), numpy.uint8)
    above = numpy.zeros((width, n), numpy.uint8)
    for y in range(height):
        above = _unfiltered(int(rows[y, 0]), rows[y, 1:].reshape(width, n), above)
        image[y] = above
    return numpy.ascontiguousarray(image[:, :, :3])


def _unfiltered(kind: int, row: Image, above: Image) -> Image:
    """A row (width, channels) whose filter, applied to the pixel to the left (a), above (b), and above the left (c), is
    undone."""
    if kind == 0:
        return row
    if kind == 1:
        left: Image = numpy.cumsum(row, 0, numpy.uint8)
        return left
    if kind == 2:
        return row + above
    n = row.shape[1]
    given, up = row.tobytes(), bytes(n) + above.tobytes()
    out = bytearray(n) + bytearray(len(given))
    for i, value in enumerate(given):
        a, b, c = out[i], up[n + i], up[i]
        if kind == 3:
            guess = (a + b) >> 1
        else:
            p = a + b - c
            to_a, to_b, to_c = abs(p - a), abs(p - b), abs(p - c)
            guess = a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c
        out[n + i] = (value + guess) & 255
    return numpy.frombuffer(bytes(out[n:]), numpy.uint8).reshape(row.shape)
