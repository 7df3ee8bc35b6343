"""The runs of a row that are there, arm by arm: what its figure is drawn from."""

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

    def about(self) -> str:
        """How many seeds an arm has, such as ``"3 to 5 seeds an arm"``, and which are missing."""
        counts = [len(specs) for specs in self.arms.values()]
        low, high = min(counts), max(counts)
        words = f"{low} to {high} seeds" if low < high else f"{high} seed{'s' * (high != 1)}"
        if not self.missing:
            return f"{words} an arm"
        many = len(self.missing) > NAMED
        named = f"{len(self.missing)} arms" if many else "; ".join(self.missing)
        return f"{words} an arm; not run: {named}"
