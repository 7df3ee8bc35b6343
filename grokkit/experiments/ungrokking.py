"""Ungrokking: a network that has grokked, trained on with fewer pairs than it needs to grok.

The source has other tasks and a residual stream. Here one network, which grokked with 0.7 of all
pairs, is what every run begins with; the seeds choose which pairs it is trained on. AdamW begins
anew in each run, in the control, too. Every claim was written before its runs.
"""

from grokkit.engine import Trainer
from grokkit.engine.files import locate
from grokkit.engine.ticket import Ticket, save_ticket
from grokkit.experiments.estimates import Measured
from grokkit.experiments.field import FRESH, KEPT, base
from grokkit.experiments.quantities import Quantity, at_end, gap, lies
from grokkit.experiments.row import Arms, Claim, Row, Size
from grokkit.experiments.sources import SEED, ticket

SAME = "trained on, 0.7"
LESS = "trained on, 0.3"
LEAST = "trained on, 0.15"
STILL = "trained on, 0.3, decay 0"
NEW = "pairs 0.3"


def setup(size: Size) -> Arms:
    """The grokked network with as many pairs as before, with fewer, without decay; a new one."""
    plain = base(size)
    grokked = plain.with_(ticket=ticket(size, "grokked"), stop_after=None)
    less = grokked.with_(train_fraction=0.3)
    return {
        SAME: grokked,
        LESS: less,
        LEAST: grokked.with_(train_fraction=0.15),
        STILL: less.with_(weight_decay=0.0),
        NEW: plain.with_(train_fraction=0.3),
    }


def prepare(size: Size) -> None:
    """Train the network that the runs begin with, where its file is missing.

    The file is a ticket that keeps every weight and begins with the trained ones.

    Raises:
        OSError: the file cannot be written.
    """
    path = locate(ticket(size, "grokked"))
    if path.exists():
        return
    spec = base(size).with_(seed=SEED)
    trainer = Trainer([spec])
    trainer.advance()
    weights = {name: value[0].detach().clone() for name, value in trainer.weights.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_ticket(Ticket({}, weights, {"spec": spec.to_dict()}), path)


def at_start(arm: str, variable: str) -> Quantity:
    """The first record of a variable."""
    return lambda evidence: Measured.of(evidence.each(arm, lambda one: one[variable][0]))


ROW = Row(
    name="ungrokking",
    figure="arXiv 2309.02390: ungrokking",
    question="Does a network that has grokked forget the rule when it is trained on with fewer "
    "pairs?",
    setup=setup,
    prepare=prepare,
    seeds=FRESH,
    shares_recording_of=("data-size",),
    variables=(*KEPT, "mirrored_accuracy", "mlp_norm"),
    claims=(
        Claim(
            "ungrokking/forgets",
            "A network that has grokked forgets the rule when it is trained on with 0.3 of all "
            "pairs, fewer than it needs to grok: of the other pairs it answers at the end at most "
            "0.8, and where it is trained on with 0.7 of them at least 0.95.",
            "arXiv 2309.02390; our control: the optimizer begins anew in both",
            lies(
                at_start(LESS, "test_accuracy"),
                f"{LESS}: test accuracy before its first step at least 0.95",
                at_least=0.95,
            ),
            lies(
                at_end(LESS, "test_accuracy"),
                f"{LESS}: test accuracy at the end at most 0.8",
                at_most=0.8,
            ),
            lies(
                at_end(SAME, "test_accuracy"),
                f"{SAME}: test accuracy at the end at least 0.95",
                at_least=0.95,
            ),
        ),
        Claim(
            "ungrokking/needs-decay",
            "It is weight decay that makes it forget: trained on with 0.3 of all pairs and without "
            "weight decay, the network still answers at least 0.95 of the other pairs at the end.",
            "arXiv 2309.02390",
            lies(
                at_end(STILL, "test_accuracy"),
                f"{STILL}: test accuracy at the end at least 0.95",
                at_least=0.95,
            ),
        ),
        Claim(
            "ungrokking/the-fewer-the-more",
            "The fewer pairs, the more it forgets: with 0.15 of them it answers at the end at "
            "least 0.1 less of the others than with 0.3.",
            "arXiv 2309.02390",
            lies(
                gap(LESS, LEAST, "test_accuracy"),
                f"test accuracy at the end: {LESS} less {LEAST} at least 0.1",
                at_least=0.1,
                null=0.0,
            ),
        ),
        Claim(
            "ungrokking/same-end",
            "It ends where a new network with 0.3 of all pairs ends: at the end it answers at most "
            "0.1 more of the other pairs.",
            "arXiv 2309.02390",
            lies(
                gap(LESS, NEW, "test_accuracy"),
                f"test accuracy at the end: {LESS} less {NEW} at most 0.1",
                at_most=0.1,
            ),
        ),
    ),
)
