"""The runs of a row that are there, arm by arm: what its figure is drawn from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grokkit.engine import Spec
from grokkit.errors import refuse
from grokkit.experiments import Evidence, Row, Size
from grokkit.runtime import any_specs_of

if TYPE_CHECKING:
    import xarray as xr

NAMED = 3
"""How many missing arms a figure names before it only counts them."""


class Present(Evidence):
    """The evidence of a row without what is missing: a claim needs all, a figure does not.

    Attributes:
        arms: of every arm that has a run, the specs of the runs that are there.
        missing: the arms of which there is none.

    Args:
        row: the experiment.
        history: its runs, labelled or not.
        size: of which size they are.

    Raises:
        SettingError: there are no runs of this row.
    """

    def __init__(self, row: Row, history: "xr.Dataset | None", size: Size = "classroom") -> None:
        there: dict[Spec, None] = {}
        if history is not None:  # a run whose loss was never finite has nothing to draw
            drawn = history.train_loss.notnull().any("epoch").values
            specs = zip(any_specs_of(history), drawn, strict=True)
            there = dict.fromkeys(spec for spec, has_records in specs if has_records)
        every = row.arms(size, sorted({spec.seed for spec in there})) if there else {}
        arms = {
            name: kept
            for name, specs in every.items()
            if (kept := [spec for spec in specs if spec in there])
        }
        if not arms:
            given = "no History" if history is None else f"{len(there)} other runs"
            refuse("history", given, f"runs of {row.name} at size {size}")
        super().__init__(history, arms)
        self.missing = tuple(name for name in every if name not in arms)

    def about(self, names: Iterable[str] | None = None) -> str:
        """How many seeds these arms have, all by default, and which arms are missing."""
        words = f"{self.seed_count(self.arms if names is None else names)} an arm"
        if not self.missing:
            return words
        many = len(self.missing) > NAMED
        return f"{words}; not run: " + (
            f"{len(self.missing)} arms" if many else "; ".join(self.missing)
        )

    def seed_count(self, names: Iterable[str]) -> str:
        """How many seeds these arms have: ``"5 seeds"``, ``"3 to 5 seeds"``."""
        counts = [len(self.arms[name]) for name in names if name in self.arms]
        low, high = min(counts, default=0), max(counts, default=0)
        if low < high:
            return f"{low} to {high} seeds"
        return "1 seed" if high == 1 else f"{high} seeds"
