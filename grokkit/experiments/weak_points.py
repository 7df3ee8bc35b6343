"""Where arXiv 2605.15787 leaves something open, by the numbers that claims refer to."""

from collections.abc import Mapping
from types import MappingProxyType

WEAK_POINTS: Mapping[int, str] = MappingProxyType(
    {
        1: "that mass is necessary is proved for the sum of two sequences, and read for each",
        2: "that both conditions suffice is assumed; the range of the norm is cited, not derived",
        3: "the length of the wait is read from a bound that holds on the other side",
        4: "that the wait goes as 1/decay is said, and no decay but one is tried",
        5: "the threshold gamma and the factors that it is made of are never measured",
        6: "the rise of the train loss is shown nowhere, and the phases have no rule",
        7: "no plateau is said to be left, where the figure shows a floor",
        8: "the exponential rate fails for the sparse oracle; starvation is linear in the loss",
        9: "the Bayesian ticket is told the oracle, and the lottery ticket is not",
        10: "a live gradient without meaning might do as well, for AdamW divides by its size",
        11: "no other way to grok sooner is compared with",
    }
)
"""Number -> what is open, in one clause; lessons 03 to 07 take them up."""
