"""Appendix G: next-token prediction, where only the last query has informative positions."""

from grokkit.experiments.claims import Claim
from grokkit.experiments.judges import groks, memorised_first, sooner
from grokkit.experiments.row import Arms, Row, Size
from grokkit.experiments.settings import kl, recorded_base
from grokkit.experiments.starvation_bound import holds_everywhere
from grokkit.tasks import AutoregressiveParity


def setup(size: Size) -> Arms:
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


ROW = Row(
    name="autoregressive",
    figure="Appendix G",
    question="Does the account carry over to next-token prediction?",
    setup=setup,
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
            holds_everywhere("next token"),
            holds_everywhere("next token, KL 1"),
        ),
    ),
)
