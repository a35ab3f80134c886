"""Files that are there as a whole or not at all."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import List, Mapping, Tuple

from .errors import BadFile


def write_whole(texts: Mapping[Path, str]) -> None:
    """Writes files under other names in their folders, then renames them when all are complete. Raises BadFile if
    one cannot be written: then none is."""
    written: List[Tuple[str, Path]] = []
    try:
        for target, text in texts.items():
            try:
                handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
                written.append((name, target))
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                if target.is_dir():
                    raise IsADirectoryError(0, "there is a folder of this name")
            except OSError as error:
                raise BadFile(f"{target}: cannot be written: {error.strerror}; choose a folder that exists and may be "
                              "written") from None
        mask = os.umask(0)
        os.umask(mask)
        for name, target in written:
            os.chmod(name, 0o666 & ~mask)  # mkstemp lets only the owner read
            os.replace(name, target)
    finally:
        for name, _ in written:
            if os.path.exists(name):
                os.unlink(name)
