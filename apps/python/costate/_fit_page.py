"""x"""
from __future__ import annotations
from typing import Any
def write_page(path: Any, result: Any, held_out: Any, title: str) -> None:
    pass
