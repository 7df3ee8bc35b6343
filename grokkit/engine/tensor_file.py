"""Tensors with a JSON header in one safetensors file: checkpoints, weights, tickets.

One file, so header and tensors cannot come apart; written whole or not at all; and, unlike
a pickle, it can run nothing when it is opened.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from grokkit.engine.files import locate, write_whole


@dataclass(frozen=True)
class TensorFile:
    """One kind of file.

    Attributes:
        what: what it holds, for messages: ``"checkpoint"``.
        key: the name of the header in the file.
        version: the format that is written, and the newest that is read.
        error: what is raised for a file that cannot be used.
    """

    what: str
    key: str
    version: int
    error: type[ValueError]

    def write(self, path: str | Path, facts: Mapping[str, Any], tensors: dict[str, Tensor]) -> Path:
        """Write a file whole.

        Raises:
            OSError: it cannot be written; an older one there is intact.
        """
        from grokkit import __version__

        header = {"format": self.version, "grokkit": __version__, **facts}
        header["checksum"] = checksum(header, tensors)
        return write_whole(locate(path), save(tensors, metadata={self.key: json.dumps(header)}))

    def read(self, path: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The header and the tensors of a file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: of the kind ``error``: the file is damaged, holds something else, or
                was made by a newer grokkit; the message is one line.
        """
        path = locate(path)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such file")
        try:
            with safe_open(path, framework="pt") as file:
                header = dict(json.loads((file.metadata() or {})[self.key]))
                version = int(header["format"])
                # Clones: what is read here must not hang on to the file.
                names = file.keys()
                tensors = {name: file.get_tensor(name).clone() for name in names}
        except (SafetensorError, OSError, LookupError, TypeError, ValueError) as problem:
            reason = f"truncated, damaged, or no {self.what} of grokkit"
            raise self.error(f"{path}: {reason} ({type(problem).__name__})") from problem
        if version > self.version:
            newer = f"{self.what} format {version}; this grokkit reads up to {self.version}"
            raise self.error(f"{path}: {newer}")
        if header.pop("checksum", None) != checksum(header, tensors):
            raise self.error(f"{path}: damaged: its checksum does not fit what it holds")
        return header, tensors


def checksum(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> int:
    """CRC-32 over a header, as JSON, and over names and bytes of tensors."""
    total = zlib.crc32(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(tensors[name].flatten().view(torch.uint8).numpy().data, total)
    return total
