"""Files that are there as a whole or not at all."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Union

from .errors import BadFile


def write_whole(path: Union[str, "os.PathLike[str]"], text: str) -> None:
    """Writes a file under another name in its folder, then renames it. Raises BadFile if that fails."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise BadFile(f"{target}: cannot be written: {error.strerror}; choose a folder that exists and may be "
                      "written") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # mkstemp lets only the owner read
        os.replace(name, target)
    except OSError as error:
        os.unlink(name)
        raise BadFile(f"{target}: cannot be written: {error.strerror}") from None
