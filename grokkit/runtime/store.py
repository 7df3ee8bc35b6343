"""A folder of finished runs, each under the key of its spec."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grokkit.engine.spec_kinds import Spec
from grokkit.runtime.history import any_specs_of, complete, load_history, save_or_rescue, split
from grokkit.runtime.keys import spec_key
from grokkit.runtime.terminal import report

if TYPE_CHECKING:
    import xarray as xr


class RunStore:
    """Finished runs of any kind on the disk: ask by spec, get the History.

    Each run is a file ``KEY.nc`` of its own, whichever group it was trained in, and is
    written whole or not at all. So experiments that share runs can share a folder, and
    several processes can fill it at once.

    Args:
        folder: where the runs are; made with the first one that is put there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, spec: Spec) -> Path:
        """The file of a run, whether it is there or not."""
        return self.folder / f"{spec_key(spec)}.nc"

    def __contains__(self, spec: object) -> bool:
        return isinstance(spec, Spec) and self.get(spec) is not None

    def get(self, spec: Spec) -> "xr.Dataset | None":
        """The History of one run; None if it is not here.

        A file that cannot be read, or holds another run, is moved aside, never deleted:
        its name gets ``.damaged`` at the end, and a line says so.
        """
        path = self.path(spec)
        try:
            history = load_history(path)
            if any_specs_of(history) == [spec]:
                return history
            problem = f"{path}: holds another run than its name says"
        except FileNotFoundError:
            return None
        except ValueError as error:
            problem = " ".join(str(error).split())
        aside = _free_name(path)
        os.replace(path, aside)
        report(f"{problem}; moved aside to {aside.name}")
        return None

    def put(self, history: "xr.Dataset") -> int:
        """Store the runs of a History that have come to their end; returns how many.

        Raises:
            OSError: a file cannot be written; the message says where the run is instead.
                What is stored already is intact.
        """
        stored = 0
        for one, ended in zip(split(history), complete(history), strict=True):
            if ended:
                # Of a run that has ended it does not matter that others were interrupted.
                self.folder.mkdir(parents=True, exist_ok=True)
                one.attrs.pop("interrupted", None)
                save_or_rescue(one, self.path(any_specs_of(one)[0]))
                stored += 1
        return stored


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged{number if number > 1 else ''}")).exists():
        number += 1
    return aside
