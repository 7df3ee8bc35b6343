"""Figure 10 and appendix G: other tasks than addition, and next-token prediction.

In the latter only the last query has informative positions.
"""

from grokkit.engine import RunSpec
from grokkit.experiments.judges import groks, memorised_first, memorises, never_groks, sooner
from grokkit.experiments.row import Arms, Claim, Row, Size
from grokkit.experiments.settings import kl, recorded_base
from grokkit.experiments.starvation_bound import holds_everywhere
from grokkit.tasks import (
    AutoregressiveParity,
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
            holds_everywhere(*NAMES),
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


def next_token(size: Size) -> Arms:
    """Sparse parity as next-token prediction in batches of 512, without a prior and with KL 1.

    The answer has one part in bits + 1 of the loss, so a decay of 1 would win over it: 0.1.
    """
    if size == "paper":
        base = recorded_base("paper").with_(
            task=AutoregressiveParity(), batch_size=512, epochs=1000
        )
    else:
        base = recorded_base("live").with_(
            task=AutoregressiveParity(bits=10, k=3, examples=600),
            batch_size=512,
            learning_rate=2e-3,
            weight_decay=0.1,
            epochs=300,
            record_every=2,
            stop_after=20,
        )
    return {"next token": base, "next token, KL 1": kl(base)}


NEXT_TOKEN = Row(
    name="autoregressive",
    figure="Appendix G",
    question="Does the account carry over to next-token prediction?",
    setup=next_token,
    claims=(
        Claim(
            "autoregressive/faster",
            "The prior shortens the way to the answer.",
            "Appendix G",
            sooner("next token, KL 1", "next token", 0.5),
        ),
        Claim(
            "autoregressive/groks",
            "The answer is found with the prior and without.",
            "Appendix G",
            groks("next token, KL 1", "next token", accuracy=0.95),
        ),
        Claim(
            "autoregressive/memorises-first",
            "The answers of the train strings are memorised before the rule is found.",
            "Appendix G, taken as grokking",
            memorised_first("next token"),
        ),
        Claim(
            "autoregressive/starvation",
            "The starvation bound holds for the query that answers.",
            "Lemma 5.1, per query",
            holds_everywhere("next token", "next token, KL 1"),
        ),
    ),
)
