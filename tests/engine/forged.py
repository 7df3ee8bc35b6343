"""Files that say something wrong, with a checksum that fits: as a bug would write them."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from grokkit.engine.tensor_file import checksum


def forge(path: Path, key: str, header: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Write a file of ours anew with another header or other tensors."""
    plain = {name: value for name, value in header.items() if name != "checksum"}
    whole = plain | {"checksum": checksum(plain, tensors)}
    save_file(tensors, path, metadata={key: json.dumps(whole)})
