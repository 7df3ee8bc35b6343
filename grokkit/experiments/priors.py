"""Figures 6 and 7: other ways of telling attention something, and for how long."""

from grokkit.experiments.judges import no_sooner, sooner
from grokkit.experiments.row import Arms, Claim, Row, Size
from grokkit.experiments.settings import kl, quick
from grokkit.experiments.sources import prepare, source

SHORT = {"classroom": 200, "paper": 1000}
"""The epochs of a short early prior; a late one begins, an annealed one ends, at five times."""


def setup(size: Size) -> Arms:
    """One prior each, on the same baseline."""
    base, short = quick(size), SHORT[size]
    return {
        "baseline": base,
        "KL 1": kl(base),
        "entropy": base.with_(prior="entropy"),
        "sparsity": base.with_(prior="sparsity"),
        "teacher": base.with_(prior="teacher", teacher=source(size), kl_strength=1.0),
        "annealed KL": kl(base).with_(schedule="annealed", schedule_epochs=5 * short),
        "early KL": kl(base).with_(schedule="early", schedule_epochs=short),
        "late KL": kl(base).with_(schedule="late", schedule_epochs=5 * short),
    }


ROW = Row(
    name="priors",
    figure="Figures 6 and 7",
    question="Which knowledge of attention helps, and for how long must it be told?",
    setup=setup,
    prepare=prepare,
    claims=(
        Claim(
            "priors/directed",
            "Priors that say where to look beat weight decay alone.",
            "Figure 6",
            sooner("KL 1", "baseline", 0.8),
            sooner("teacher", "baseline", 0.8),
        ),
        Claim(
            "priors/undirected",
            "Priors that only ask for sharp attention (entropy, sparsity) beat weight decay alone.",
            "Figure 6",
            sooner("entropy", "baseline", 0.9),
            sooner("sparsity", "baseline", 0.9),
        ),
        Claim(
            "priors/direction-matters",
            "KL to the oracle beats the undirected ones.",
            "Figure 6",
            sooner("KL 1", "entropy", 0.9),
            sooner("KL 1", "sparsity", 0.9),
        ),
        Claim(
            "priors/teacher",
            "A trained teacher's attention is worth nearly as much as the oracle.",
            "Figure 6",
            sooner("teacher", "KL 1", 1.25),
        ),
        Claim(
            "priors/early-is-enough",
            "A short early KL does nearly as well as a constant one.",
            "Figure 7",
            sooner("early KL", "KL 1", 1.25),
            sooner("annealed KL", "KL 1", 1.25),
        ),
        Claim(
            "priors/late",
            "KL that starts late still beats weight decay alone.",
            "Figure 7",
            sooner("late KL", "baseline", 0.95),
        ),
        Claim(
            "priors/late-is-no-help",
            "KL that starts late is worth less than KL from the beginning.",
            "Figure 7",
            no_sooner("late KL", "KL 1", 1.0),
        ),
    ),
)
