"""Settings with a name: where to begin."""

from collections.abc import Mapping
from types import MappingProxyType

from grokkit.training.spec import FAMILIES, RunSpec

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


def for_kinds(base: RunSpec, kinds: Mapping[str, str]) -> RunSpec:
    """A spec with other kinds of task, optimizer or prior, and otherwise like another spec.

    What ``base`` changes from the defaults of its own kinds is changed in every kind that
    has such a setting: the live preset means p = 43 for a multiplication, too.

    Args:
        base: the spec that is followed.
        kinds: names of kinds by family: ``{"task": "sparse_parity"}``; base's where not named.

    Raises:
        SettingError: there is no such family or kind, or a value makes no sense there.
    """
    settings = base.settings()
    own = {family: settings[family] for family in FAMILIES}
    default = RunSpec().with_(**own).settings()
    spec = RunSpec().with_(**own | dict(kinds))
    changes = {
        name: value
        for name, value in settings.items()
        if name not in FAMILIES and value != default[name] and name in spec.settings()
    }
    return spec.with_(**changes)
