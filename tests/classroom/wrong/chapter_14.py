"""Wrong answers to the exercises on chapter 14."""

import numpy as np

from tests.classroom.variant import Variant

BELL = np.random.default_rng(0).normal(size=1000)

VARIANTS = {
    "ex_14_3": [
        Variant("10 to 10,000 numbers", [1.0, -1.0]),
        Variant("10 to 10,000 numbers", np.ones((4, 5))),
        Variant("not finite", [np.nan] * 10),
        Variant("mean of x^1 is to be 0", np.ones(10)),
        Variant("mean of x^2 is to be 1", np.tile([0.8, -0.8], 10)),
        Variant("mean of x^3 is to be 0", np.repeat([2.0, -0.5], [20, 80])),
        Variant("mean of x^4 is to be 3", np.tile([1.0, -1.0], 10)),
        Variant(
            "between -0.75 and 0.75",
            np.repeat([0.0, 3**0.5, -(3**0.5)], [400, 100, 100]),
        ),
    ],
}
