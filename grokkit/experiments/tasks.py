"""Figure 10: other tasks than addition."""

from grokkit.engine import RunSpec
from grokkit.experiments.claims import Claim
from grokkit.experiments.judges import groks, memorised_first, memorises, never_groks, sooner
from grokkit.experiments.row import Arms, Row, Size
from grokkit.experiments.settings import kl, recorded_base
from grokkit.experiments.starvation_bound import holds_everywhere
from grokkit.tasks import (
    KOperandAddition,
    ModularAddition,
    ModularMultiplication,
    PermutationComposition,
    SparseParity,
)

NAMES = ("addition", "multiplication", "3 operands", "parity", "S_4")


def setup(size: Size) -> Arms:
    """Each task without a prior and with KL 1; permutations need two heads.

    One head that looks at both factors equally pools their values symmetrically, and ab is
    not ba: so S_4 has two heads, and its prior speaks of their summed mass. At classroom
    size with the live preset's learning rate.
    """
    if size == "paper":
        base, p, fraction = recorded_base("paper"), 113, 0.3
        operands = KOperandAddition(p=31)
    else:
        base = recorded_base("live").with_(epochs=4000, stop_after=500)
        p, fraction, operands = 43, 0.5, KOperandAddition(p=13, train_fraction=0.3)
    tasks = {
        "addition": ModularAddition(p=p, train_fraction=fraction),
        "multiplication": ModularMultiplication(p=p, train_fraction=fraction),
        "3 operands": operands,
        "parity": SparseParity(bits=20, k=3),
    }
    arms: dict[str, RunSpec] = {}
    for name, task in tasks.items():
        arms[name] = base.with_(task=task)
        arms[f"{name}, KL 1"] = kl(arms[name])
    s4 = PermutationComposition(n=4, train_fraction=0.8)
    arms["S_4"] = base.with_(task=s4, heads=2)
    arms["S_4, KL 1"] = kl(arms["S_4"]).with_(head_reduction="summed")
    return arms


ROW = Row(
    name="tasks",
    figure="Figure 10",
    question="Is it only addition?",
    setup=setup,
    claims=(
        Claim(
            "tasks/starvation",
            "The starvation bound holds on every task.",
            "Figure 10",
            *(holds_everywhere(name) for name in NAMES),
        ),
        Claim(
            "tasks/kl-modular",
            "KL shortens the wait for addition and multiplication.",
            "Figure 10",
            sooner("addition, KL 1", "addition", 0.8),
            sooner("multiplication, KL 1", "multiplication", 0.8),
        ),
        Claim(
            "tasks/kl-operands",
            "KL shortens the wait for a sum of three.",
            "Figure 10",
            sooner("3 operands, KL 1", "3 operands", 0.8),
        ),
        Claim(
            "tasks/kl-parity",
            "KL shortens the wait for sparse parity.",
            "Figure 10",
            sooner("parity, KL 1", "parity", 0.5),
        ),
        Claim(
            "tasks/parity-memorises",
            "Sparse parity is memorised before it is understood.",
            "Figure 10, taken as grokking",
            memorised_first("parity"),
        ),
        Claim(
            "tasks/permutations",
            "Composition of permutations is memorised, and only the prior leads on from there.",
            "Figure 10",
            memorises("S_4"),
            never_groks("S_4", accuracy=0.95),
            groks("S_4, KL 1"),
        ),
    ),
)
