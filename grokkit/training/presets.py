"""Settings with a name: where to begin."""

from collections.abc import Mapping
from types import MappingProxyType

from grokkit.training.spec import RunSpec

# The default distractors: symbols of an alphabet of 4.
_SMALL = RunSpec().with_(p=43, train_fraction=0.5, distractors="alphabet")

presets: Mapping[str, RunSpec] = MappingProxyType(
    {
        # Groks in seconds on one core: to be watched.
        "live": _SMALL.with_(learning_rate=5e-3, epochs=3000),
        # The same at the default learning rate, about five times slower: to be measured.
        "classroom": _SMALL.with_(learning_rate=1e-3, epochs=16_000, stop_after=500),
        # Table G.2 of arXiv 2605.15787, as far as it goes.
        "paper": RunSpec(),
    }
)
"""The presets by name: ``live``, ``classroom`` and ``paper``."""
