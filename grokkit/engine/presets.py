"""Settings with a name: where to begin."""

import math
from collections.abc import Mapping

from grokkit.engine.spec import RunSpec
from grokkit.registry import Named

# The default distractors: symbols of an alphabet of 4.
_SMALL = RunSpec().with_(p=43, train_fraction=0.5, distractors="alphabet")

# The block of both other accounts: the usual one, with heads, a residual stream and W_O.
_BLOCK = RunSpec().with_(
    length=3, d_model=128, heads=4, d_mlp=512, readout="residual", output_projection=True
)

presets: Mapping[str, RunSpec] = Named(
    "preset",
    {
        # Groks in seconds on one core: to be watched.
        "live": _SMALL.with_(learning_rate=5e-3, epochs=3000),
        # The same at the default learning rate, about five times slower: to be measured.
        "classroom": _SMALL.with_(learning_rate=1e-3, epochs=16_000, stop_after=500),
        # Table G.2 of arXiv 2605.15787, as far as it goes.
        "paper": RunSpec(),
        # arXiv 2602.06702: [a, b, =], and a norm where one likes: with_(norm="M+A*"). Neither
        # warm-up nor clipping is told of.
        "inductive-bias": _BLOCK.with_(
            p=113, init="lecun", norm_eps=0.0, beta2=0.98, warmup=0, clip=math.inf
        ),
        # arXiv 2504.03162: [a, b, =] in a causal model, 10 steps of warm-up.
        "uniformity": _BLOCK.with_(
            p=97, causal=True, beta2=0.98, warmup=10, clip=math.inf, epochs=30_000
        ),
    },
)
"""The presets by name: ``live``, ``classroom``, ``paper``, ``inductive-bias``, ``uniformity``."""
