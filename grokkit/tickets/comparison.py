"""The race of the tickets, so that it can be won for one reason only.

The paper's Bayesian ticket is given the oracle and its lottery ticket is not (Figure 4), so
what is measured is not whether pruning or routing matters, but what the oracle is worth.
There are two ways of making that fair, and both are here: the lottery ticket gets the
oracle too, or the Bayesian ticket gets, instead of the oracle, the attention of the very
network that the lottery ticket was pruned from. What a mask is worth apart from being
sparse is shown by a random one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grokkit.engine import KLPrior, RunSpec, WeightsError, load_weights
from grokkit.engine.ticket import Ticket, save_ticket
from grokkit.errors import check_number, refuse
from grokkit.runtime import specs_of
from grokkit.tickets.pruning import Pruning, prune, shuffled

if TYPE_CHECKING:
    import xarray as xr

ARMS: Mapping[str, str] = {
    "dense": "no mask, no prior",
    "random": "a random mask as sparse as the lottery ticket's in every matrix",
    "lottery": "the lottery ticket's mask",
    "lottery_oracle": "the lottery ticket's mask, and KL to the oracle",
    "bayesian": "no mask, and KL to the oracle",
    "bayesian_teacher": "no mask, and KL to the attention of the lottery ticket's network",
}
"""What runs against what."""


def bayesian(spec: RunSpec, kl_strength: float = 1.0) -> RunSpec:
    """The Bayesian ticket: fresh weights, none pruned, and constant KL to the oracle.

    Args:
        spec: the rest of the settings.
        kl_strength: beta. The paper's is lost; 1 is ours.
    """
    return spec.with_(ticket=None, prior=KLPrior(), kl_strength=kl_strength)


@dataclass(frozen=True)
class Matched:
    """Arms that differ in their ticket and prior and in nothing else.

    Attributes:
        arms: the runs of each arm of :data:`ARMS`, one for each seed.
        ticket: the lottery ticket.
    """

    arms: Mapping[str, tuple[RunSpec, ...]]
    ticket: Ticket

    @property
    def specs(self) -> list[RunSpec]:
        """All runs, arm after arm, for ``grokkit.train``."""
        return [spec for specs in self.arms.values() for spec in specs]

    def label(self, history: "xr.Dataset") -> "xr.Dataset":
        """The History with a coordinate ``arm`` that says which arm each run belongs to.

        Args:
            history: runs of these arms, all or some, in any order.
        """
        arm_of = {spec: arm for arm, specs in self.arms.items() for spec in specs}
        labels = [arm_of.get(spec, "") for spec in specs_of(history)]
        if "" in labels:
            allowed = f"runs of the arms {', '.join(self.arms)}"
            refuse("history", f"run {labels.index('')}, of no arm", allowed)
        return history.assign_coords(arm=("run", _objects(labels)))


def matched(
    source: str | Path,
    seeds: Sequence[int],
    folder: str | Path,
    how: Pruning | None = None,
    *,
    kl_strength: float = 1.0,
    spec: RunSpec | None = None,
) -> Matched:
    """All arms on the same fresh seeds: same data, same initial weights, same optimizer.

    The random mask is another one for each seed. With ``Pruning(start="rewound")`` the arms
    under a mask begin with the source's initial weights, and the others with their own.

    Args:
        source: the weights file of a trained network, as :func:`grokkit.tickets.draw`
            writes it: the lottery ticket is pruned from it, and it is the teacher.
        seeds: the seeds of each arm; without that of the source, which has been trained.
        folder: where the tickets are written, each under a name made from its content.
        how: how the lottery ticket is made; by default as ``Pruning()`` says.
        kl_strength: beta of all arms with a prior.
        spec: the settings of all arms; None: those of the source. Prior and ticket are
            each arm's own.

    Raises:
        OSError: a ticket cannot be written.
    """
    check_number("kl_strength", kl_strength, strict=True)
    try:
        trained, weights = load_weights(source)
    except (OSError, WeightsError) as problem:
        refuse("source", str(source), f"a weights file ({problem})")
    seeds = list(seeds)
    if not seeds or len(set(seeds)) < len(seeds) or trained.seed in seeds:
        refuse(
            "seeds", seeds, f"different seeds, at least one, without the source's {trained.seed}"
        )
    lottery = prune(trained, weights, how)
    dense = (spec or trained).with_(ticket=None, prior=KLPrior())
    oracle = {"prior": "kl", "kl_strength": kl_strength}
    teacher = {"prior": "teacher", "teacher": str(source), "kl_strength": kl_strength}
    winning = {"ticket": _keep(lottery, folder, "lottery")}
    masks = {seed: _keep(shuffled(lottery, seed), folder, "random") for seed in seeds}

    def arm(changes: Mapping[str, object]) -> tuple[RunSpec, ...]:
        return tuple(dense.with_(**changes, seed=seed) for seed in seeds)

    arms = {
        "dense": arm({}),
        "random": tuple(one.with_(ticket=masks[one.seed]) for one in arm({})),
        "lottery": arm(winning),
        "lottery_oracle": arm(winning | oracle),
        "bayesian": tuple(bayesian(one, kl_strength) for one in arm({})),
        "bayesian_teacher": arm(teacher),
    }
    return Matched(arms, lottery)


def _keep(ticket: Ticket, folder: str | Path, name: str) -> str:
    """Write a ticket under a name that says what is in it; returns that name."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return str(save_ticket(ticket, folder / f"{name}-{ticket.digest}.safetensors"))


def _objects(labels: Sequence[str]) -> object:
    import numpy as np

    # Objects, as netCDF gives them back.
    return np.array(labels, dtype=object)
